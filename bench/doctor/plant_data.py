"""The data of the planted cases, made once in a folder: rows, pictures, a tar.

SPDX-License-Identifier: Apache-2.0
"""

import io
import os
import random
import struct
import tarfile
import zlib

ROW_BYTES = 784


def png(width, height, seed):
    """A picture that is neither flat nor noise: waves, and four random bits."""
    rng, line = random.Random(seed), 3 * width
    wave = int.from_bytes(bytes((i * 7 // 5) % 240 & 0xF0 for i in range(line)), "big")
    low = int.from_bytes(b"\x0f" * line, "big")
    rows = b"".join(b"\0" + (wave ^ (rng.getrandbits(8 * line) & low)).to_bytes(line, "big") for _ in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def rows_file(path, rows):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {ROW_BYTES}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(random.Random(1).randbytes(1 << 20) * (rows * ROW_BYTES // (1 << 20)))
        file.write(bytes(rows * ROW_BYTES % (1 << 20)))


def folder(path, pictures):
    """A class folder of the pictures, whose names are in their order."""
    os.makedirs(os.path.join(path, "c"))
    for i, picture in enumerate(pictures):
        with open(os.path.join(path, "c", f"{i:05}.png"), "wb") as file:
            file.write(picture)


def tar(path, pictures):
    with tarfile.open(path, "w") as out:
        for i, picture in enumerate(pictures):
            info = tarfile.TarInfo(f"{i:05}.png")
            info.size = len(picture)
            out.addfile(info, io.BytesIO(picture))


def make(where):
    """All of it, below `where`."""
    rows_file(os.path.join(where, "rows.npy"), 200_000)
    small = [png(192, 192, seed) for seed in range(16)]
    large, larger = png(1600, 1200, 98), png(2400, 1800, 99)
    folder(os.path.join(where, "photos"), small * 25)
    tar(os.path.join(where, "photos.tar"), small * 25)
    folder(os.path.join(where, "one_in_ten"), [large if i % 10 == 5 else small[i % 16] for i in range(400)])
    folder(os.path.join(where, "one_in_hundred"), [larger if i % 100 == 50 else small[i % 16] for i in range(400)])
    folder(os.path.join(where, "tiny"), [png(16, 16, 3)] * 4000)
    folder(os.path.join(where, "huge"), [png(3000, 2000, 7)] * 24)
    with open(os.path.join(where, "pixels.raw"), "wb") as file:
        file.write(random.Random(2).randbytes(96 * 96 * 3 * 100) * 10)
