"""Parts of tables and archives: Parquet by pyarrow and DuckDB, zip, HDF5."""

import random
import zipfile

from common import main, program

COLUMNS = ["c03", "c08", "c14"]
MEMBERS = 200
CHUNKS = 200
CHUNK_SIDE = 256


def column_bytes(rows):
    return len(COLUMNS) * 8 * rows


@program
def parquet(place, clock):
    import pyarrow.parquet as pq

    with clock:
        table = pq.read_table(place / "table.parquet", columns=COLUMNS)
    return [column.combine_chunks().buffers()[1] for column in table.columns], column_bytes(len(table))


@program
def duckdb(place, clock):
    import duckdb

    sums = ", ".join(f"sum({column}), max({column})" for column in COLUMNS)
    with clock:
        found = duckdb.sql(f"select {sums}, count(*) from '{place}/table.parquet'").fetchall()[0]
    return [str(found).encode()], column_bytes(found[-1])


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
