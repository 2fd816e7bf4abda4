"""gzip files for the fuzzer to begin with: gzip_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import pathlib
import struct
import sys
import zlib


def member(data, flags=0, extra=b"", level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + extra + body + struct.pack("<II", zlib.crc32(data), len(data))


def main():
    folder = pathlib.Path(sys.argv[1])
    text = b"the same words, the same words, and some others. " * 50
    for level in (0, 1, 9):
        (folder / f"level-{level}").write_bytes(member(text, level=level))
    (folder / "empty").write_bytes(member(b""))
    (folder / "zeros").write_bytes(member(bytes(100000)))
    (folder / "name").write_bytes(member(text, 8, b"name\0"))
    (folder / "all-flags").write_bytes(member(text, 4 | 8 | 16 | 2, b"\x03\x00abc" + b"name\0" + b"comment\0" + b"\0\0"))
    (folder / "members").write_bytes(member(text) + member(b"more") + member(b""))
    (folder / "padded").write_bytes(member(b"x" * 256) + bytes(100))
    (folder / "long").write_bytes(gzip.compress(bytes(range(256)) * 300, mtime=0))


if __name__ == "__main__":
    main()
