"""Frames of LZ4 and Zstandard as seeds, made by hand; before each the codec and the length.

SPDX-License-Identifier: Apache-2.0
"""

import struct

# The head, one block of a literal and a match (offset 1) that repeats it, and one of literals, which has to be the last.
LZ4_HEAD = b"\x04\x22\x4d\x18\x60\x40\x82"
LZ4_RUN = b"\x1fa\x01\x00\x00" + b"\x50aaaaa"  # 1 + 19 + 5 times "a"


def lz4_stored(data):
    return LZ4_HEAD + (struct.pack("<I", len(data) | 1 << 31) + data if data else b"") + bytes(4)


def zstd_head(size=None):
    if size is None:
        return b"\x28\xb5\x2f\xfd\x00\x68"  # a window of 8 MiB, no size
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size)


def zstd_block(kind, size, data, last=True):
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + data


def seeds():
    text = b"the same words, the same words, and some others. " * 9
    seeds = {
        "lz4-empty": (0, 0, lz4_stored(b"")),
        "lz4-stored": (0, len(text), lz4_stored(text)),
        "lz4-run": (0, 25, LZ4_HEAD + struct.pack("<I", len(LZ4_RUN)) + LZ4_RUN + bytes(4)),
        "lz4-two": (0, 2 * len(text), lz4_stored(text) * 2),
        "zstd-empty": (1, 0, zstd_head(0) + zstd_block(0, 0, b"")),
        "zstd-stored": (1, len(text), zstd_head(len(text)) + zstd_block(0, len(text), text)),
        "zstd-unsized": (1, len(text), zstd_head() + zstd_block(0, len(text), text)),
        "zstd-run": (1, 60000, zstd_head() + zstd_block(1, 60000, b"z")),
        "zstd-blocks": (1, 2 * len(text), zstd_head() + zstd_block(0, len(text), text, False) + zstd_block(0, len(text), text)),
        "zstd-skipped": (1, 3, b"\x50\x2a\x4d\x18" + struct.pack("<I", 2) + b"??" + zstd_head(3) + zstd_block(1, 3, b"z")),
        "zstd-lie": (1, 3, zstd_head(1 << 31) + zstd_block(0, 3, b"abc")),
    }
    for name, (codec, length, frames) in seeds.items():
        yield name, bytes([codec]) + struct.pack(">H", length) + frames
