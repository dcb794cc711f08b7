"""s3fs, and pyarrow above it."""

from common import COLUMNS, columns_of, main, package, program
from endpoint import BUCKET, KEY, REGION, SECRET, is_local

READ_BYTES = 4 << 20


def files(place):
    """The files at `place`, and the directory that has them."""
    s3fs = package("s3fs")
    if is_local(place):
        from fsspec.implementations.local import LocalFileSystem

        return LocalFileSystem(), place
    system = s3fs.S3FileSystem(key=KEY, secret=SECRET, endpoint_url=place, client_kwargs={"region_name": REGION})
    return system, BUCKET


@program
def s3fs_read(place, clock):
    system, directory = files(place)
    pieces = []
    with clock, system.open(f"{directory}/array.bin", "rb") as file:
        while piece := file.read(READ_BYTES):
            pieces.append(piece)
    return pieces


@program
def s3fs_parquet(place, clock):
    pq = package("pyarrow.parquet")
    system, directory = files(place)
    with clock:
        table = pq.read_table(f"{directory}/table.parquet", columns=COLUMNS, filesystem=system)
    return columns_of(table)


main()
