"""IDX files for the fuzzer to begin with: idx_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import pathlib
import struct
import sys


def idx(kind, shape, data):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", dim) for dim in shape) + data


def main():
    folder = pathlib.Path(sys.argv[1])
    data = bytes(range(96))
    for kind, width in ((8, 1), (9, 1), (11, 2), (12, 4), (13, 4), (14, 8)):
        whole = idx(kind, (3, 4, 96 // width // 12), data)
        (folder / f"type-{kind}").write_bytes(whole)
        (folder / f"type-{kind}.gz").write_bytes(gzip.compress(whole, mtime=0))
    (folder / "labels").write_bytes(idx(8, (96,), data))
    (folder / "none").write_bytes(idx(8, (0, 28, 28), b""))
    (folder / "huge").write_bytes(idx(14, (1 << 31, 1 << 31, 1 << 31), data))
    (folder / "many-dims").write_bytes(idx(8, (96,) + (1,) * 31, data))
    (folder / "members.gz").write_bytes(gzip.compress(idx(8, (96,), b""), mtime=0) + gzip.compress(data, mtime=0) + bytes(5))


if __name__ == "__main__":
    main()
