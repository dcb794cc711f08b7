"""Clients that are commands: aws, rclone, nfs-cat."""

import os
import shutil
import sys
from pathlib import Path

from common import Unavailable, contents, main, program, run, scratch
from endpoint import BUCKET, environment, is_local

FILE = "array.bin"
TREE = "tree"


def installed(command, *question, path=None):
    """The command's file. It answers a question first, so that the clock does not run while it is loaded."""
    found = shutil.which(command, path=path)
    if not found:
        raise Unavailable(f"{command} is not installed")
    run(found, *question)
    return found


def aws():
    return installed("aws", "--version", path=os.path.dirname(sys.executable))


def copied(clock, *command):
    """What `command` copies into a directory, which is its last argument."""
    with scratch() as target:
        with clock:
            run(*command, target)
        return contents(Path(target))


@program
def aws_cp(place, clock):
    command = aws()
    if is_local(place):
        return copied(clock, "cp", place / FILE)
    os.environ.update(environment(place))
    return copied(clock, command, "s3", "cp", "--only-show-errors", f"s3://{BUCKET}/{FILE}")


@program
def aws_sync(place, clock):
    command = aws()
    if is_local(place):
        return copied(clock, "cp", "-r", place / TREE)
    os.environ.update(environment(place))
    return copied(clock, command, "s3", "sync", "--only-show-errors", f"s3://{BUCKET}/{TREE}")


@program
def rclone_copy(place, clock):
    command = installed("rclone", "--version")
    remote = f":s3,provider=Other,list_version=2,endpoint='{place}':{BUCKET}/{TREE}"
    source = place / TREE if is_local(place) else remote
    return copied(clock, command, "copy", "--config", "/dev/null", "--transfers", "4", source)


def written(clock, *command):
    """What `command` writes to its standard output, which is a file in memory as the copies of others are."""
    with scratch() as target:
        path = Path(target, "output")
        with path.open("wb") as output, clock:
            run(*command, stdout=output)
        return contents(Path(target))


@program
def nfs_cat(place, clock):
    # Without a file, it tells its usage.
    command = installed("nfs-cat")
    if is_local(place):
        return written(clock, "cat", place / FILE)
    server, export = os.environ["FORERUN_BENCH_NFS"].split("/", 1)
    address, port = server.rsplit(":", 1)
    # rclone does not answer the question for more exports, which nfs-cat would mount as well.
    options = f"version=3&nfsport={port}&mountport={port}&auto-traverse-mounts=0"
    return written(clock, command, f"nfs://{address}/{os.path.join(export, FILE)}?{options}")


main()
