"""IDX files as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import struct


def idx(kind, shape, data):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", dim) for dim in shape) + data


def seeds():
    data = bytes(range(96))
    for kind, width in ((8, 1), (9, 1), (11, 2), (12, 4), (13, 4), (14, 8)):
        whole = idx(kind, (3, 4, 96 // width // 12), data)
        yield f"type-{kind}", whole
        yield f"type-{kind}.gz", gzip.compress(whole, mtime=0)
    yield "labels", idx(8, (96,), data)
    yield "none", idx(8, (0, 28, 28), b"")
    yield "huge", idx(14, (1 << 31, 1 << 31, 1 << 31), data)
    yield "many-dims", idx(8, (96,) + (1,) * 31, data)
    yield "members.gz", gzip.compress(idx(8, (96,), b""), mtime=0) + gzip.compress(data, mtime=0) + bytes(5)
