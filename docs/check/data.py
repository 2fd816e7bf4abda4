"""Small sets of data under the names that the pages use: digits, pictures, shards of two kinds, tokens.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import pathlib
import random
import struct
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "generate"))
import pictures

DIGITS = {"train": 300, "t10k": 60}


def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", dim) for dim in shape) + data


def digits(folder, draw):
    folder.mkdir()
    for name, count in DIGITS.items():
        (folder / f"{name}-images-idx3-ubyte").write_bytes(idx((count, 28, 28), draw.randbytes(count * 784)))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            idx((count,), bytes(draw.randrange(10) for _ in range(count)))
        )


def shard(path, first, image):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(first, first + 6):
            for suffix, data in (("png", image), ("cls", str(number % 2).encode())):
                member = tarfile.TarInfo(f"{number:06}.{suffix}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def streaming(folder, image):
    """As MosaicML Streaming's MDSWriter leaves it: 12 pictures with labels."""
    folder.mkdir()
    columns = {"column_names": ["image", "label"], "column_encodings": ["png", "int"], "column_sizes": [None, 8]}
    config = json.dumps({**columns, "format": "mds"}).encode()
    sample = struct.pack("<I", len(image)) + image
    begins = [4 * 14 + len(config) + i * (len(sample) + 8) for i in range(13)]
    data = struct.pack("<14I", 12, *begins) + config + b"".join(sample + struct.pack("<q", i % 2) for i in range(12))
    (folder / "shard.00000.mds").write_bytes(data)
    shard = {**columns, "compression": None, "format": "mds", "hashes": [], "samples": 12, "size_limit": 1 << 26, "version": 2, "zip_data": None,
             "raw_data": {"basename": "shard.00000.mds", "bytes": len(data), "hashes": {}}}
    (folder / "index.json").write_text(json.dumps({"shards": [shard], "version": 2}), encoding="ascii")


def optimized(folder, image):
    """As LitData's optimize leaves it: 12 pictures with labels."""
    folder.mkdir()
    item = struct.pack("<II", len(image), 8) + image
    data = struct.pack("<14I", 12, *(56 + i * (len(item) + 8) for i in range(13))) + b"".join(item + struct.pack("<q", i % 2) for i in range(12))
    (folder / "chunk-0-0.bin").write_bytes(data)
    leaf = {"type": None, "context": None, "children_spec": []}
    spec = [1, {"type": "builtins.dict", "context": json.dumps(["image", "label"]), "children_spec": [leaf, leaf]}]
    config = {"compression": None, "data_format": ["bytes", "int"], "data_spec": json.dumps(spec), "encryption": None, "item_loader": "PyTreeLoader"}
    chunk = {"chunk_bytes": len(data), "chunk_size": 12, "dim": None, "filename": "chunk-0-0.bin"}
    (folder / "index.json").write_text(json.dumps({"chunks": [chunk], "config": config}), encoding="ascii")


def write(folder):
    """All of it, into a new folder."""
    draw = random.Random(1)
    digits(folder / "data", draw)
    house, rings = (pictures.png(*size, 3, pixels) for *size, pixels in (pictures.house(), pictures.rings()))
    for number in range(6):
        for name, image in (("cat", house), ("dog", rings)):
            path = folder / f"photos/train/{name}/{number:03}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image)
    for number in range(2):
        shard(folder / f"train-{number:03}.tar", 6 * number, house)
    streaming(folder / "mds", house)
    optimized(folder / "optimized", house)
    tokens = [draw.randrange(5000) for _ in range(5000)]
    (folder / "corpus.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
