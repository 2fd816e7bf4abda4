"""Token files as seeds, three bytes of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import struct


def seeds():
    tokens = bytes(range(192))
    plain = {"u16": tokens, "cut": tokens[:-1], "none": b"", "html": b"<!DOCTYPE html><html>" + tokens}
    header = lambda magic, version, count: struct.pack("<III", magic, version, count) + bytes(1012)
    plain["llmc-u16"] = header(20240520, 1, 96) + tokens
    plain["llmc-u32"] = header(20240801, 7, 48) + tokens
    plain["llmc-short"] = header(20240520, 1, 97) + tokens
    plain["llmc-eval"] = header(20240522, 1, 96) + tokens
    plain["llmc-big"] = struct.pack(">III", 20240520, 1, 96) + bytes(1012) + tokens
    for descr, width in (("<u2", 2), (">u4", 4), ("|u1", 1), ("<i8", 8), ("<f4", 4)):
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({192 // width},), }}\n".encode()
        plain["npy-" + descr[1:] + descr[0].replace("<", "l").replace(">", "b").replace("|", "n")] = \
            b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + tokens
    for name, data in plain.items():
        for at, settings in enumerate((b"\x07\x07\x0f", b"\x03\x01\x01", b"\x00\x1f\x82", b"\x1f\x00\x00")):
            yield f"{name}-{at}", settings + data
