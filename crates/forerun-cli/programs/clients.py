"""Clients of S3 that are libraries: boto3, pyarrow, DuckDB."""

import os
from pathlib import Path

from common import COLUMNS, by_processes, columns_of, main, package, program, totals
from endpoint import BUCKET, KEY, REGION, SECRET, environment, host, is_local

PROCESSES = 32


def fetcher(place):
    """A function that reads an object to its end by one request."""
    if is_local(place):
        return lambda key: (place / key).read_bytes()
    boto3 = package("boto3")
    os.environ.update(environment(place))
    s3 = boto3.client("s3")
    return lambda key: s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


@program
def get_object(place, clock):
    fetch = fetcher(place)
    with clock:
        return [fetch("array.bin")]


@program
def get_object_32(place, clock):
    # Each process connects at its first request.
    fetch = fetcher(place)
    read = by_processes(PROCESSES, clock, lambda _: [fetch("half.bin")])
    return [str(read).encode()], read[0][1]


@program
def arrow_parquet(place, clock):
    pq, fs = package("pyarrow.parquet"), package("pyarrow.fs")
    if is_local(place):
        files, path = fs.LocalFileSystem(), str(place / "table.parquet")
    else:
        files = fs.S3FileSystem(access_key=KEY, secret_key=SECRET, region=REGION, scheme="http",
                                endpoint_override=host(place))
        path = f"{BUCKET}/table.parquet"
    with clock:
        table = pq.read_table(path, columns=COLUMNS, filesystem=files)
    return columns_of(table)


def extension(name):
    """The file that the package of an extension of DuckDB has."""
    found = package(f"duckdb_extension_{name}")
    return str(next(Path(found.__path__[0]).rglob("*.duckdb_extension")))


@program
def duckdb_parquet(place, clock):
    connection = package("duckdb").connect()
    path = place / "table.parquet" if is_local(place) else f"s3://{BUCKET}/table.parquet"
    if not is_local(place):
        connection.load_extension(extension("httpfs"))
        connection.sql(f"create secret (type s3, key_id '{KEY}', secret '{SECRET}', region '{REGION}', "
                       f"endpoint '{host(place)}', url_style 'path', use_ssl false)")
    with clock:
        return totals(connection, path)


main()
