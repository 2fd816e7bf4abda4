"""The Go over simple calls, in the package itself: codes, the values that methods return, the methods.

SPDX-License-Identifier: Apache-2.0
"""

from go import CODE_HEAD, SCALARS
from go_speak import CHOICE_NAMES, Go, code_name, converted, field_name, field_type, go_camel, value_name
from methods import CLASSES, choices, members, methods, values
from speak import lowered, sentence
from words import camel

FOLDER = "bindings/go"
BY_HAND = {"dl_loader_stats": "adds Forgotten, which the package counts"}
# Members that the package adds to a value; a method by hand fills them.
ADDED = {
    "dl_stats": [
        ("Forgotten", "int64", "Batches without Release that stay held, because slices of them may be in use.")
    ]
}


def head(title, *imports):
    standard = [f'\t"{one}"' for one in imports]
    return [
        CODE_HEAD,
        "//",
        f"// {title}",
        "//",
        "// SPDX-License-Identifier: Apache-2.0",
        "",
        "package dataline",
        "",
        *(
            ["import (", *standard, "", '\t"github.com/dataline/dataline/bindings/go/internal/abi"', ")"]
            if standard
            else ['import "github.com/dataline/dataline/bindings/go/internal/abi"']
        ),
    ]


def constants(go, about, kind, named):
    """A group of constants, each with its documentation above."""
    yield from ["", f"// {about}", "const ("]
    for name, one in named:
        yield from go.doc([sentence(f"{name}: {' '.join(one['doc'])}")], "\t")
        yield f"\t{name} {kind} = abi.{one['name']}"
    yield ")"


def codes(api):
    go, lines, bands = Go(api), head("The codes of the library: results that are not errors, and errors."), {}
    for one in api["status_codes"]:
        if one["name"] != "DL_OK":
            bands.setdefault(one["band"].rstrip("."), []).append((code_name(one["name"]), one))
    for band, named in bands.items():
        about = (
            "Results that are not errors of the data or the job."
            if band == "Soft results"
            else f"Errors of {lowered(band)}."
        )
        lines += constants(go, about, "Code", named)
    return lines


def value(go, struct):
    name = value_name(struct["name"])
    yield from ["", *go.type_doc(name, struct["doc"]), f"type {name} struct {{"]
    for one in members(struct):
        yield from [*go.doc([sentence(go.member_doc(one))], "\t"), f"\t{field_name(one)} {field_type(one)}"]
    for field, kind, about in ADDED.get(struct["name"], []):
        yield from [*go.doc([about], "\t"), f"\t{field} {kind}"]
    yield from ["}", "", f"func {lowered(name)}Of(raw *abi.{camel(struct['name'])}) {name} {{", f"\treturn {name}{{"]
    width = max(len(field_name(one)) for one in members(struct)) + 1
    yield from (f"\t\t{(field_name(one) + ':').ljust(width)} {converted(one)}," for one in members(struct))
    yield from ["\t}", "}"]


def all_values(api):
    go = Go(api)
    lines = head("What methods return, with what the header states of each member.", "time")
    for group in choices(api):
        name = CHOICE_NAMES[group["name"]]
        lines += ["", *go.type_doc(name, group["doc"]), f"type {name} int"]
        named = [(go.constant(one["name"]), one) for one in group["values"]]
        lines += constants(go, f"The values of {name}.", name, named)
    for struct in values(api):
        lines += value(go, struct)
    return lines


def method(go, one):
    name, owner = go_camel(one.name), CLASSES[one.handle]
    receiver = f"func ({owner[0].lower()} *{owner}) {name}("
    about = one.doc()
    verb = "" if one.shape == "set" else "returns "
    errors = [f"Errors: {' '.join(one.errors())}"] if one.errors() else []
    yield from ["", *go.doc([f"{name} {verb}{lowered(about[0])}", *about[1:], *errors])]
    used = f"{owner[0].lower()}.use(func(raw abi.Handle, e *abi.Error) int32 {{"
    if one.shape == "set":
        given = ", ".join(
            f"{each['name']} {'int' if each['type'].startswith('int') else 'float64'}" for each in one.parameters
        )
        passed = "".join(f"{SCALARS[each['type']]}({each['name']}), " for each in one.parameters)
        called = f"{used} return abi.{camel(one.c_name)}(raw, {passed}e) }})"
        called = called if passed else f"{owner[0].lower()}.use(abi.{camel(one.c_name)})"
        yield from [f"{receiver}{given}) error {{", f"\treturn {called}", "}"]
        return
    kind, struct = value_name(one.struct["name"]), camel(one.struct["name"])
    to = f"out := &abi.{struct}{{StructSize: uint32(unsafe.Sizeof(abi.{struct}{{}}))}}"
    if one.shape == "record":
        yield from [f"{receiver}) ({kind}, error) {{", f"\t{to}"]
        yield f"\tif err := {used} return abi.{camel(one.c_name)}(raw, out, e) }}); err != nil {{"
        yield from [f"\t\treturn {kind}{{}}, err", "\t}", f"\treturn {lowered(kind)}Of(out), nil", "}"]
        return
    yield from [f"{receiver}) ([]{kind}, error) {{", f"\tvar all []{kind}", f"\t{to}", f"\terr := {used}"]
    yield f"\t\tfor at := range abi.{camel(one.count['name'])}(raw) {{"
    yield f"\t\t\tif status := abi.{camel(one.c_name)}(raw, at, out, e); status != 0 {{"
    yield from ["\t\t\t\treturn status", "\t\t\t}", f"\t\t\tall = append(all, {lowered(kind)}Of(out))", "\t\t}"]
    yield from ["\t\treturn 0", "\t})", "\tif err != nil {", "\t\treturn nil, err", "\t}", "\treturn all, nil", "}"]


def all_methods(api):
    go, lines = Go(api), head("The methods that are one call of the library.", "unsafe")
    for one in methods(api, BY_HAND):
        lines += method(go, one)
    return lines


def files(api):
    makers = {"codes.go": codes, "values.go": all_values, "methods.go": all_methods}
    return {f"{FOLDER}/{name}": make(api) for name, make in makers.items()}
