"""The calls of the Go package internal/abi, in its two forms: through addresses in the shared library, and through cgo.

Both have the same functions, one for each of the header. A pair (release callback, context) is one number, the loan; 0
copies. Other callbacks, and a stream, which the library only hands on, are numbers too. Other void* are pointers: what
they point to has to stay where it is during the call.

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import base, pointee
from go import FOLDER, Names, head
from words import call_lines, camel, lower_camel

WIDTH = 120
KEYWORDS = {
    "type",
    "func",
    "range",
    "map",
    "chan",
    "var",
    "import",
    "package",
    "interface",
    "select",
    "go",
    "defer",
    "default",
}


def name_of(parameter):
    name = lower_camel(parameter["name"])
    return "err" if name == "error" else f"{name}Of" if name in KEYWORDS else name


def is_stream(parameter):
    return parameter["type"] == "void*" and parameter["name"] == "stream"


def parameters_of(one, names):
    """[(name in Go, type in Go, type in C)], the pair of a loan as one of the type in C "loan"."""
    found, given = [], one["parameters"]
    for at, parameter in enumerate(given):
        if at and given[at - 1]["type"] == "dl_release":
            continue  # its context
        if parameter["type"] == "dl_release":
            found.append(("loan", "uintptr", "loan"))
        elif is_stream(parameter):
            found.append((name_of(parameter), "uintptr", "stream"))
        else:
            found.append((name_of(parameter), names.type_of(parameter["type"]), parameter["type"]))
    return found


def heading(one, names):
    """`func Name(parameters) result {`"""
    result = "" if one["returns"] == "void" else f" {names.type_of(one['returns'])}"
    parameters = [f"{name} {kind}" for name, kind, _ in parameters_of(one, names)]
    return call_lines(f"func {camel(one['name'])}(", parameters, f"){result} {{", "\t", WIDTH)


# -- through addresses


def as_number(name, kind, c_type):
    if c_type == "loan":
        return ["releaseFor(loan)", "loan"]
    if kind == "uintptr":
        return [name]
    return [f"uintptr(unsafe.Pointer({name}))"] if kind.startswith("*") else [f"uintptr({name})"]


def returned(kind, result):
    if kind.startswith("*"):
        return f"({kind})(pointer({result}))"
    return f"pointer({result})" if kind == "Handle" else f"{kind}({result})"


def by_address(one, names):
    numbers = [f"symbols[at{camel(one['name'])}]"]
    for parameter in parameters_of(one, names):
        numbers += as_number(*parameter)
    returns = one["returns"] != "void"
    yield from heading(one, names)
    yield from call_lines(f"\t{'result, _, _ := ' if returns else ''}purego.SyscallN(", numbers, ")", "\t\t", WIDTH)
    if returns:
        yield f"\treturn {returned(names.type_of(one['returns']), 'result')}"
    yield "}"


def purego(api):
    names = Names(api)
    lines = [
        *head(
            "All calls, by address; one list, hence the length. A Go pointer becomes a number inside the argument list\n"
            "// only: there the compiler keeps what it points to alive, and on the heap.",
            "!(dataline_static && cgo)",
        ),
        "import (",
        '\t"unsafe"',
        "",
        '\t"github.com/ebitengine/purego"',
        ")",
    ]
    for one in api["functions"]:
        if not one.get("inline"):
            lines += ["", *by_address(one, names)]
    return lines


# -- through cgo


def needs_helper(one, names):
    return any(is_stream(parameter) or parameter["type"] in names.callbacks for parameter in one["parameters"])


def cast(c_type, api):
    """What turns a number into a pointer of this type; callbacks may have no name in C."""
    made = next((one for one in api["callbacks"] if one["name"] == c_type), None)
    if made is None:
        return f"({c_type})"
    return f"({made['returns']} (*)({', '.join(one['type'] for one in made['parameters']) or 'void'}))"


def helper(one, names, api):
    """C that takes numbers for the pointers that Go does not have."""
    parameters, arguments, given = [], [], one["parameters"]
    for at, parameter in enumerate(given):
        context = at and given[at - 1]["type"] == "dl_release"
        if parameter["type"] == "dl_release":
            parameters.append("uintptr_t loan")
            arguments += ["release_for(loan)", "(void*)loan"]
        elif is_stream(parameter) or parameter["type"] in names.callbacks:
            parameters.append(f"uintptr_t {parameter['name']}")
            arguments.append(f"{cast(parameter['type'], api)}{parameter['name']}")
        elif not context:
            parameters.append(f"{parameter['type']} {parameter['name']}")
            arguments.append(parameter["name"])
    yield from call_lines(f"static {one['returns']} go_{one['name']}(", parameters, ") {", "    ", WIDTH)
    yield from call_lines(
        f"  {'' if one['returns'] == 'void' else 'return '}{one['name']}(", arguments, ");", "      ", WIDTH
    )
    yield "}"


def in_c(name, kind, c_type, names):
    """The argument of cgo's function for a parameter."""
    if c_type in {"loan", "stream", *names.callbacks}:
        return f"C.uintptr_t({name})"
    if c_type == "void*":
        return name
    bottom = f"C.{'struct_' if c_type.startswith('struct ') else ''}{base(c_type)}"
    stars = c_type.count("*")
    if stars == 0:
        return f"C.{c_type}({name})"
    if names.is_handle(c_type):
        return f"(*{bottom})({name})"
    return f"({'*' * stars}{bottom})(unsafe.Pointer({name}))"


def through_cgo(one, names):
    arguments = [in_c(*parameter, names) for parameter in parameters_of(one, names)]
    kind = names.type_of(one["returns"])
    called = f"C.{'go_' if needs_helper(one, names) else ''}{one['name']}("
    yield from heading(one, names)
    if one["returns"] == "void":
        yield from call_lines(f"\t{called}", arguments, ")", "\t\t", WIDTH)
    elif pointee(one["returns"]):
        yield from call_lines(f"\treturn ({kind})(unsafe.Pointer({called}", arguments, ")))", "\t\t", WIDTH)
    else:
        yield from call_lines(f"\treturn {kind}({called}", arguments, "))", "\t\t", WIDTH)
    yield "}"


def static(api):
    names = Names(api)
    declared = [one for one in api["functions"] if not one.get("inline")]
    lines = [
        *head("All calls, through cgo; one list, hence the length.", "dataline_static && cgo"),
        "/*",
        "#include <dataline.h>",
        "",
        f"#if DL_ABI_VERSION != {api['abi_version']}",
        f'#error "this package is for DL_ABI_VERSION {api["abi_version"]}"',
        "#endif",
        "",
        "// With a loan the arrays are borrowed, without one they are copied.",
        "extern void dataline_go_release(void*);",
        "typedef void (*release_callback)(void*);",
        "static release_callback release_for(uintptr_t loan) { return loan ? dataline_go_release : NULL; }",
    ]
    for one in declared:
        lines += helper(one, names, api) if needs_helper(one, names) else []
    lines += ["*/", 'import "C"', "", 'import "unsafe"']
    for one in declared:
        lines += ["", *through_cgo(one, names)]
    return lines


def files(api):
    return {f"{FOLDER}/calls_purego.go": purego(api), f"{FOLDER}/calls_static.go": static(api)}
