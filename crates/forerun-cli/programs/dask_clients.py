"""Dask on s3fs. Each of two workers is a process, which reads from the endpoint of its node."""

import os
import zlib
from contextlib import contextmanager

from common import local_copy, main, package, paths, processor_seconds, program
from endpoint import BUCKET, environment, is_local

WORKERS = 2
MEMORY = "768MiB"
FIGURES = ("checksum", "sum", "least", "greatest")


def load():
    """Loads the packages, which takes seconds and is no part of the reading."""
    import dask.dataframe
    import s3fs


def figures(part):
    """Figures of each column of a part of the table, which depend on every byte."""
    import pandas as pd

    def of(column):
        values = column.to_numpy()
        return [zlib.crc32(values), values.sum(), values.min(), values.max()]

    return pd.DataFrame({name: of(part[name]) for name in part.columns}, index=FIGURES)


@contextmanager
def workers(place):
    """A client of a cluster whose workers have the endpoints of `place`, one for each or one for all."""
    distributed = package("distributed")
    endpoints = [None] if is_local(place) else place.split(",")
    variables = [{} if endpoint is None else environment(endpoint) for endpoint in endpoints]
    # The client reads footers, too.
    os.environ.update(variables[0])
    each = {
        index: {
            "cls": distributed.Nanny,
            "options": {"nthreads": 1, "memory_limit": MEMORY, "env": variables[index % len(variables)]},
        }
        for index in range(WORKERS)
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"host": "127.0.0.1", "dashboard": False}}
    with distributed.SpecCluster(workers=each, scheduler=scheduler, silence_logs="ERROR") as cluster:
        with distributed.Client(cluster) as client:
            client.wait_for_workers(WORKERS)
            yield client


def file_figures(path):
    import pandas as pd

    return figures(pd.read_parquet(path))


def path_of(place, name):
    return str(place / name) if is_local(place) else f"s3://{BUCKET}/{name}"


def measured(place, clock, compute):
    """What `compute` finds by a client, as pieces, and the bytes of the table."""
    with workers(place) as client:
        load()
        client.run(load)
        before = client.run(processor_seconds)
        with clock:
            found = compute(client)
        after = client.run(processor_seconds)
    clock.processor += sum(after.values()) - sum(before.values())
    return [one.to_csv().encode() for one in found], sum(path.stat().st_size for path in paths(local_copy()))


@program
def dask_parquet(place, clock):
    def compute(client):
        frame = package("dask.dataframe").read_parquet(path_of(place, "*.parquet"))
        meta = {name: "int64" for name in frame.columns}
        return [client.compute(frame.map_partitions(figures, meta=meta)).result()]

    return measured(place, clock, compute)


@program
def dask_parquet_twice(place, clock):
    def compute(client):
        files = [path_of(place, path.name) for path in paths(local_copy())]
        # Tasks that are pure have the same name for both workers, and one of these would read for the other.
        each = [client.map(file_figures, files, workers=[worker], pure=False)
                for worker in client.scheduler_info()["workers"]]
        return [found for of_worker in client.gather(each) for found in of_worker]

    return measured(place, clock, compute)


if __name__ == "__main__":
    main()
