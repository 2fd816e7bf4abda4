"""Indexes of Megatron-LM as seeds, two bytes of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import struct


def index(lengths, documents, code=8, width=2, modes=b""):
    pointers = [0, *itertools.accumulate(length * width for length in lengths)][: len(lengths)]
    return (
        b"MMIDIDX\0\0"
        + struct.pack("<QBQQ", 1, code, len(lengths), len(documents))
        + struct.pack(f"<{len(lengths)}i", *lengths)
        + struct.pack(f"<{len(lengths)}q", *pointers)
        + struct.pack(f"<{len(documents)}q", *documents)
        + modes
    )


def seeds():
    lengths = [3, 0, 7, 1, 40, 2, 2, 9]
    data = sum(lengths)
    seeds = {
        "one-each": (data, index(lengths, range(9))),
        "joined": (data, index(lengths, [0, 2, 2, 5, 8])),
        "modes": (data, index(lengths, [0, 8], modes=bytes(8))),
        "u8": (data // 2, index(lengths, range(9), code=1, width=1)),
        "i32": (data * 2, index(lengths, range(9), code=4, width=4)),
        "empty": (0, index([], [0])),
        "old": (data, b"TNTIDX\0\0" + bytes(40)),
        "f32": (data * 2, index(lengths, range(9), code=7, width=4)),
    }
    for name, (half_bytes, data_index) in seeds.items():
        for packing in (7, 30, 128 + 9, 255):
            yield f"{name}-{packing}", bytes([half_bytes, packing]) + data_index
