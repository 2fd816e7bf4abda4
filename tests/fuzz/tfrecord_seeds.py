"""TFRecord files, and messages that become one, as seeds, a byte of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import struct


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def ints(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def ints_apart(*values):
    return field(3, b"".join(b"\x08" + varint(value) for value in values))


def floats(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def texts(*values):
    return field(1, b"".join(field(1, value) for value in values))


def example(**features):
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, value)) for name, value in features.items()))


def seeds():
    messages = {
        "one": example(id=ints(1, -2), b=texts(b"abc"), f=floats(0.5, 2)),
        "apart": example(f=field(2, b"\x0d\0\0\x80\x3f"), id=ints_apart(300, 1 << 62)),
        "twice": example(id=ints(1)) + example(id=ints(2, 3) + ints(4)),
        "kinds": example(id=floats(1) + ints(5), b=texts(b"x", b"y"), e=b""),
        "unknown": b"\x48\x01" + field(1, field(1, field(1, b"id") + field(2, b"\x4d1234" + ints(9)))) + field(7, b"text"),
        "sequence": example(id=ints(1)) + field(2, field(1, field(1, b"t") + field(2, field(1, ints(1))))),
        "text": b"hello",
    }
    files = {
        "empty": b"",
        "texts": record(b"hello") + record(b"") + record(b"x" * 300),
        "examples": b"".join(record(message) for message in messages.values()),
        "same": record(messages["one"]) * 3,
        "cut": record(messages["one"]) + record(messages["one"])[:20],
        "spoilt": record(messages["one"]) + record(messages["one"])[:-1] + b"?",
        "zlib": b"\x78\x9c" + bytes(30),
    }
    for keys in range(8):
        for name, message in messages.items():
            yield f"{name}-{keys}", bytes([128 + 64 * (keys & 1) + keys]) + message
        for name, data in files.items():
            yield f"file-{name}-{keys}", bytes([64 * (keys & 1) + keys]) + data
