"""gzip files as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import struct
import zlib


def member(data, flags=0, extra=b"", level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + extra + body + struct.pack("<II", zlib.crc32(data), len(data))


def seeds():
    text = b"the same words, the same words, and some others. " * 50
    for level in (0, 1, 9):
        yield f"level-{level}", member(text, level=level)
    yield "empty", member(b"")
    yield "zeros", member(bytes(100000))
    yield "name", member(text, 8, b"name\0")
    yield "all-flags", member(text, 4 | 8 | 16 | 2, b"\x03\x00abc" + b"name\0" + b"comment\0" + b"\0\0")
    yield "members", member(text) + member(b"more") + member(b"")
    yield "padded", member(b"x" * 256) + bytes(100)
    yield "long", gzip.compress(bytes(range(256)) * 300, mtime=0)
