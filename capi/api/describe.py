"""Describes dataline.h and the options' table as data: capi/api.json. README.md describes its contents.

  describe.py HEADER OPTION_ROWS [API_JSON]    writes the description, or prints it

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import sys

import comments
import options
import rules
from ctypes_of import Layouts
from lex import HeaderError
from parse import parse

SINCE = re.compile(r"\bSince (\d+\.\d+)\b")
# void (*)(void* context), wherever it stands: the header has no name for it.
RELEASE = {
    "name": "dl_release",
    "returns": "void",
    "parameters": [{"name": "context", "type": "void*"}],
    "doc": ["Releases a borrowed array or a table. Called once with its context, from any thread."],
}
STATUS_SECTION = "Status and errors"
HEAD = "Made from capi/dataline.h by capi/api/update.sh; do not edit."


class Wrong(Exception):
    """The header breaks rules; the text is one line for each."""


def pruned(**entry):
    """Without empty values: they are omitted."""
    return {key: value for key, value in entry.items() if value not in ("", [], None, False)}


def since(doc, first):
    found = SINCE.search(" ".join(doc))
    return found[1] if found else first


# -- constants


def number_of(text):
    return int(text.strip("()").rstrip("u"))


def prefix_of(name):
    return "_".join(name.split("_")[:2])


def constant_type(names, values):
    if any(value.endswith("u") for value in values):
        return "uint64_t"  # bits, as the members that hold them
    return "size_t" if all(name.endswith("_BYTES") for name in names) else "int32_t"


def groups(constants):
    """Runs of neighbours that share a prefix, and single constants."""
    found = []
    for made in constants:
        last = found[-1][-1] if found else None
        if (
            last
            and prefix_of(last.name) == prefix_of(made.name)
            and made.line - last.end <= 3
            and last.section == made.section
        ):
            found[-1].append(made)
        else:
            found.append([made])
    return found


def constants_of(declarations, first):
    for group in groups([made for made in declarations if made.kind == "constant" and made.section != STATUS_SECTION]):
        alone = len(group) == 1
        yield pruned(
            name=group[0].name if alone else prefix_of(group[0].name),
            type=constant_type([made.name for made in group], [made.value for made in group]),
            flags=any(made.value.endswith("u") for made in group),
            section=group[0].section,
            unstable=group[0].unstable,
            doc=[group[0].run] if group[0].run else [],
            values=[
                pruned(name=made.name)
                | {"value": number_of(made.value)}
                | pruned(since=later(since(made.doc, first), first), doc=made.doc)
                for made in group
            ],
        )


def statuses_of(declarations, first):
    band = ""
    for made in declarations:
        if made.kind == "constant" and made.section == STATUS_SECTION:
            band = made.run or band
            yield (
                {"name": made.name, "value": number_of(made.value)}
                | pruned(band=band, since=later(since(made.doc, first), first), doc=made.doc)
            )


def later(release, first):
    """What is as old as all else goes without saying."""
    return release if release != first else ""


# -- callbacks, structs, functions


class Callbacks(dict):
    """By name. `taken`: what else the header declares, whose names those in place must leave alone."""

    def __init__(self, declarations):
        super().__init__()
        self.taken = {made.name for made in declarations}


def name_in_place(owner, member, taken):
    name = f"{owner}_{member.name}"
    return f"{name}_function" if name in taken else name


def parameters_of(made, callbacks):
    return [
        {"name": one.name, "type": callback_name(made.name, one, callbacks) if one.callback else one.type}
        for one in made.parameters
    ]


def callback_name(owner, member, callbacks):
    """The name of a callback that is declared in place: by its place, except for dl_release."""
    made = member.callback
    if (made.type, [one.type for one in made.parameters]) == ("void", ["void*"]):
        callbacks.setdefault(RELEASE["name"], RELEASE)
        return RELEASE["name"]
    name = name_in_place(owner, member, callbacks.taken)
    if name not in callbacks:
        callbacks[name] = {"name": name, "returns": made.type, "parameters": parameters_of(made, callbacks)}
    return name


def struct_of(made, layouts, callbacks, first):
    types = [callback_name(made.name, one, callbacks) if one.callback else one.type for one in made.members]
    offsets, size, _ = layouts.place(types)
    born = since(made.doc, first)
    ages = [since(one.doc, born) for one in made.members]
    members = [
        {"name": one.name, "type": type_name, "offset": offset, "size": layouts.of(type_name)[0]}
        | pruned(since=later(age, first), doc=one.doc)
        for one, type_name, offset, age in zip(made.members, types, offsets, ages, strict=False)
    ]
    oldest = [type_name for type_name, age in zip(types, ages, strict=False) if age == born]
    return (
        pruned(name=made.name, section=made.section, unstable=made.unstable)
        | {
            "size": size,
            "first_size": layouts.place(oldest)[1],
            "grows": made.members[0].name == "struct_size" or bool(rules.SIZED_ELSEWHERE.search(" ".join(made.doc))),
            "since": born,
        }
        | pruned(doc=made.doc)
        | {"members": members}
    )


def function_of(made, callbacks, statuses, first):
    doc, errors, threading = comments.split(made.doc)
    codes = [name for name in re.findall(r"\bDL_\w+", " ".join(made.doc)) if name in statuses]
    return (
        pruned(name=made.name, section=made.section, inline=made.kind == "inline", unstable=made.unstable)
        | {"since": since(made.doc, first), "returns": made.type, "parameters": parameters_of(made, callbacks)}
        | pruned(doc=doc, errors=errors, threading=threading, codes=list(dict.fromkeys(codes)))
    )


# -- all of it


def in_layouts(declarations):
    layouts, taken = Layouts(), {made.name for made in declarations}
    for made in declarations:
        if made.kind == "alias":
            layouts.known[made.name] = layouts.known.get(made.type, (8, 8))
        elif made.kind == "callback":
            layouts.known[made.name] = (8, 8)
    layouts.known["dl_release"] = (8, 8)
    for made in declarations:
        if made.kind == "struct":
            for member in made.members:
                if member.callback:
                    layouts.known[name_in_place(made.name, member, taken)] = (8, 8)
            try:
                _, size, alignment = layouts.place(["dl_release" if one.callback else one.type for one in made.members])
                layouts.known[made.name] = (size, alignment)
            except KeyError:  # an unknown type: a rule says so, with its line
                layouts.known[made.name] = (8, 8)
    return layouts


def describe(text):
    """The description of a header given as text. Raises Wrong."""
    try:
        declarations, sections, head = parse(text)
    except HeaderError as error:
        raise Wrong(str(error)) from error
    said, layouts = comments.conventions(head), in_layouts(declarations)
    findings = rules.check(declarations, sections, [(line, f"{words}") for line, _, words in said], layouts)
    if findings:
        raise Wrong("\n".join(f"line {line}: {message}" for line, message in findings))
    numbers = {made.name: number_of(made.value) for made in declarations if made.kind == "constant"}
    version = [numbers.get(f"DL_VERSION_{part}", 0) for part in ("MAJOR", "MINOR", "PATCH")]
    first = next(
        (
            found[1]
            for part in sections
            for line in part["doc"]
            if (found := re.search(r"\bexist since (\d+\.\d+)", line))
        ),
        f"{version[0]}.{version[1]}",
    )
    callbacks = Callbacks(declarations)
    for made in declarations:
        if made.kind == "callback":
            given = {"name": made.name, "returns": made.type, "parameters": parameters_of(made, callbacks)}
            callbacks[made.name] = given | pruned(doc=made.doc)
    statuses = list(statuses_of(declarations, first))
    codes = {one["name"] for one in statuses}
    structs = [struct_of(made, layouts, callbacks, first) for made in declarations if made.kind == "struct"]
    functions = [
        function_of(made, callbacks, codes, first) for made in declarations if made.kind in ("function", "inline")
    ]
    with_body = {one["name"] for one in structs}
    return {
        "comment": HEAD,
        "version": ".".join(str(part) for part in version),
        "abi_version": numbers.get("DL_ABI_VERSION", 0),
        "first_release": first,
        "example": comments.example(head),
        "conventions": [{"name": name, "doc": words} for _, name, words in said],
        "sections": [pruned(name=part["name"], doc=part["doc"]) for part in sections],
        "aliases": [
            pruned(name=made.name, type=made.type, doc=made.doc) for made in declarations if made.kind == "alias"
        ],
        "status_codes": statuses,
        "constants": list(constants_of(declarations, first)),
        "initializers": [
            {"name": made.name, "value": re.sub(r"\s+", " ", made.value)}
            for made in declarations
            if made.kind == "initializer"
        ],
        "handles": [
            pruned(name=made.name, doc=made.doc)
            for made in declarations
            if made.kind == "handle" and made.name not in with_body
        ],
        "foreign": [made.name for made in declarations if made.kind == "foreign"],
        "callbacks": list(callbacks.values()),
        "structs": structs,
        "functions": functions,
    }


def written(value, indent=0, width=140):
    """JSON with as much on a line as fits, so that a change of one thing is a change of one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, (dict, list)):
        return flat
    nested = [one for one in (value.values() if isinstance(value, dict) else value) if isinstance(one, (dict, list))]
    small = all(isinstance(one, list) and len(one) == 1 and isinstance(one[0], str) for one in nested)
    if indent and small and len(flat) + indent <= width:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {written(one, indent + 2, width)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(inner + written(one, indent + 2, width) for one in value) + "\n" + " " * indent + "]"


def text_of(header, option_rows):
    """What api.json must be for this header file and this table. Raises Wrong, with the header's name."""
    try:
        api = describe(pathlib.Path(header).read_text(encoding="utf-8"))
        return written(api | {"options": options.read(option_rows)}) + "\n"
    except Wrong as error:
        raise Wrong("\n".join(f"{header}:{line.removeprefix('line ')}" for line in str(error).split("\n"))) from error


def main():
    try:
        text = text_of(*sys.argv[1:3])
    except Wrong as error:
        sys.exit(str(error))
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
