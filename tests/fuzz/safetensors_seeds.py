"""safetensors files as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import json
import struct


def safetensors(tensors, metadata=None, padding=8, data=None):
    header, at = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, count in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % padding)
    return struct.pack("<Q", len(text)) + text + (bytes(i % 251 for i in range(at)) if data is None else data)


def seeds():
    seeds = {
        "one": safetensors([("x", "F32", [3, 2], 24)]),
        "rows": safetensors([("x", "F32", [4, 2], 32), ("label", "I64", [4], 32), ("mask", "BOOL", [4, 3], 12)]),
        "lengths": safetensors([("a", "U8", [5], 5), ("b", "BF16", [2, 2], 8), ("step", "I64", [], 8)]),
        "unaligned": safetensors([("a", "U8", [3], 3), ("b", "F64", [3], 24)], padding=1),
        "metadata": safetensors([("x", "U16", [4], 8)], {"format": "pt", "\u00fc\n": "\U0001f600"}),
        "empty": safetensors([]),
        "no-bytes": safetensors([("x", "F32", [0, 2], 0), ("y", "F32", [0], 0)]),
        "float8": safetensors([("x", "F8_E4M3", [4], 4), ("y", "F4", [4], 2)]),
        "cut": safetensors([("x", "F32", [300], 1200)], data=bytes(8)),
        "huge": safetensors([("x", "F32", [1 << 40, 1 << 19], 1 << 61)], data=bytes(8)),
        "hole": struct.pack("<Q", 60) + b'{"x":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}'.ljust(60) + b"abc",
        "twice": struct.pack("<Q", 106)
        + b'{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}'.ljust(106)
        + b"abcd",
    }
    yield from seeds.items()
