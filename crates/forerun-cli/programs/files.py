"""Many files: tar, cp, grep, diff, a loader with workers, and a disk image."""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from common import Unavailable, by_processes, contents, local_copy, main, paths, program, run, scratch

WORKERS = 4


def size(directory):
    return sum(path.stat().st_size for path in paths(directory))


@program
def tar(place, clock):
    with scratch() as target:
        with clock:
            run("tar", "-xf", place / "archive.tar", "-C", target)
        return contents(Path(target)), (place / "archive.tar").stat().st_size


@program
def cp(place, clock):
    with scratch() as target:
        with clock:
            run("cp", "-r", place / "tree", target)
        return contents(Path(target))


@program
def grep(place, clock):
    with clock:
        found = run("grep", "-rc", "abcd", place / "tree")
    lines = sorted(found.decode().replace(str(place), "").splitlines())
    return [line.encode() for line in lines], size(local_copy() / "tree")


@program
def diff(place, clock):
    with scratch() as target:
        # A copy, since diff does not read a file that it compares with itself.
        run("cp", "-r", local_copy() / "tree", target)
        with clock:
            found = run("diff", "-r", Path(target) / "tree", place / "tree", ok=(0, 1))
    return [found], size(local_copy() / "tree")


@program
def loader(place, clock):
    names = [path.relative_to(local_copy()) for path in paths(local_copy() / "files")]
    random.Random(7).shuffle(names)

    def work(index):
        return [(place / name).read_bytes() for name in names[index::WORKERS]]

    read = by_processes(WORKERS, clock, work)
    return [str(read).encode()], sum(size for _, size in read)


@program
def erofs(place, clock):
    if os.geteuid() != 0:
        raise Unavailable("needs root")
    if "EROFS_UNSHARED" not in os.environ:
        # In a mount namespace of its own, nothing stays mounted when this process ends.
        sys.stdout.flush()
        os.environ["EROFS_UNSHARED"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    image = place / "image.erofs"
    if not image.exists():
        raise Unavailable("mkfs.erofs was missing")
    if not any(line.split()[-1] == "erofs" for line in open("/proc/filesystems")):
        raise Unavailable("the kernel has no EROFS")
    with tempfile.TemporaryDirectory() as target:
        if subprocess.run(["mount", "-t", "erofs", "-o", "loop,ro", image, target]).returncode:
            raise Unavailable("no loop device")
        try:
            with clock:
                return contents(Path(target))
        finally:
            subprocess.run(["umount", target], check=True)


main()
