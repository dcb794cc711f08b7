#!/usr/bin/env python3
"""Print a list for `forerun prefetch`: the tensors of GGUF files, in the order of the files.

    cd /mnt/models/llm
    gguf_list.py model.gguf | forerun prefetch -
    gguf_list.py --only '^blk\\.[0-7]\\.' model.gguf | forerun prefetch -

It needs the package `gguf` from PyPI (pip install gguf), which reads the header.
"""

import argparse
import re
import sys

from gguf import GGUFReader


def parts(path, only):
    """The header's and the wanted tensors' bytes: pairs of offset and length."""
    tensors = GGUFReader(path).tensors
    places = sorted((int(tensor.data_offset), int(tensor.n_bytes), tensor.name) for tensor in tensors)
    if places and places[0][0] > 0:
        yield 0, places[0][0]
    for offset, length, name in places:
        if length > 0 and only.search(name):
            yield offset, length


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="only tensors whose name matches")
    parser.add_argument("file", nargs="+", help="GGUF files, in the order of reading")
    arguments = parser.parse_args()
    only = re.compile(arguments.only)
    for path in arguments.file:
        try:
            for offset, length in parts(path, only):
                print(path, offset, length, sep="\t")
        except (OSError, ValueError, KeyError, IndexError) as error:
            sys.exit(f"{path} is no GGUF file: {error!r}")


if __name__ == "__main__":
    main()
