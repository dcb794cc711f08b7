#!/usr/bin/env python3
"""Print a list for `forerun prefetch`: the tensors of safetensors files, in the order of the files.

    cd /mnt/models/llm
    safetensors_list.py *.safetensors | forerun prefetch -
    safetensors_list.py --only '^model\\.layers\\.[0-7]\\.' *.safetensors | forerun prefetch -

A file begins with the length of its header, 8 bytes, little-endian. The header is JSON: for each tensor
the place of its bytes, counted from the header's end.
"""

import argparse
import json
import re
import sys

# As large as the safetensors library takes.
HEADER_BYTES_MAX = 100_000_000


def parts(path, only):
    """The header's and the wanted tensors' bytes: pairs of offset and length."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= HEADER_BYTES_MAX:
            raise ValueError(f"a header of {length} bytes")
        header = json.loads(file.read(length))
    begin = 8 + length
    yield 0, begin
    tensors = [
        tensor["data_offsets"]
        for name, tensor in header.items()
        if name != "__metadata__" and only.search(name)
    ]
    for start, end in sorted(tensors):
        if start < end:
            yield begin + start, end - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="only tensors whose name matches")
    parser.add_argument("file", nargs="+", help="safetensors files, in the order of reading")
    arguments = parser.parse_args()
    only = re.compile(arguments.only)
    for path in arguments.file:
        try:
            for offset, length in parts(path, only):
                print(path, offset, length, sep="\t")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            sys.exit(f"{path} is no safetensors file: {error!r}")


if __name__ == "__main__":
    main()
