"""Arrow files and streams as seeds, a byte of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import struct

INT, FLOAT, UTF8, BOOL, LIST, STRUCT, FIXED_LIST = 2, 3, 5, 6, 12, 13, 16


class Flat:
    """A FlatBuffer, written front to back. Tables are {field: value}; a value is packed bytes, a str, a dict, a list of dicts,
    or (count, bytes): a vector of structs."""

    def __init__(self, root):
        self.out = bytearray(4)
        self.patch(0, self.put(root))
        self.align(8)

    def align(self, unit):
        self.out += bytes(-len(self.out) % unit)

    def patch(self, at, to):
        self.out[at : at + 4] = struct.pack("<I", to - at)

    def put(self, value):
        if isinstance(value, dict):
            return self.table(value)
        self.align(4)
        if isinstance(value, tuple) and len(self.out) % 8 == 0:
            self.out += bytes(4)
        at = len(self.out)
        if isinstance(value, str):
            self.out += struct.pack("<I", len(value)) + value.encode() + b"\0"
        elif isinstance(value, tuple):
            self.out += struct.pack("<I", value[0]) + value[1]
        else:
            self.out += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for i, item in enumerate(value):
                self.patch(at + 4 + 4 * i, self.put(item))
        return at

    def table(self, fields):
        entries = [0] * (max(fields, default=-1) + 1)
        body = bytearray(4)
        for field, value in fields.items():
            size = len(value) if isinstance(value, bytes) else 4
            body += bytes(-len(body) % size)
            entries[field] = len(body)
            body += value if isinstance(value, bytes) else bytes(4)
        self.align(2)
        vtable = len(self.out)
        self.out += struct.pack(f"<HH{len(entries)}H", 4 + 2 * len(entries), len(body), *entries)
        self.align(8)
        at = len(self.out)
        body[:4] = struct.pack("<i", at - vtable)
        self.out += body
        for field, value in fields.items():
            if not isinstance(value, bytes):
                self.patch(at + entries[field], self.put(value))
        return at


def field(name, kind, of_type=None, children=(), dictionary=None):
    out = {0: name, 1: b"\1", 2: bytes([kind]), 3: of_type or {}, 5: list(children)}
    if dictionary is not None:
        out[4] = {0: struct.pack("<q", dictionary), 1: {0: struct.pack("<i", 8), 1: b"\1"}}
    return out


def compressed(data):
    """A frame of Zstandard that stores the bytes, behind their number."""
    head = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    return struct.pack("<q", len(data)) + head + struct.pack("<I", 1 | len(data) << 3)[:3] + data if data else b""


def batch(rows, nodes, buffers, codec=None):
    body, places = b"", b""
    for data in buffers if codec is None else map(compressed, buffers):
        places += struct.pack("<qq", len(body), len(data))
        body += data + bytes(-len(data) % 8)
    table = {0: struct.pack("<q", rows), 1: (len(nodes), b"".join(struct.pack("<qq", *n) for n in nodes)), 2: (len(buffers), places)}
    if codec is not None:
        table[3] = {0: bytes([codec])}
    return table, body


def message(kind, header, body=b""):
    flat = Flat({0: struct.pack("<h", 4), 1: bytes([kind]), 2: header, 3: struct.pack("<q", len(body))}).out
    return b"\xff" * 4 + struct.pack("<i", len(flat)) + bytes(flat), body


def files(fields, batches, dictionaries=()):
    schema = {0: struct.pack("<h", 0), 1: fields}
    messages = [message(1, schema)]
    messages += [message(2, {0: struct.pack("<q", number), 1: table}, body) for number, (table, body) in dictionaries]
    messages += [message(3, table, body) for table, body in batches]
    stream = b"".join(head + body for head, body in messages) + b"\xff" * 4 + bytes(4)
    blocks, at = [], 8
    for head, body in messages:
        blocks.append(struct.pack("<qqq", at, len(head), len(body)))
        at += len(head) + len(body)
    split = 1 + len(dictionaries)
    footer = {0: struct.pack("<h", 4), 1: schema, 2: (split - 1, b"".join(blocks[1:split])), 3: (len(batches), b"".join(blocks[split:]))}
    tail = bytes(Flat(footer).out)
    return stream, b"ARROW1\0\0" + stream + tail + struct.pack("<i", len(tail)) + b"ARROW1"


def i32(*values):
    return struct.pack(f"<{len(values)}i", *values)


def seeds():
    number = {0: struct.pack("<i", 32), 1: b"\1"}
    x = field("x", INT, number)
    text = field("t", UTF8)
    tokens = field("l", LIST, None, [field("item", INT, number)])
    box = field("b", FIXED_LIST, {0: struct.pack("<i", 2)}, [field("item", FLOAT, {0: struct.pack("<h", 1)})])
    inner = field("s", STRUCT, None, [field("y", BOOL), field("z", UTF8)])
    seeds = {
        "numbers": files([x], [batch(3, [(3, 0)], [b"", i32(1, 2, 3)]), batch(2, [(2, 1)], [b"\2", i32(4, 5)])]),
        "compressed": files([x, text], [batch(2, [(2, 0), (2, 0)], [b"", i32(1, 2), b"", i32(0, 1, 3), b"abc"], 1)]),
        "another-codec": files([x], [batch(2, [(2, 0)], [b"", i32(1, 2)], 0)]),
        "as-it-is": files([x], [batch(1, [(1, 0)], [b"", i32(1)]), batch(1, [(1, 0)], [b"", i32(1)], 1)]),
        "texts": files([text], [batch(3, [(3, 1)], [b"\5", i32(0, 2, 2, 5), b"abcde"])]),
        "lists": files([tokens, x], [batch(2, [(2, 0), (3, 1), (2, 0)], [b"", i32(0, 1, 3), b"\3", i32(7, 8, 9), b"", i32(1, 2)])]),
        "boxes": files([box], [batch(2, [(2, 0), (4, 0)], [b"", b"", struct.pack("<4f", 1, 2, 3, 4)])]),
        "structs": files([inner], [batch(2, [(2, 1), (2, 0), (2, 0)], [b"\1", b"", b"\2", b"", i32(0, 1, 2), b"pq"])]),
        "words": files(
            [field("w", UTF8, None, (), 3)],
            [batch(3, [(3, 0)], [b"", bytes([0, 1, 0])])],
            [(3, batch(2, [(2, 0)], [b"", i32(0, 3, 5), b"redno"]))],
        ),
    }
    for name, (stream, whole) in seeds.items():
        for rule in (0, 1):
            yield f"{name}-stream-{rule}", bytes([rule]) + stream
            yield f"{name}-file-{rule}", bytes([rule]) + whole
