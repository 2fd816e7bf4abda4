"""Which functions of the header become methods of the bindings without help, and what is known of them in every language.

A function of a handle has one of three shapes, or is written by hand in each language:

  set      dl_status f(dl_handle*, numbers..., dl_error*)              returns nothing
  record   dl_status f(const dl_handle*, dl_struct* out, dl_error*)    returns the struct as a value of the language
  list     f_count and f_at, which fills such a struct for an index    returns all of them

SPDX-License-Identifier: Apache-2.0
"""

import re

from ctypes_of import array, pointee

CLASSES = {
    "dl_dataset": "Dataset",
    "dl_loader": "Loader",
    "dl_epoch": "Epoch",
    "dl_opening": "Opening",
    "dl_metrics": "Metrics",
    "dl_writer": "Writer",
    "dl_batch": "Batch",
    "dl_cancel_token": "CancelToken",
    "dl_options": "Options",
    "dl_extensions": "Extensions",
    "dl_file": "File",
}
# Functions of one of the shapes that need an idiom, with the reason.
BY_HAND = {
    "dl_loader_work": "DL_TIMEOUT is an answer, not an error",
    "dl_loader_begin_epoch": "DL_END is an answer, not an error",
    "dl_loader_seek": "a position is one value in some languages; Go repeats the cancel of a Close",
    "dl_loader_trace_stop": "releases what received the trace",
    "dl_loader_plan_at": "a stage knows its device only with the fields of the loader",
    "dl_metrics_at": "a thread is a worker's number, or one of two words",
    "dl_batch_get_info": "a batch borrows the arrays of it",
}
NUMBERS = ("int32_t", "int64_t", "uint32_t", "uint64_t", "double")


class Method:
    """A function, or a pair of count and at, that becomes one method."""

    def __init__(self, shape, handle, function, struct=None, count=None):
        self.shape, self.handle, self.function, self.struct, self.count = shape, handle, function, struct, count
        self.c_name = function["name"]
        self.name = name_of(self.c_name, handle)
        if shape == "list":
            self.name = self.name.removesuffix("_at") + "s"
        self.parameters = (
            [one for one in function["parameters"][1:] if one["type"] in NUMBERS] if shape == "set" else []
        )

    def doc(self):
        """Paragraphs without what is about C: for a record the struct's description, for a list that of its count."""
        own = [re.sub(r"^Fills \*out[^.]*\.\s*", "", one) for one in self.function.get("doc", [])]
        own = [one for one in own if one]
        if self.shape == "list":
            counted = self.count["doc"][0].replace("The number of ", "The ", 1).replace("; 0 for ", "; none for ")
            return [counted, *self.count["doc"][1:]]
        return [*self.struct["doc"], *own] if self.struct else own

    def errors(self):
        """The errors that the header documents; those of a list are errors of the index."""
        return [] if self.shape == "list" else self.function.get("errors", [])


def name_of(function, handle):
    """dl_loader_wait_handle -> wait_handle; dl_writer_get_info -> info; dl_loader_state_save -> save_state"""
    name = function.removeprefix(f"{handle}_").removeprefix("get_")
    found = re.fullmatch(r"state_(save|load)", name)
    return f"{found[1]}_state" if found else name


def handle_of(function):
    """The handle of the first parameter, where the name of the function starts with it."""
    first = function["parameters"][0]["type"] if function["parameters"] else ""
    target = pointee(first)
    handle = target[0] if target else ""
    return handle if handle in CLASSES and function["name"].startswith(f"{handle}_") else None


def shape_of(function, structs, names):
    """(shape, name of the struct) of a function, or None."""
    types = [one["type"] for one in function["parameters"][1:]]
    if function["returns"] != "dl_status" or types[-1] != "dl_error*":
        return None
    inner = types[:-1]
    if all(one in NUMBERS for one in inner):
        return ("set", None)
    struct = inner[-1].removesuffix("*")
    if struct not in structs or inner[-1].startswith("const"):
        return None
    if len(inner) == 1:
        return ("record", struct)
    counted = function["name"].removesuffix("_at") + "_count"
    return ("list", struct) if len(inner) == 2 and inner[0] in NUMBERS and counted in names else None


def methods(api, by_hand=()):
    """All of them, in the order of the header, without those that a language has by hand."""
    structs = {one["name"]: one for one in api["structs"]}
    functions = {one["name"]: one for one in api["functions"]}
    found = []
    for name, function in functions.items():
        handle = handle_of(function)
        shape = shape_of(function, structs, functions) if handle else None
        if shape and name not in BY_HAND and name not in by_hand:
            count = functions[name.removesuffix("_at") + "_count"] if shape[0] == "list" else None
            found.append(Method(shape[0], handle, function, structs.get(shape[1]), count))
    gone = [name for name in [*BY_HAND, *by_hand] if name not in functions]
    if gone:
        raise ValueError(f"{gone[0]} is written by hand, and the header does not have it")
    return found


def values(api):
    """The structs that methods return, in the order of the header."""
    used = {one.struct["name"] for one in methods(api) if one.struct}
    return [one for one in api["structs"] if one["name"] in used]


def choices(api):
    """The groups of constants that members of these structs choose from."""
    used = {choice_of(member) for one in values(api) for member in members(one)}
    return [group for group in api["constants"] if group["name"] in used]


def members(struct):
    """The members that are values: without the size and without what is reserved."""
    return [one for one in struct["members"] if one["name"] != "struct_size" and not one["name"].startswith("reserved")]


def choice_of(member):
    """DL_TUNE for a member whose comment is `DL_TUNE_*`."""
    found = re.match(r"(DL_\w+)_\*", " ".join(member.get("doc", [])))
    return found[1] if found else None


def kind_of(member):
    """What a member is: code, choice, flag (its comment starts with "1: "), time, text, maybe (-1: none), number."""
    doc = " ".join(member.get("doc", []))
    if member["type"] == "dl_status":
        return "code"
    if choice_of(member):
        return "choice"
    if member["type"] == "int32_t" and doc.startswith("1: "):
        return "flag"
    if member["name"].endswith("_ns"):
        return "time"
    if member["type"] == "const char*" or (array(member["type"]) or [""])[0] == "char":
        return "text"
    return "maybe" if member["type"] == "int64_t" and re.search(r"(^|; )-1: ", doc) else "number"
