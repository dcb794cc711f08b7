"""numpy over one file of 1 GiB: mapped, and by pread."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from common import by_processes, main, program

FILE = "array.bin"
SLICE_BYTES = 4 << 20
PAGE_BYTES = 4096
TOUCHES = 2000
PLAYED = "played.bin"
PLAYED_PIECE_BYTES = 256 << 10
PLAYED_BYTES_PER_S = 40e6
PLAYER_LAG_S = 0.5


def mapped(place):
    return np.memmap(place / FILE, dtype=np.uint64, mode="r")


def parts(array):
    step = SLICE_BYTES // array.itemsize
    return [slice(at, at + step) for at in range(0, len(array), step)]


def shuffled(items):
    random.Random(7).shuffle(items)
    return items


@program
def memmap(place, clock):
    with clock:
        return [np.array(mapped(place))]


@program
def memmap_backward(place, clock):
    with clock:
        return [np.array(mapped(place)[::-1])]


def quarter(array, index):
    step = len(array) // 4
    return np.array(array[index * step : (index + 1) * step])


@program
def quarters_threads(place, clock):
    with clock, ThreadPoolExecutor(4) as threads:
        array = mapped(place)
        return list(threads.map(lambda index: quarter(array, index), range(4)))


@program
def quarters_processes(place, clock):
    read = by_processes(4, clock, lambda index: [quarter(mapped(place), index)])
    return [str(read).encode()], sum(size for _, size in read)


def copies(place, clock, order):
    # All copies are kept, so that no check happens while the mount could read ahead.
    with clock:
        array = mapped(place)
        return [np.array(array[part]) for part in order(parts(array))]


@program
def slices(place, clock):
    return copies(place, clock, list)


@program
def slices_random(place, clock):
    return copies(place, clock, shuffled)


def preads(place, clock, order):
    with clock:
        file = os.open(place / FILE, os.O_RDONLY)
        offsets = order(list(range(0, os.fstat(file).st_size, SLICE_BYTES)))
        return [os.pread(file, SLICE_BYTES, offset) for offset in offsets]


@program
def pread(place, clock):
    return preads(place, clock, list)


@program
def pread_random(place, clock):
    return preads(place, clock, shuffled)


@program
def touches(place, clock):
    with clock:
        array = mapped(place)
        step = PAGE_BYTES // array.itemsize
        pages = random.Random(7).sample(range(len(array) // step), TOUCHES)
        return [np.array([array[page * step] for page in pages])], TOUCHES * PAGE_BYTES


@program
def players(place, clock):
    def play(index):
        # A player consumes at its own rate, and the second begins behind the first.
        time.sleep(index * PLAYER_LAG_S)
        pieces = []
        with open(place / PLAYED, "rb", buffering=0) as file:
            while piece := file.read(PLAYED_PIECE_BYTES):
                pieces.append(piece)
                # It asks for more once this is played: the wait is the player's work.
                time.sleep(len(piece) / PLAYED_BYTES_PER_S)
        return pieces

    read = by_processes(2, clock, play)
    return [str(read).encode()], read[0][1]


main()
