"""What every declaration of the header keeps to. Each finding is (line, message).

SPDX-License-Identifier: Apache-2.0
"""

import re

from ctypes_of import SCALARS, array, base, pointee, up

FROZEN = re.compile(r"\bfrozen\b", re.IGNORECASE)  # how a struct without struct_size says that it never grows
SIZED_ELSEWHERE = re.compile(r"\bNo struct_size: (?!frozen)")  # or that something else says how long it is
OTHERS = {"dl_plugin_register"}  # what comments may name, and a plug-in defines
MARKER_NAMES = {"DL_API", "DL_MUST_CHECK", "DL_UNSTABLE", "DATALINE_H", "DL_STABLE_ONLY"}


def named(declarations):
    """Every name of the header with what it is."""
    return {made.name: made.kind for made in declarations}


def types_of(made):
    """(type, line) of all that a declaration mentions, callbacks in place included."""
    parts = [(made.type, made.line)] if made.kind in ("function", "inline", "callback", "alias") else []
    for member in [*made.parameters, *made.members]:
        parts += types_of(member.callback) if member.callback else [(member.type, member.line)]
    return parts


def unknown_types(made, names):
    usable = {name for name, kind in names.items() if kind in ("alias", "handle", "foreign", "callback", "struct")}
    for type_name, line in types_of(made):
        name = base(type_name)
        if name == "void" and (pointee(type_name) or made.kind not in ("alias",)):
            continue
        if name not in SCALARS and name not in usable:
            yield line, f"{made.name}: type '{name}' is declared nowhere"
        elif names.get(name) in ("handle", "foreign") and not pointee(type_name):
            yield line, f"{made.name}: a {name} can only be pointed to"


def struct_rules(made, layouts):
    if not made.doc:
        yield made.line, f"struct {made.name} has no comment above it"
    first = made.members[0] if made.members else None
    sized = first is not None and (first.name, first.type) == ("struct_size", "uint32_t")
    said = " ".join(made.doc)
    if not sized and not FROZEN.search(said) and not SIZED_ELSEWHERE.search(said):
        yield (
            made.line,
            (
                f"struct {made.name} does not start with uint32_t struct_size; its comment must state that it never "
                "grows (frozen), or where its length is stored (No struct_size: ...)"
            ),
        )
    at = 0
    for member in made.members:
        if member.type == "void":
            yield member.line, f"{made.name}.{member.name} is void"
            return
        size, alignment = (8, 8) if member.callback else layouts.of(member.type)
        if up(at, alignment) != at:
            yield (
                member.line,
                (
                    f"{made.name}.{member.name}: {up(at, alignment) - at} bytes of padding before it; "
                    "fill them with a reserved member"
                ),
            )
        at = up(at, alignment) + size


def function_rules(made, names):
    if not made.doc:
        yield made.line, f"{made.name} has no comment: one above it, behind it, or above its neighbours that names it"
    if made.kind == "inline":
        return
    if "DL_API" not in made.markers:
        yield made.line, f"{made.name} has no DL_API"
    if ("DL_UNSTABLE" in made.markers) != made.unstable:
        yield (
            made.line,
            (
                f"{made.name} is {'' if made.unstable else 'not '}in the part behind DL_STABLE_ONLY, and "
                f"{'has no' if made.unstable else 'has'} DL_UNSTABLE"
            ),
        )
    fails = bool(made.parameters) and (made.parameters[-1].type, made.parameters[-1].name) == ("dl_error*", "error")
    # A callback's answer, made of an error, is no failure of the call.
    answers = bool(made.parameters) and (made.parameters[0].type, made.parameters[0].name) == ("dl_error*", "error")
    if made.type == "dl_status" and not fails and not answers:
        yield made.line, f"{made.name} returns dl_status; its last parameter must be dl_error* error"
    if made.type == "dl_status" and "DL_MUST_CHECK" not in made.markers and not answers:
        yield made.line, f"{made.name} returns dl_status without DL_MUST_CHECK"
    for parameter in made.parameters:
        if array(parameter.type or "") or names.get(parameter.type) == "struct":
            yield parameter.line, f"{made.name}: {parameter.name} must be passed by pointer"
    # Go without cgo calls an address with integers alone.
    for type_name, line in [(made.type, made.line), *((one.type, one.line) for one in made.parameters)]:
        if type_name in ("double", "float"):
            yield line, f"{made.name}: a {type_name} must be passed by pointer, for bindings that pass integers only"


def remarks(declarations, sections, conventions):
    """(line, text) of every comment that belongs to something."""
    for made in declarations:
        yield made.line, " ".join([*made.doc, made.run])
        for member in made.members:
            yield member.line, " ".join(member.doc)
    for section in sections:
        yield section["line"], " ".join(section["doc"])
    yield from conventions


def unknown_names(texts, names, declarations):
    """Comments that mention what is not there: a name with its prefix, DL_NAME_* for a group, or dl_struct.member."""
    members = {f"{made.name}.{member.name}" for made in declarations for member in made.members}
    constants = [name for name, kind in names.items() if kind == "constant"]
    for line, text in texts:
        for found in re.finditer(r"\b(dl_\w+(?:\.\w+)?|DL_\w+)((?<=_)\*)?", text):
            name, star = found[1], found[2] or ""
            if "." in name and name.split(".")[0] in names and names[name.split(".")[0]] == "struct":
                known = name in members
            elif star:
                known = any(one.startswith(name) for one in constants)
            else:
                known = name.split(".")[0] in names or name in MARKER_NAMES | OTHERS
            if not known:
                yield line, f"a comment mentions {name}{star}, which is declared nowhere"


def check(declarations, sections, conventions, layouts):
    """All findings, in the order of the header. `layouts` knows the structs that can be laid out."""
    names, findings, seen = named(declarations), [], {}
    for made in declarations:
        if made.name in seen and {made.kind, seen[made.name]} != {"handle", "struct"}:
            findings.append((made.line, f"{made.name} is declared twice"))
        seen[made.name] = made.kind
        if not made.name.startswith(("dl_", "DL_", "DATALINE_H")) and made.kind != "foreign":
            findings.append((made.line, f"{made.name}: names start with dl_ or DL_"))
        wrong_types = list(unknown_types(made, names))
        findings += wrong_types
        if made.kind == "struct" and not wrong_types:
            findings += struct_rules(made, layouts)
        elif made.kind in ("function", "inline"):
            findings += function_rules(made, names)
        elif made.kind == "handle" and names[made.name] == "handle" and not made.doc:
            findings.append((made.line, f"{made.name} has no comment"))
    findings += unknown_names(remarks(declarations, sections, conventions), names, declarations)
    return sorted(set(findings))
