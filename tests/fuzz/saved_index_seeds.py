"""Damage to a saved index as seeds, (place, value) in three bytes.

SPDX-License-Identifier: Apache-2.0
"""

import struct


def seeds():
    yield "none", b""
    for place in (0, 8, 12, 32, 40, 48, 56, 64, 72, 80, 88):  # members of the header
        for value in (0, 1, 255):
            yield f"header-{place}-{value}", struct.pack("<HB", place, value)
    for place in range(96, 480, 7):
        yield f"byte-{place}", struct.pack("<HB", place, place * 37 % 256)
    for place, name in ((65535, "cut"), (65534, "grown")):
        yield name, struct.pack("<HB", place, 9)
    header = b"DLFOLDER" + struct.pack("<II", 1, 96) + struct.pack("<QQ", 96, 0) + bytes(64)
    yield "bare", header
