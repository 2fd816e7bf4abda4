"""The Go of the package internal/abi that does not call: numbers, layouts of structs, names of the functions.

SPDX-License-Identifier: Apache-2.0
"""

import re

from ctypes_of import array, base, pointee
from words import HEAD, camel

FOLDER = "bindings/go/internal/abi"
SCALARS = {
    "int8_t": "int8",
    "uint8_t": "uint8",
    "int16_t": "int16",
    "uint16_t": "uint16",
    "int32_t": "int32",
    "uint32_t": "uint32",
    "int64_t": "int64",
    "uint64_t": "uint64",
    "size_t": "uintptr",
    "intptr_t": "uintptr",
    "uintptr_t": "uintptr",
    "float": "float32",
    "double": "float64",
    "char": "byte",
}
CODE_HEAD = (
    f"// Code {HEAD[0].lower()}{HEAD[1:].replace('do not edit', 'DO NOT EDIT')}"  # the words that Go's tools look for
)
HOSTS = re.compile(r"(^|_)context$|^state$|^object$")  # members of type void* that callbacks get back


class Names:
    """What the names of the header are in Go."""

    def __init__(self, api):
        self.aliases = {one["name"]: one["type"] for one in api["aliases"]}
        self.callbacks = {one["name"] for one in api["callbacks"]}
        self.structs = {one["name"] for one in api["structs"]}
        self.handles = {one["name"] for one in api["handles"]} | set(api["foreign"])

    def type_of(self, c_type):
        """A pointer to a handle, to anything else without a layout, and void*: Handle."""
        c_type = self.aliases.get(c_type, c_type).removeprefix("struct ")
        if c_type in self.callbacks:
            return "uintptr"
        items = array(c_type)
        if items:
            return f"[{items[1]}]{self.type_of(items[0])}"
        target = pointee(c_type)
        if target and target[0].removeprefix("struct ") in self.handles | {"void"}:
            return "Handle"
        if target:
            return f"*{self.type_of(target[0])}"
        return SCALARS.get(c_type) or camel(c_type)

    def member_type(self, member):
        """What only the host reads is a number: of the table in the package above, not an address."""
        if member["type"] == "void*":
            return "uintptr" if HOSTS.search(member["name"]) else "unsafe.Pointer"
        return self.type_of(member["type"])

    def is_handle(self, c_type):
        return bool(pointee(c_type)) and base(pointee(c_type)[0]) in self.handles and pointee(c_type)[0].count("*") == 0


def head(title, condition=None):
    lines = [CODE_HEAD, "//", f"// {title}", "//", "// SPDX-License-Identifier: Apache-2.0", ""]
    lines += [f"//go:build {condition}", ""] if condition else []
    return [*lines, "package abi", ""]


def block(pairs, between):
    """Lines "name<between>value" as gofmt aligns them."""
    width = max(len(name) for name, _ in pairs)
    return [f"\t{name.ljust(width)}{between}{value}" for name, value in pairs]


def numbers(api):
    lines = [*head("The numbers of dataline.h, by its names."), "const ("]
    groups = [api["status_codes"], *(group["values"] for group in api["constants"])]
    for number, group in enumerate(groups):
        lines += [*([""] if number else []), *block([(one["name"], one["value"]) for one in group], " = ")]
    return [*lines, ")"]


def structs(api):
    names = Names(api)
    lines = [
        *head(
            "The structs of dataline.h in their layout in memory. One list, hence the length. The header describes the members."
        ),
        'import "unsafe"',
    ]
    for one in api["structs"]:
        lines += ["", f"// {camel(one['name'])} is {one['name']}.", f"type {camel(one['name'])} struct {{"]
        lines += block([(camel(member["name"]), names.member_type(member)) for member in one["members"]], " ")
        lines.append("}")
    return lines


def layouts(api):
    lines = [*head("Every struct of dataline.h, for the test of their layout."), 'import "reflect"', ""]
    lines.append("var structs = map[string]reflect.Type{")
    width = max(len(one["name"]) for one in api["structs"]) + 3
    for one in api["structs"]:
        key = f'"{one["name"]}":'
        lines.append(f"\t{key.ljust(width)} reflect.TypeFor[{camel(one['name'])}](),")
    return [*lines, "}"]


def symbols(api):
    declared = [one["name"] for one in api["functions"] if not one.get("inline")]
    lines = [
        *head("The functions of dataline.h by name; their addresses are looked up once.", "!(dataline_static && cgo)"),
        "// Indices in symbols.",
        "const (",
    ]
    lines += [f"\tat{camel(name)}{' = iota' if number == 0 else ''}" for number, name in enumerate(declared)]
    lines += ["\tsymbolCount", ")", "", "var symbolNames = [symbolCount]string{"]
    lines += [f'\t"{name}",' for name in declared]
    return [*lines, "}", "", "// Addresses in the library that was loaded.", "var symbols [symbolCount]uintptr"]


def files(api):
    makers = {
        "numbers.go": numbers,
        "structs.go": structs,
        "layouts_test.go": layouts,
        "symbols_purego.go": symbols,
    }
    return {f"{FOLDER}/{name}": make(api) for name, make in makers.items()}
