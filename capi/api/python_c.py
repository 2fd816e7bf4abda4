"""The extension's half of Python's calls: functions in C, rows of method tables, structs as dicts, and their types.

SPDX-License-Identifier: Apache-2.0
"""

import python
from words import HEAD, call_lines, camel

FOLDER = "bindings/python/src/core"
WIDTH = 110
# For Py_BuildValue and PyArg_ParseTuple: the letter, the type that it means.
LETTERS = {
    "int32_t": ("i", "int"),
    "uint32_t": ("I", "unsigned"),
    "dl_status": ("i", "int"),
    "int64_t": ("L", "long long"),
    "intptr_t": ("L", "long long"),
    "double": ("d", "double"),
    "const char*": ("s", "const char*"),
}


def head(what):
    return [f"/* {what}", f" * {HEAD}", " * SPDX-License-Identifier: Apache-2.0 */", "/* clang-format off */"]


def built(c_type, place):
    """(letter, argument) of Py_BuildValue."""
    if c_type == "const char*" or c_type.startswith("char["):
        return "N", f"call_text({place})"
    letter, made = LETTERS[c_type]
    return letter, f"({made}){place}"


def member_value(member, api):
    place, words = f"from->{member['name']}", python.words_of(member, api)
    if words:
        return "N", f"call_word({words['name'].lower()}_words, {words['values'][-1]['value']}, {place})"
    if python.is_flag(member):
        return "N", f"PyBool_FromLong({place})"
    return built(member["type"], place)


def word_table(group):
    """Words by number; the lower case of the names."""
    made = [None] * (group["values"][-1]["value"] + 1)
    for one in group["values"]:
        made[one["value"]] = one["name"].removeprefix(group["name"] + "_").lower()
    words = ["NULL" if word is None else f'"{word}"' for word in made]
    return call_lines(f"static const char* const {group['name'].lower()}_words[] = {{", words, "};", "    ", WIDTH)


def dict_of(struct, api):
    name = struct["name"]
    pairs = [(one["name"], *member_value(one, api)) for one in python.values(struct)]
    if any(one["type"] == "dl_status" for one in struct["members"]):
        pairs.append(("name", *built("const char*", "dl_status_name(from->code)")))
    letters = "".join(f"s{letter}" for _, letter, _ in pairs)
    items = [f'"{key}", {place}' for key, _, place in pairs]
    return [
        f"PyObject* {name.removeprefix('dl_')}_dict(const {name}* from) {{",
        *call_lines("  return Py_BuildValue(", [f'"{{{letters}}}"', *items], ");", "      ", WIDTH),
        "}",
        "",
    ]


def prototype(call):
    return f"PyObject* {call.kind}_call_{call.method}({camel(call.kind)}* self, PyObject* arguments)"


def body(call):
    """Reads the arguments, makes room for the results, and calls."""
    lines, arguments = [f"{prototype(call)} {{"], [call.kind]
    for one in call.inputs:
        lines.append(f"  {LETTERS[one['type']][1]} {one['name']};")
        arguments.append(one["name"])
    if call.inputs:
        letters = "".join("z" if call.is_optional(one) else LETTERS[one["type"]][0] for one in call.inputs)
        places = ", ".join(f"&{one['name']}" for one in call.inputs)
        lines.append(f'  if (!PyArg_ParseTuple(arguments, "{letters}:_{call.method}", {places})) return NULL;')
    else:
        lines.append("  (void)arguments;")
    results = []
    if call.struct:
        lines.append(f"  {call.struct['name']} out = {{.struct_size = sizeof out}};")
        results.append(("N", f"{call.struct['name'].removeprefix('dl_')}_dict(&out)"))
    for one in [] if call.struct else call.outputs:
        kind = one["type"].removesuffix("*")
        lines.append(f"  {kind} {one['name']} = 0;")
        results.append(built(kind, one["name"]))
    arguments += [f"&{one['name']}" for one in call.outputs]
    if not call.fails:
        results.append(built(call.function["returns"], f"{call.name}({', '.join(arguments)})"))
    letters, places = "".join(letter for letter, _ in results), "".join(f", {place}" for _, place in results)
    made = results[0][1] if letters == "N" else f'Py_BuildValue("{letters}"{places})'
    parts = [call.kind, f"{call.name}({', '.join([*arguments, '&error'])})", made] if call.fails else [call.kind, made]
    lines += call_lines("  RETURN_CALLED(" if call.fails else "  RETURN_GOT(", parts, ");", "      ", WIDTH)
    return [*lines, "}", ""]


def row(call):
    signature = "".join(f", {one['name']}" for one in call.inputs)
    how = "METH_VARARGS" if call.inputs else "METH_NOARGS"
    function = f"(PyCFunction){call.kind}_call_{call.method}"
    return f'  {{"_{call.method}", {function}, {how}, "_{call.method}($self{signature}, /)\\n--\\n\\n"}}'


def by_kind(calls):
    return {kind: [one for one in calls if one.kind == kind] for kind in dict.fromkeys(one.kind for one in calls)}


def source(api):
    structs = python.dicts(api)
    found = [python.words_of(one, api) for struct in structs for one in python.values(struct)]
    tables = {group["name"]: group for group in found if group}
    lines = [
        *head("Calls that have scalars and text as arguments and results, and structs as dicts."),
        '#include "calls.h"',
        "",
    ]
    for group in tables.values():
        lines += word_table(group)
    for struct in structs:
        lines += ["", *dict_of(struct, api)[:-1]]
    lines.append("")
    for call in python.calls(api):
        lines += body(call)
    return lines


def header(api):
    lines = [
        *head("See calls.c."),
        "#ifndef DATALINE_PYTHON_CALLS_H",
        "#define DATALINE_PYTHON_CALLS_H",
        "",
        '#include "call.h"',
        "",
    ]
    lines += [
        f"PyObject* {one['name'].removeprefix('dl_')}_dict(const {one['name']}* from);" for one in python.dicts(api)
    ]
    for kind, calls in by_kind(python.calls(api)).items():
        lines += ["", *(f"{prototype(call)};" for call in calls), f"#define {kind.upper()}_CALLS \\"]
        lines += [f"{line}, \\" for line in map(row, calls[:-1])] + [row(calls[-1])]
    return [*lines, "", "#endif"]


def stub(api):
    lines = [
        f"# The generated methods of _core. {HEAD}",
        "# SPDX-License-Identifier: Apache-2.0",
        "from typing import Any, Optional",
    ]
    for kind, calls in by_kind(python.calls(api)).items():
        lines += ["", f"class {camel(kind)}Calls:"]
        for call in calls:
            parameters = "".join(f"{name}: {c_type}, " for name, c_type in call.arguments().items())
            signature = f"self, {parameters}/" if parameters else "self"
            lines.append(f"    def _{call.method}({signature}) -> {call.result()}: ...")
    return lines


def files(api):
    return {
        f"{FOLDER}/calls.c": source(api),
        f"{FOLDER}/calls.h": header(api),
        f"{python.FOLDER}/_core_calls.pyi": stub(api),
    }
