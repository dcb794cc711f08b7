"""Parts of tables and archives: Parquet by pyarrow and DuckDB, zip, HDF5."""

import random
import zipfile

from common import COLUMNS, columns_of, main, program, totals

MEMBERS = 200
CHUNKS = 200
CHUNK_SIDE = 256


@program
def parquet(place, clock):
    import pyarrow.parquet as pq

    with clock:
        table = pq.read_table(place / "table.parquet", columns=COLUMNS)
    return columns_of(table)


@program
def duckdb(place, clock):
    import duckdb

    with clock:
        return totals(duckdb, place / "table.parquet")


@program
def zip_members(place, clock):
    with clock, zipfile.ZipFile(place / "archive.zip") as archive:
        names = random.Random(7).sample(archive.namelist(), MEMBERS)
        pieces = [archive.read(name) for name in names]
        # The list of members is at the end.
        listed = (place / "archive.zip").stat().st_size - archive.start_dir
    return pieces, sum(map(len, pieces)) + listed


@program
def h5_chunks(place, clock):
    import h5py

    with clock, h5py.File(place / "chunks.h5", "r") as file:
        data = file["data"]
        across = data.shape[1] // CHUNK_SIDE
        pieces = []
        for chunk in random.Random(7).sample(range(across * across), CHUNKS):
            row, column = (CHUNK_SIDE * index for index in divmod(chunk, across))
            pieces.append(data[row : row + CHUNK_SIDE, column : column + CHUNK_SIDE])
        return pieces


main()
