"""The Julia over simple calls: the named tuples that functions return, and the functions with their documentation.

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import array
from julia import FOLDER, head
from methods import choice_of, choices, kind_of, members, methods, values
from speak import Speaker
from words import CODE, camel, outside_code, wrapped

WIDTH = 128
NAMES = {"dl_loader_next": "next!", "dl_epoch_next": "next!", "dl_opening_wait": "fetch"}  # where the rule has others
OWNERS = {
    "dl_dataset": "Dataset",
    "dl_loader": "Loader",
    "dl_opening": "Opening",
    "dl_metrics": "Metrics",
    "dl_writer": "Writer",
}
SOFT = ("DL_CANCELLED", "DL_INTERRUPTED")  # results that are thrown as errors are


def name_of(method):
    """A function that changes its argument ends in !; one without more arguments is a verb of its own, such as finish."""
    return f"{method.name}!" if method.shape == "set" and method.parameters else method.name


def owner_of(method):
    return OWNERS[method.handle].lower()


class Julia(Speaker):
    NONE = "`nothing`"

    def __init__(self, api):
        super().__init__(api)
        self.returned = {
            one.struct["name"]: f"{one.name}({owner_of(one)})" for one in methods(api) if one.shape == "record"
        }

    def code(self, name):
        return f"`Dataline.{name.removeprefix('DL_')}`" if name.startswith("DL_ERR_") or name in SOFT else f"`{name}`"

    def constant(self, name):
        group = next((one for one in CHOICES if name.startswith(f"{one}_")), None)
        return f"`:{name.removeprefix(f'{group}_').lower()}`" if group else f"`{name}`"

    def value(self, struct):
        return f"`{self.returned.get(struct, struct)}`"

    def member(self, struct, member):
        return f"`{self.returned.get(struct, struct)}.{member}`"

    def function(self, handle, name):
        return f"`{NAMES.get(f'{handle}_{name}', name)}`"

    def other(self, name):
        return f"`{name}`"

    def text(self, paragraph):
        marked = super().text(outside_code(paragraph, lambda part: CODE.sub(r"`\1`", part)))
        return marked.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")

    def doc(self, paragraphs):
        return wrapped(self.about(paragraphs), "", WIDTH, self.text)


CHOICES = {"DL_TUNE": "TUNE_MODES"}


def converted(struct, member):
    """The member of the struct `from`, as a named tuple has it."""
    name, kind = f"from.{member['name']}", kind_of(member)
    if kind == "text":
        return (
            f"text_of(C{camel(struct['name'])}, memory, :{member['name']})"
            if array(member["type"])
            else f"text({name})"
        )
    made = {
        "code": f"Status({name})",
        "choice": f"get({CHOICES.get(choice_of(member))}, {name}, :unknown)",
        "flag": f"{name} != 0",
        "maybe": f"{name} < 0 ? nothing : {name}",
    }
    return made.get(kind) or (f"Int({name})" if member["type"] == "int32_t" else name)


def records(api):
    lines = head("What functions return: structs that the library filled, as named tuples.")
    for group in choices(api):
        values_of = [(one["name"], one["name"].removeprefix(f"{group['name']}_").lower()) for one in group["values"]]
        lines += [
            f"const {CHOICES[group['name']]} = Dict({', '.join(f'{name} => :{word}' for name, word in values_of)})",
            "",
        ]
    for struct in values(api):
        kind = f"C{camel(struct['name'])}"
        lines += [
            f"function record_of(::Type{{{kind}}}, memory)",
            f"    from = read_struct({kind}, memory)",
            "    return (",
        ]
        lines += [f"        {one['name']} = {converted(struct, one)}," for one in members(struct)]
        lines += ["    )", "end", ""]
    return lines


def table_of(julia, struct):
    yield from ["", "| member | is |", "|---|---|"]
    for one in members(struct):
        yield f"| `{one['name']}` | {julia.text(julia.member_doc(one))} |"


def method(julia, one):
    name, owner = name_of(one), owner_of(one)
    given = "".join(f", {each['name']}" for each in one.parameters)
    yield from ["", '"""', f"    {name}({owner}{given})", "", *julia.doc(one.doc())]
    yield from ["", *julia.doc([f"Throws {' '.join(one.errors())}"])] if one.errors() else []
    if one.struct:
        is_list = one.shape == "list"
        yield from ["", "A vector of named tuples:" if is_list else "A named tuple:", *table_of(julia, one.struct)]
    yield '"""'
    typed, kind = f"{owner}::{OWNERS[one.handle]}", f"C{camel(one.struct['name'])}" if one.struct else ""
    if one.shape == "set":
        types = {
            "int32_t": "Int32",
            "int64_t": "Int64",
            "uint32_t": "UInt32",
            "uint64_t": "UInt64",
            "double": "Float64",
        }
        declared = "".join(
            f", {each['name']}::{'Real' if each['type'] == 'double' else 'Integer'}" for each in one.parameters
        )
        passed = "".join(f"{types[each['type']]}({each['name']}), " for each in one.parameters)
        yield f"{name}({typed}{declared}) ="
        yield f"    calling((handle, error) -> {one.c_name}(handle, {passed}error), {owner})"
    elif one.shape == "record":
        yield f"{name}({typed}) = read_record({one.c_name}, {kind}, {owner})"
    else:
        yield f"{name}({typed}) = read_records({one.count['name']}, {one.c_name}, {kind}, {owner})"


def all_methods(api):
    julia, lines = Julia(api), head("The functions that are one call of the library.")[:-1]
    for one in methods(api):
        lines += method(julia, one)
    return lines


def files(api):
    return {f"{FOLDER}/records.jl": records(api), f"{FOLDER}/methods.jl": all_methods(api)}
