"""What Python's package makes of the header: which calls are simple, and how structs, words and status codes look.

A simple call has a handle, scalars and text as arguments, and scalars, text or a struct of those as results. python_c.py
makes the extension's half of it, python_methods.py the method. What is not as in the header is listed here.

SPDX-License-Identifier: Apache-2.0
"""

import re

from ctypes_of import pointee
from words import camel

FOLDER = "bindings/python/src/dataline"
# Handles whose objects have a Handle of handle.h, which is what a generated call enters.
HANDLES = ("dl_dataset", "dl_loader", "dl_opening", "dl_writer")
TYPES = {
    "int32_t": "int",
    "int64_t": "int",
    "intptr_t": "int",
    "dl_status": "int",
    "double": "float",
    "const char*": "str",
}

# Calls that the extension contains by hand, or that Python does not have.
BY_HAND = {
    "dl_dataset_count": "len(dataset)",
    "dl_dataset_format": "one call with the URI and the notes",
    "dl_dataset_uri": "see dl_dataset_format",
    "dl_dataset_note_count": "see dl_dataset_format",
    "dl_dataset_note": "see dl_dataset_format",
    "dl_dataset_class_count": "one call with the names, which may not be UTF-8",
    "dl_dataset_class_name": "see dl_dataset_class_count",
    "dl_loader_steps": "len(loader)",
    "dl_loader_state_load": "load_state",
    "dl_loader_trace_stop": "ends the pieces of the trace too",
    "dl_loader_work": "Python's `next` works without workers",
    "dl_loader_begin_epoch": "`for` does it",
}
# Generated in the extension, but the method is written by hand: it renames, or joins calls, or accepts more.
IDIOMATIC = {
    "dl_dataset_image_info",
    "dl_dataset_part_at",
    "dl_dataset_part_count",
    "dl_loader_bad_sample_at",
    "dl_loader_bad_sample_count",
    "dl_loader_part_at",
    "dl_loader_part_count",
    "dl_loader_pixel_scale",
    "dl_loader_plan_at",
    "dl_loader_plan_count",
    "dl_loader_position",
    "dl_loader_seek",
    "dl_loader_wait_handle",
    "dl_opening_wait_handle",
    "dl_writer_finish",
    "dl_writer_get_info",
    "dl_writer_position",
}
# Classes of structs that methods by hand return too, and names that are not the header's.
CLASSES = {"dl_part": "Part", "dl_progress": "OpenProgress", "dl_stall": "Stall"}

# Structs that the extension's own code returns as dicts.
DICTS = ("dl_launcher", "dl_metric", "dl_option_info", "dl_stall")

# Exceptions of single status codes; the others have that of their band.
EXCEPTIONS = {
    "DL_ERR_UNKNOWN_OPTION": "UnknownOptionError",
    "DL_ERR_NO_SUCH_FIELD": "NoSuchFieldError",
    "DL_ERR_UNSUPPORTED": "UnsupportedError",
    "DL_ERR_WRONG_STATE": "WrongStateError",
    "DL_ERR_FORKED": "ForkedError",
    "DL_ERR_NO_MEMORY": "MemoryShortError",
    "DL_ERR_OVER_BUDGET": "MemoryShortError",
    "DL_ERR_TOO_MANY_FILES": "TooManyFilesError",
    "DL_ERR_NOT_FOUND": "NotFoundError",
    "DL_ERR_PERMISSION": "NoPermissionError",
    "DL_ERR_NOT_A_FILE": "SystemCallError",
    "DL_ERR_IO": "SystemCallError",
    "DL_CANCELLED": "CancelledError",
    "DL_INTERRUPTED": "Interrupted",
    "DL_TIMEOUT": "Timeout",
    "DL_END": "EndOfJob",
}
BANDS = {
    "The call.": "CallError",
    "The machine.": "MachineError",
    "The data.": "DataError",
    "Saved state.": "StateError",
    "The accelerator.": "DeviceError",
    "The library.": "InternalError",
}


def exceptions(api):
    """{status code: class} of all that become exceptions."""
    found = {one["name"]: EXCEPTIONS.get(one["name"], BANDS.get(one.get("band"))) for one in api["status_codes"]}
    return {name: kind for name, kind in found.items() if kind}


class Call:
    """A simple call: the kind of its object, its method, arguments and results. `struct`: of its one result, or None."""

    def __init__(self, function, structs):
        self.function, self.name = function, function["name"]
        parameters = function["parameters"]
        self.handle = pointee(parameters[0]["type"])[0]
        self.kind = self.handle.removeprefix("dl_")
        self.method = self.name.removeprefix(self.handle + "_")
        self.fails = function["returns"] == "dl_status"
        rest = parameters[1 : -1 if self.fails else None]
        self.inputs = [one for one in rest if one["type"] in TYPES]
        self.outputs = [one for one in rest if one["type"] not in TYPES]
        self.struct = structs.get(self.outputs[0]["type"].rstrip("*")) if len(self.outputs) == 1 else None
        self.is_public = self.name not in IDIOMATIC

    def is_optional(self, parameter):
        """Text that may be NULL, which is None in Python."""
        doc = " ".join(self.function.get("doc", []))
        return parameter["type"] == "const char*" and f"If {parameter['name']} is NULL" in doc

    def arguments(self):
        """{name: Python's type} of the arguments."""
        types = {one["name"]: TYPES[one["type"]] for one in self.inputs}
        return types | {one["name"]: "Optional[str]" for one in self.inputs if self.is_optional(one)}

    def result(self):
        """The Python type that the function of the C extension returns."""
        if self.struct:
            return "dict[str, Any]"
        found = [TYPES[one["type"].removesuffix("*")] for one in self.outputs]
        found += [] if self.fails else [TYPES[self.function["returns"]]]
        return found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]" if found else "None"


def has_values(struct):
    """Whether all members are scalars and text."""
    return all(one["type"] in (*TYPES, "uint32_t") or one["type"].startswith("char[") for one in struct["members"])


def is_simple(function, structs):
    parameters = function["parameters"]
    target = pointee(parameters[0]["type"]) if parameters else None
    if not target or target[0] not in HANDLES or function["name"] in BY_HAND:
        return False
    fails = function["returns"] == "dl_status"
    rest = [one["type"] for one in parameters[1 : -1 if fails else None] if one["type"] not in TYPES]
    scalars = all(one in [f"{name}*" for name in TYPES] for one in rest)
    struct = len(rest) == 1 and rest[0] in [f"{name}*" for name in structs]
    return (scalars or struct) if fails else not rest and function["returns"] in TYPES


def value_structs(api):
    return {one["name"]: one for one in api["structs"] if has_values(one)}


def calls(api):
    structs = value_structs(api)
    return [Call(one, structs) for one in api["functions"] if not one.get("inline") and is_simple(one, structs)]


def dicts(api):
    """The structs that become dicts."""
    used = {one.struct["name"] for one in calls(api) if one.struct} | set(DICTS)
    return [one for one in api["structs"] if one["name"] in used]


def values(struct):
    """The members that Python sees."""
    return [one for one in struct["members"] if one["name"] not in ("struct_size", "reserved")]


def is_flag(member):
    return member["type"] == "int32_t" and " ".join(member.get("doc", [])).startswith("1: ")


def words_of(member, api):
    """The constants of a member that holds one of them: it becomes a word. None: a number."""
    found = re.match(r"(DL_[A-Z]+)_", " ".join(member.get("doc", [])))
    groups = {one["name"]: one for one in api["constants"]}
    return groups.get(found[1]) if found and found[1] != "DL_SCOPE" else None


def class_of(name):
    return CLASSES.get(name) or camel(name)
