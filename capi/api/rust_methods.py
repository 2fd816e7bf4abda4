"""The safe Rust over simple calls: codes, the values that methods return, and the methods, as arguments of the macros in
bindings/rust/dataline/src/macros.rs.

SPDX-License-Identifier: Apache-2.0
"""

from methods import CLASSES, choice_of, choices, kind_of, members, methods, values
from rust import WIDTH, head, type_of
from speak import Speaker, camel_code, sentence
from words import markdown, wrapped

FOLDER = "bindings/rust/dataline/src/generated"
BY_HAND = {"dl_opening_progress": "a live opening always has one: returns it without a Result"}
VALUE_NAMES = {"dl_part": "PartInfo", "dl_error": "Failure"}  # a `Part` would be what a mix is made of
CHOICE_NAMES = {"DL_TUNE": "Tune"}
CODE_NAMES = {
    "DL_CANCELLED": "Cancelled",
    "DL_INTERRUPTED": "Interrupted",
}  # soft results that end a call as an error does
BORROWS = ("dl_dataset", "dl_loader")  # types with the lifetime of the data


def code_name(name):
    return CODE_NAMES.get(name) or camel_code(name, "DL_ERR_")


def value_name(struct):
    return VALUE_NAMES.get(struct) or camel_code(struct, "dl_")


def field_name(member):
    """wait_ns is a Duration, so that its name needs no unit."""
    return member["name"].removesuffix("_ns") if kind_of(member) == "time" else member["name"]


def field_type(member):
    kind = kind_of(member)
    if kind == "choice":
        return CHOICE_NAMES[choice_of(member)]
    named = {"code": "Code", "flag": "bool", "time": "Duration", "text": "String", "maybe": "Option<i64>"}
    return named.get(kind) or type_of(member["type"])


def link(path):
    return f"[`{path}`](crate::{path})"


class Rust(Speaker):
    """Names of the header as links of rustdoc, as far as the crate has them."""

    NONE = "`None`"

    def __init__(self, api):
        super().__init__(api)
        self.known = {"dl_error", *(one["name"] for one in values(api))}

    def code(self, name):
        known = name.startswith("DL_ERR_") or name in CODE_NAMES
        return link(f"Code::{code_name(name)}") if known else f"`{name}`"

    def constant(self, name):
        group = next((one for one in CHOICE_NAMES if name.startswith(f"{one}_")), None)
        return link(f"{CHOICE_NAMES[group]}::{camel_code(name, f'{group}_')}") if group else f"`{name}`"

    def value(self, struct):
        return link(value_name(struct)) if struct in self.known else f"`{struct}`"

    def member(self, struct, member):
        if struct not in self.known:
            return f"`{struct}.{member}`"
        return link(f"{value_name(struct)}::{field_name(self.members[struct][member])}")

    def function(self, handle, name):
        return link(f"{CLASSES[handle]}::{name}")

    def other(self, name):
        return f"`{name}`"

    def text(self, paragraph):
        return super().text(markdown(paragraph))

    def doc(self, paragraphs, indent):
        return wrapped(self.about(paragraphs), f"{indent}/// ", WIDTH, self.text)


def codes(api):
    rust = Rust(api)
    lines = [*head("The codes of errors."), "", "codes! {"]
    for one in api["status_codes"]:
        if one["name"].startswith("DL_ERR_") or one["name"] in CODE_NAMES:
            lines += rust.doc([sentence(" ".join(one["doc"]))], "    ")
            lines.append(f"    {code_name(one['name'])} = {one['name']},")
    return [*lines, "}"]


def derives(struct):
    kinds = {kind_of(one) for one in members(struct)}
    doubles = any(one["type"] == "double" for one in members(struct))
    left_out = {"Copy"} if "text" in kinds else set()
    left_out |= ({"Default"} if "code" in kinds else set()) | ({"Eq"} if doubles else set())
    return ", ".join(one for one in ("Clone", "Copy", "Debug", "Default", "PartialEq", "Eq") if one not in left_out)


def value(rust, struct):
    yield from ["", "values! {", *rust.doc(struct["doc"], "    "), f"    #[derive({derives(struct)})]"]
    yield f"    {value_name(struct['name'])} from {struct['name']} {{"
    for one in members(struct):
        yield from rust.doc([sentence(rust.member_doc(one))], " " * 8)
        yield f"        {field_name(one)}: {field_type(one)} = {one['name']},"
    yield from ["    }", "}"]


def choice(rust, group):
    name = CHOICE_NAMES[group["name"]]
    yield from ["", "choices! {", *rust.doc(group["doc"], "    "), f"    {name} {{"]
    for one in group["values"]:
        yield from rust.doc([sentence(" ".join(one["doc"]))], " " * 8)
        yield from [" " * 8 + "#[default]"] if one["value"] == 0 else []
        yield f"        {camel_code(one['name'], group['name'] + '_')} = {one['name']},"
    yield from ["    }", "}"]


def all_values(api):
    rust = Rust(api)
    lines = [*head("What methods return, with what the header states of each member."), "use crate::Code;"]
    lines += ["use std::time::Duration;"]
    for group in choices(api):
        lines += choice(rust, group)
    for struct in values(api):
        lines += value(rust, struct)
    return lines


def method(rust, one):
    forked = (
        "DL_ERR_FORKED." if one.handle in ("dl_loader", "dl_metrics") else "None now; later libraries may return some."
    )
    yield from rust.doc([*one.doc(), "# Errors"], " " * 8)
    yield from rust.doc([sentence(text) for text in one.errors()] or [forked], " " * 8)
    types = ", ".join(f"{each['name']}: {type_of(each['type'])}" for each in one.parameters)
    if one.shape == "set":
        yield f"        set {one.name}({types}) = {one.c_name};"
        return
    call = one.c_name if one.shape == "record" else f"{one.count['name']}, {one.c_name}"
    yield f"        {one.shape} {one.name}: {value_name(one.struct['name'])} = {call};"


def type_with_lifetime(handle):
    return CLASSES[handle] + ("<'_>" if handle in BORROWS else "")


def all_methods(api):
    rust, found = Rust(api), methods(api, BY_HAND)
    lines = head("The methods that are one call of the library.")
    used = [handle for handle in CLASSES if any(one.handle == handle for one in found)]
    taken = sorted({CLASSES[one] for one in used} | {value_name(one.struct["name"]) for one in found if one.struct})
    lines.append(f"use crate::{{{', '.join(taken)}}};")
    for handle in used:
        lines += ["", "methods! {", f"    {type_with_lifetime(handle)} {{"]
        for one in found:
            lines += method(rust, one) if one.handle == handle else []
        lines += ["    }", "}"]
    return lines


def files(api):
    makers = {"codes.rs": codes, "values.rs": all_values, "methods.rs": all_methods}
    return {f"{FOLDER}/{name}": make(api) for name, make in makers.items()}
