"""npy files as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import struct


def npy(descr, order, shape, data, version=1):
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + b"\n" + data


def seeds():
    data = bytes(range(96))
    for descr, width in (("|u1", 1), ("<f4", 4), (">f4", 4), (">i2", 2), ("|b1", 1), ("<c8", 8), (">c16", 16), ("<f2", 2), ("|V2", 2)):
        items = 96 // width
        for order in (False, True):
            name = descr.strip("<|>") + ("-big" if descr[0] == ">" else "") + ("-fortran" if order else "")
            yield name, npy(descr, order, (3, items // 3), data)
    yield "one-dim", npy("<i8", False, (12,), data)
    yield "three-dims", npy("<u2", True, (2, 4, 6), data)
    yield "trailing", npy("|u1", False, (2, 4), data)
    yield "empty", npy("<f8", False, (0, 7), b"")
    yield "version-3", npy("<u4", False, (24,), data, version=3)
    yield "long", npy("|u1", False, (1 << 40, 1 << 20), data)
    yield "python-2", npy("<u4", False, "(24L,)", data)
    yield "object", npy("|O", False, (3,), data)
    yield "structured", b"\x93NUMPY\x01\x00\x3e\x00{'descr': [('a', '<u2'), ('b', '|O')], 'shape': (3,), 'fortran_order': False}"
