"""The Julia of the package: numbers, layouts of structs, and functions for the macro @declare.

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import array, base, pointee
from words import HEAD, camel

FOLDER = "bindings/julia/src"
SCALARS = {
    "int8_t": "Int8",
    "uint8_t": "UInt8",
    "int16_t": "Int16",
    "uint16_t": "UInt16",
    "int32_t": "Int32",
    "uint32_t": "UInt32",
    "int64_t": "Int64",
    "uint64_t": "UInt64",
    "size_t": "Csize_t",
    "intptr_t": "Int",
    "uintptr_t": "UInt",
    "float": "Float32",
    "double": "Float64",
    "char": "UInt8",
    "void": "Cvoid",
}
KEYWORDS = {
    "begin",
    "do",
    "end",
    "for",
    "function",
    "global",
    "let",
    "local",
    "module",
    "quote",
    "struct",
    "try",
    "while",
}


class Names:
    """What the names of the header are in Julia. Structs are known from their declaration on, as in Julia."""

    def __init__(self, api, structs):
        self.aliases = {one["name"]: one["type"] for one in api["aliases"]}
        self.callbacks = {one["name"] for one in api["callbacks"]}
        self.structs = set(structs)

    def type_of(self, c_type):
        c_type = self.aliases.get(c_type, c_type)
        if c_type in self.callbacks:
            return "Ptr{Cvoid}"
        items = array(c_type)
        if items:
            return f"NTuple{{{items[1]},{self.type_of(items[0])}}}"
        target = pointee(c_type)
        if not target:
            return SCALARS.get(c_type) or f"C{camel(c_type)}"
        if pointee(target[0]) or base(target[0]) in SCALARS or base(target[0]) in self.structs | set(self.aliases):
            return f"Ptr{{{self.type_of(target[0])}}}"
        return "Handle"


def head(title):
    return [f"# {title}", "#", f"# {HEAD}", "#", "# SPDX-License-Identifier: Apache-2.0", ""]


def name_of(one):
    """The name of a parameter or member, with a _ behind a keyword of Julia."""
    return f"{one['name']}_" if one["name"] in KEYWORDS else one["name"]


def constants(api):
    names = Names(api, [])
    values = [("int32_t", one) for one in api["status_codes"]]
    values += [(group["type"], one) for group in api["constants"] for one in group["values"]]
    return [
        *head("The numbers of dataline.h, by its names."),
        *(f"const {one['name']} = {names.type_of(c_type)}({one['value']})" for c_type, one in values),
    ]


def structs(api):
    lines, known = (
        head("The structs of dataline.h, which describes the members. Julia lays them out as C does."),
        [],
    )
    for number, one in enumerate(api["structs"]):
        known.append(one["name"])
        names = Names(api, known)
        lines += [*([""] if number else []), f"struct C{camel(one['name'])}"]
        lines += [f"    {name_of(member)}::{names.type_of(member['type'])}" for member in one["members"]]
        lines.append("end")
    return lines


def parameter(one, names):
    return f"{name_of(one)}::{'Cstring' if one['type'] == 'const char*' else names.type_of(one['type'])}"


def functions(api):
    names = Names(api, [one["name"] for one in api["structs"]])
    lines, section = head("The functions of dataline.h, in its order."), None
    for one in api["functions"]:
        if one.get("inline"):
            continue
        if section not in (None, one["section"]):
            lines.append("")
        section = one["section"]
        parameters = ", ".join(parameter(each, names) for each in one["parameters"])
        lines.append(f"@declare {one['name']}({parameters})::{names.type_of(one['returns'])}")
    return lines


def files(api):
    makers = {"constants.jl": constants, "structs.jl": structs, "functions.jl": functions}
    return {f"{FOLDER}/{name}": make(api) for name, make in makers.items()}
