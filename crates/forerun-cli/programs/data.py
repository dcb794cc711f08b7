"""Builds a data set: `data.py DIRECTORY SET`. The same bytes each time."""

import random
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gguf import GGUFWriter
from safetensors.numpy import save_file

MIB = 1 << 20
DIRECTORIES = 20
FILES = 2000

RANDOM = np.random.default_rng(25)
SIZES = random.Random(25)


def noise(size):
    return RANDOM.bytes(size)


def array(place):
    for name, mib in (("array.bin", 1024), ("played.bin", 256)):
        with open(place / name, "wb") as file:
            for _ in range(mib // 16):
                file.write(noise(16 * MIB))


def tensor(rows):
    return np.frombuffer(noise(rows * 2048), dtype=np.float16).reshape(rows, 1024)


def weights(place):
    # 1000 tensors of 1.07 MB are 1 GiB.
    (place / "weights").mkdir()
    for shard in range(2):
        names = [f"layers.{shard * 500 + index:03}.weight" for index in range(500)]
        save_file({name: tensor(524) for name in names},
                  place / f"weights/model-{shard + 1:05}-of-00002.safetensors")


def gguf(place):
    writer = GGUFWriter(place / "model.gguf", "llama")
    for index in range(500):
        writer.add_tensor(f"blk.{index}.weight", tensor(512))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def table(path, row_groups):
    # Row groups of 20 columns: chunks of 800 kB.
    schema = pa.schema([(f"c{column:02}", pa.int64()) for column in range(20)])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for _ in range(row_groups):
            columns = [pa.array(np.frombuffer(noise(800_000), dtype=np.int64)) for _ in schema]
            writer.write_table(pa.table(columns, schema=schema))


def parquet(place):
    table(place / "table.parquet", 24)


def frames(place):
    # 32 files of 64 MB.
    for index in range(32):
        table(place / f"part-{index:02}.parquet", 4)


def archive(place):
    with zipfile.ZipFile(place / "archive.zip", "w", zipfile.ZIP_STORED) as archive:
        for index in range(FILES):
            archive.writestr(f"{index % DIRECTORIES:02}/{index:04}.bin", noise(SIZES.randrange(100_000, 200_000)))


def chunks(place):
    # 1024 chunks of 256 KiB, 32 in each direction.
    with h5py.File(place / "chunks.h5", "w") as file:
        data = file.create_dataset("data", (8192, 8192), dtype=np.float32, chunks=(256, 256))
        for row in range(0, 8192, 256):
            data[row : row + 256] = np.frombuffer(noise(256 * 8192 * 4), dtype=np.float32).reshape(256, 8192)


def files(place):
    for index in range(FILES):
        directory = place / f"files/{index % DIRECTORIES:02}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{index:04}.bin").write_bytes(noise(150_000))


def tree(place):
    # Text, of 4 to 64 KiB, for grep and diff.
    for index in range(FILES):
        directory = place / f"tree/{index % DIRECTORIES:02}"
        directory.mkdir(parents=True, exist_ok=True)
        lines = -(-SIZES.randrange(4096, 65536) // 65)
        (directory / f"{index:04}.txt").write_text("".join(noise(32).hex() + "\n" for _ in range(lines)))


def tar(place):
    with tarfile.open(place / "archive.tar", "w") as archive:
        archive.add(place / "files", "files")


def half(place):
    # Half of the memory of a mount, or of a server.
    (place / "half.bin").write_bytes(noise(128 * MIB))


def erofs(place):
    # Where this is missing, the program says so later.
    if shutil.which("mkfs.erofs"):
        subprocess.run(["mkfs.erofs", "-T0", "--all-root", place / "image.erofs", place / "files"],
                       check=True, stdout=subprocess.DEVNULL)


SETS = {
    "data": (array, weights, gguf, parquet, archive, chunks, files, tree, tar, erofs, half),
    "frames": (frames,),
}

for part in SETS[sys.argv[2]]:
    print(f"  {part.__name__}", file=sys.stderr, flush=True)
    part(Path(sys.argv[1]))
