"""A clock around the reading, workers that start together, and the figures that are printed."""

import importlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path

PROGRAMS = {}


class Unavailable(Exception):
    """The machine lacks something that the program needs."""


class Clock:
    """Measures the seconds of a `with` block, and the processor seconds spent in it."""

    def __init__(self):
        self.seconds = 0.0
        self.processor = 0.0

    def __enter__(self):
        self.started = (time.perf_counter(), processor_seconds())

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.started[0]
        self.processor += processor_seconds() - self.started[1]


def processor_seconds():
    """Of this process and of the commands that it has waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def program(work):
    """Registers `work(place, clock)`. It reads below `place` while the clock runs, and returns the
    pieces that it read, or a pair of them and of the bytes that it touched."""
    PROGRAMS[work.__name__.replace("_", "-")] = work
    return work


def package(name):
    """The package of a client. The machine may lack it, but a package that it needs itself must be there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as lack:
        client, *_ = name.split(".")
        if lack.name != client:
            raise
        raise Unavailable(f"{client} is not installed") from None


def checksum(pieces):
    """Of everything that was read, in order. It is computed after the clock has stopped."""
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    return crc


def size(pieces):
    return sum(memoryview(piece).nbytes for piece in pieces)


def by_processes(count, clock, work):
    """Runs `work(0)`, `work(1)` ... each in a process. They start together; the clock stops when
    the last one has read. Returns a checksum and the bytes read for each of them."""
    context = multiprocessing.get_context("fork")
    start, done = context.Barrier(count + 1), context.Barrier(count + 1)
    results = context.SimpleQueue()

    def run(index):
        try:
            own = Clock()
            start.wait()
            with own:
                pieces = work(index)
            done.wait()
            results.put((index, checksum(pieces), size(pieces), own.processor))
        except BaseException:
            traceback.print_exc()
            start.abort()
            done.abort()

    workers = [context.Process(target=run, args=(index,), daemon=True) for index in range(count)]
    for worker in workers:
        worker.start()
    with clock:
        start.wait()
        done.wait()
    found = sorted(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    clock.processor += sum(processor for *_, processor in found)
    return [(checksum, size) for _, checksum, size, _ in found]


def main():
    """`SCRIPT PROGRAM PLACE`, with the data set at PLACE, which is a directory or the URL of an endpoint.
    `$FORERUN_BENCH_DATA` is the local copy."""
    name, place = sys.argv[1:]
    clock = Clock()
    try:
        read = PROGRAMS[name](place if "://" in place else Path(place), clock)
    except Unavailable as lack:
        print(f"unavailable {lack}")
        return
    pieces, touched = read if isinstance(read, tuple) else (read, size(read))
    print(f"seconds {clock.seconds:.6f}")
    print(f"processor {clock.processor:.3f}")
    print(f"touched {touched}")
    print(f"checksum {checksum(pieces):08x}", flush=True)


def local_copy():
    return Path(os.environ["FORERUN_BENCH_DATA"])


def paths(directory):
    return sorted(path for path in directory.rglob("*") if path.is_file())


def contents(directory):
    return [path.read_bytes() for path in paths(directory)]


def scratch():
    """A directory in memory, so that writing costs little."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)


def run(*command, ok=(0,), stdout=subprocess.PIPE):
    done = subprocess.run(command, stdout=stdout)
    if done.returncode not in ok:
        sys.exit(f"{command[0]} failed with status {done.returncode}")
    return done.stdout


# The part of a Parquet file that its readers ask for.
COLUMNS = ["c03", "c08", "c14"]


def column_bytes(rows):
    return len(COLUMNS) * 8 * rows


def columns_of(table):
    """What a program read of an Arrow table, and the bytes that it touched."""
    return [column.combine_chunks().buffers()[1] for column in table.columns], column_bytes(len(table))


def totals(connection, file):
    """The same of a program that computes sums in SQL."""
    sums = ", ".join(f"sum({column}), max({column})" for column in COLUMNS)
    found = connection.sql(f"select {sums}, count(*) from '{file}'").fetchall()[0]
    return [str(found).encode()], column_bytes(found[-1])
