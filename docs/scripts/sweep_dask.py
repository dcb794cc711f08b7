#!/usr/bin/env python3
"""Run the shares of `forerun lab sweep` on a Dask cluster, then print the table.

    sweep_dask.py tcp://scheduler:8786 32 --traces /net/traces --device s3,nvme --into /net/sweep

The workers need the same program `forerun`, and the paths must be of folders that all machines share.
It needs the package `distributed` from PyPI (pip install distributed).
"""

import subprocess
import sys

from distributed import Client, as_completed


def sweep(arguments, shard):
    done = subprocess.run(["forerun", "lab", "sweep", *arguments, *shard], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stderr.splitlines()[-1]


address, count, *arguments = sys.argv[1:]
with Client(address) as client:
    shards = [("--shard", f"{number}/{count}") for number in range(1, int(count) + 1)]
    for done in as_completed([client.submit(sweep, arguments, shard, retries=2) for shard in shards]):
        print(done.result(), file=sys.stderr)
sys.exit(subprocess.run(["forerun", "lab", "sweep", *arguments]).returncode)
