"""Model weights: safetensors in two shards, and GGUF."""

from functools import partial

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file as load

from common import by_processes, main, program


def shards(place):
    return sorted((place / "weights").glob("*.safetensors"))


def whole(place):
    return [tensor for shard in shards(place) for _, tensor in sorted(load(shard).items())]


@program
def load_file(place, clock):
    with clock:
        return whole(place)


def loaded_by(count, place, clock):
    read = by_processes(count, clock, lambda _: whole(place))
    # All of them read the same bytes.
    return [str(read).encode()], read[0][1]


for count in (2, 4):
    work = partial(loaded_by, count)
    work.__name__ = f"load_file_{count}"
    program(work)


def parts(place, clock, choose, read):
    with clock:
        pieces = []
        for shard in shards(place):
            with safe_open(shard, framework="numpy") as file:
                pieces += [read(file, name) for name in choose(sorted(file.keys()))]
        return pieces


@program
def every_5th(place, clock):
    return parts(place, clock, lambda names: names[::5], lambda file, name: file.get_tensor(name))


@program
def row_slices(place, clock):
    def first_quarter(file, name):
        rows = file.get_slice(name)
        return rows[: rows.get_shape()[0] // 4]

    return parts(place, clock, lambda names: names, first_quarter)


@program
def gguf(place, clock):
    from gguf import GGUFReader

    with clock:
        return [np.array(tensor.data) for tensor in GGUFReader(place / "model.gguf").tensors]


main()
