"""C types as the header spells them, and their layout in memory where a pointer has 8 bytes (LP64, and LLP64).

A type is kept as one string in one spelling: "int32_t", "const dl_view*", "dl_dataset* const*", "char[512]", or the name
of a struct, handle, alias or callback.

SPDX-License-Identifier: Apache-2.0
"""

import re

SCALARS = {
    "char": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "int16_t": 2,
    "uint16_t": 2,
    "int32_t": 4,
    "uint32_t": 4,
    "int64_t": 8,
    "uint64_t": 8,
    "size_t": 8,
    "intptr_t": 8,
    "uintptr_t": 8,
    "float": 4,
    "double": 8,
}
POINTER = 8


def pointee(type_name):
    """(what a pointer points to, whether it is const there), or None for other types."""
    if not type_name.endswith("*"):
        return None
    target = type_name[:-1]
    if target.endswith(" const"):  # a const pointer
        return target[: -len(" const")], True
    if target.startswith("const ") and not target.endswith("*"):
        return target[len("const ") :], True
    return target, False


def array(type_name):
    """(item, length), or None for other types."""
    found = re.fullmatch(r"(.+)\[(\d+)\]", type_name)
    return (found[1], int(found[2])) if found else None


def base(type_name):
    """The name at the bottom: of "const dl_view*", dl_view."""
    return re.sub(r"\bconst\b|[*\s]|\[\d+\]", "", type_name.replace("struct ", ""))


def spelled(words):
    """The one spelling of a type given as words and stars."""
    text = ""
    for word in words:
        text = text + "*" if word == "*" else f"{text} {word}".strip()
    return re.sub(r"^(\w+) const\b", r"const \1", text)


class Layouts:
    """Sizes and alignments; structs are added in the order of the header."""

    def __init__(self):
        self.known = {name: (size, size) for name, size in SCALARS.items()}

    def of(self, type_name):
        """(size, alignment)"""
        if pointee(type_name):
            return POINTER, POINTER
        items = array(type_name)
        if items:
            size, alignment = self.of(items[0])
            return size * items[1], alignment
        return self.known[type_name]

    def place(self, type_names):
        """Offsets of members of these types, the size of the struct and its alignment."""
        offsets, at, widest = [], 0, 1
        for name in type_names:
            size, alignment = self.of(name)
            at = up(at, alignment)
            offsets.append(at)
            at, widest = at + size, max(widest, alignment)
        return offsets, up(at, widest), widest


def up(number, alignment):
    return (number + alignment - 1) // alignment * alignment
