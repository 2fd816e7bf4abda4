"""C that compiles only if api.json matches the header: a compiler checks the parser.

  prove.py API_JSON      prints the C

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import sys

from ctypes_of import array


def declared(type_name, name):
    items = array(type_name)
    return f"{items[0]} {name}[{items[1]}]" if items else f"{type_name} {name}"


def list_of(parameters):
    return ", ".join(declared(one["type"], one["name"]) for one in parameters) or "void"


def member_lines(struct):
    name = struct["name"]
    yield f"SAME(sizeof({name}), {struct['size']});"
    for one in struct["members"]:
        items = array(one["type"])
        pointer = f"{items[0]} (*)[{items[1]}]" if items else f"{one['type']}*"
        yield f"SAME(offsetof({name}, {one['name']}), {one['offset']});"
        yield f"SAME(sizeof((({name}*)0)->{one['name']}), {one['size']});"
        yield f"IS(&(({name}*)0)->{one['name']}, {pointer});"


def proof(api):
    """The source: one statement a line, so that the compiler's message shows which one is wrong."""
    lines = [
        "#include <dataline.h>",
        '#define SAME(left, right) _Static_assert((left) == (right), #left " is not " #right)',
        '#define IS(value, type) _Static_assert(_Generic((value), type: 1, default: 0), #value " is no " #type)',
    ]
    lines += [f"IS(({one['name']})0, {one['type']});" for one in api["aliases"]]
    lines += [f"{name};" for name in (f"struct {one}" for one in api["foreign"])]
    lines += [f"typedef {one['returns']} (*{one['name']})({list_of(one['parameters'])});" for one in api["callbacks"]]
    lines += [
        f"SAME({one['name']}, {one['value']});"
        for one in [*api["status_codes"], *(value for group in api["constants"] for value in group["values"])]
    ]
    lines += [f"SAME(DL_ABI_VERSION, {api['abi_version']});"]
    for struct in api["structs"]:
        lines += member_lines(struct)
    # A second declaration of another type is an error in C.
    lines += [
        f"{one['returns']} {one['name']}({list_of(one['parameters'])});"
        for one in api["functions"]
        if not one.get("inline")
    ]
    lines.append("int main(void) {")
    for one in api["handles"]:
        lines.append(f"  {one['name']}* a_{one['name']} = 0; (void)a_{one['name']};")
    for one in api["initializers"]:
        struct = one["name"].lower().removesuffix("_init")
        lines.append(f"  {struct} a_{struct} = {one['name']}; (void)a_{struct};")
    for one in api["functions"]:
        if one.get("inline"):
            lines.append(
                f"  {one['returns']} (*a_{one['name']})({list_of(one['parameters'])}) = {one['name']}; "
                f"(void)a_{one['name']};"
            )
    return "\n".join([*lines, "  return 0;", "}", ""])


if __name__ == "__main__":
    print(proof(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))), end="")
