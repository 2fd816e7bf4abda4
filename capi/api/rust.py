"""The Rust of the crate dataline-sys: numbers, structs and functions, as arguments of the macros in its macros.rs.

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import array, pointee
from words import HEAD, call_lines, whole_doc, wrapped

WIDTH = 110
FOLDER = "bindings/rust/dataline-sys/src"
SCALARS = {
    "int8_t": "i8",
    "uint8_t": "u8",
    "int16_t": "i16",
    "uint16_t": "u16",
    "int32_t": "i32",
    "uint32_t": "u32",
    "int64_t": "i64",
    "uint64_t": "u64",
    "size_t": "usize",
    "intptr_t": "isize",
    "uintptr_t": "usize",
    "float": "f32",
    "double": "f64",
    "char": "c_char",
    "void": "c_void",
}
KEYWORDS = {
    "as",
    "async",
    "await",
    "box",
    "dyn",
    "fn",
    "impl",
    "in",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "priv",
    "pub",
    "ref",
    "self",
    "super",
    "trait",
    "try",
    "type",
    "unsafe",
    "use",
    "where",
    "yield",
}


def type_of(c_type):
    target = pointee(c_type)
    if target:
        return f"*{'const' if target[1] else 'mut'} {type_of(target[0])}"
    items = array(c_type)
    if items:
        return f"[{type_of(items[0])}; {items[1]}]"
    return SCALARS.get(c_type, c_type.removeprefix("struct "))


def name_of(name):
    return f"r#{name}" if name in KEYWORDS else name


def head(title):
    return [f"//! {title}", "//!", f"//! {HEAD}", "//!", "//! SPDX-License-Identifier: Apache-2.0"]


def doc(entry, indent):
    return wrapped(whole_doc(entry), f"{indent}/// ", WIDTH)


def signature(entry):
    """`fn name(arguments) -> result;` in as few lines as fit."""
    result = "" if entry["returns"] == "void" else f" -> {type_of(entry['returns'])}"
    arguments = [f"{name_of(one['name'])}: {type_of(one['type'])}" for one in entry["parameters"]]
    flat = f"    fn {entry['name']}({', '.join(arguments)}){result};"
    if len(flat) <= WIDTH:
        return [flat]
    return [f"    fn {entry['name']}(", *call_lines(" " * 8, arguments, ",", " " * 8, WIDTH), f"    ){result};"]


def constants(api):
    lines = [*head("The numbers of the header."), "", "constants! {"]
    values = [("int32_t", one) for one in api["status_codes"]]
    values += [(group["type"], one) for group in api["constants"] for one in group["values"]]
    for c_type, one in values:
        lines += [*doc(one, "    "), f"    {one['name']}: {type_of(c_type)} = {one['value']};"]
    return [*lines, "}"]


def prototype_in_c(one):
    parameters = ", ".join(parameter["type"] for parameter in one["parameters"]) or "void"
    return f"typedef {one['returns']} (*{one['name']})({parameters});"


def structs(api):
    lines = [
        *head("The handles, callbacks and structs of the header. One list, hence the length."),
        "use std::os::raw::{c_char, c_void};",
        "",
    ]
    for one in api["aliases"]:
        lines += [*doc(one, ""), f"pub type {one['name']} = {type_of(one['type'])};"]
    lines += ["", "handles! {"]
    for one in api["handles"]:
        lines += [*doc(one, "    "), f"    {one['name']}"]
    lines += ["}", "", "callbacks! {"]
    for one in api["callbacks"]:
        lines += [*doc(one, "    "), *signature(one)]
    lines += [
        "}",
        "",
        "/// The callbacks in C, for the comparison with the header.",
        "#[doc(hidden)]",
        'pub const CALLBACKS_IN_C: &str = "\\',
    ]
    lines += [f"{prototype_in_c(one)}\\n\\" for one in api["callbacks"]]
    lines += ['";', "", "structs! {"]
    for number, one in enumerate(api["structs"]):
        lines += [*([""] if number else []), *doc(one, "    "), f"    struct {one['name']} {{"]
        for member in one["members"]:
            lines += [*doc(member, " " * 8), f"        {name_of(member['name'])}: {type_of(member['type'])},"]
        lines.append("    }")
    return [*lines, "}"]


def functions(api):
    lines = [
        *head("The functions of the header, in its order. One list, hence the length."),
        "use crate::arrow::*;",
        "use crate::dlpack::*;",
        "use crate::structs::*;",
        "use std::os::raw::{c_char, c_void};",
        "",
        "functions! {",
    ]
    declared = [one for one in api["functions"] if not one.get("inline")]
    for number, one in enumerate(declared):
        lines += [*([""] if number else []), *doc(one, "    "), *signature(one)]
    return [*lines, "}"]


def files(api):
    makers = {"constants.rs": constants, "structs.rs": structs, "functions.rs": functions}
    return {f"{FOLDER}/{name}": make(api) for name, make in makers.items()}
