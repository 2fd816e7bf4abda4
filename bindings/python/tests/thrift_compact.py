"""Thrift's compact protocol, as far as Parquet's footers and page headers use it, so that tests can write what no writer
would. A struct is a dict of its fields' numbers to [type, value]; a list is [type, [values]].

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

Struct = dict[int, list[Any]]
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


class Reader:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind in (DOUBLE, BINARY):
            length = 8 if kind == DOUBLE else self.varint()
            self.at += length
            return self.data[self.at - length : self.at]
        if kind in (LIST, SET):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            inner = head & 15
            return [inner, [self.byte() if inner in (TRUE, FALSE) else self.value(inner) for _ in range(count)]]
        assert kind == STRUCT, kind
        return self.struct()

    def struct(self) -> Struct:
        out: Struct = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            out[number] = [head & 15, self.value(head & 15)]
        return out


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def zigzag(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 63))


def encode(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value])
    if kind in (I16, I32, I64):
        return zigzag(value)
    if kind == DOUBLE:
        return bytes(value)
    if kind == BINARY:
        return varint(len(value)) + bytes(value)
    if kind in (LIST, SET):
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + varint(len(items))
        return head + b"".join(bytes([item]) if inner in (TRUE, FALSE) else encode(inner, item) for item in items)
    out, last = b"", 0
    for number, (inner, item) in sorted(value.items()):
        if inner in (TRUE, FALSE):
            inner = TRUE if item else FALSE
        step = number - last
        out += bytes([step << 4 | inner]) if 0 < step < 16 else bytes([inner]) + zigzag(number)
        out += encode(inner, item)
        last = number
    return out + b"\0"


def decode(data: bytes, at: int = 0) -> tuple[Struct, int]:
    """A struct, and where it ends."""
    reader = Reader(data, at)
    return reader.struct(), reader.at
