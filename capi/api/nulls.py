"""Calls with a NULL for each pointer of each function, for tests/capi/null_test.cpp.

SPDX-License-Identifier: Apache-2.0
"""

from ctypes_of import pointee
from exports import exported
from words import HEAD, call_lines

WIDTH = 110
# Parameters that may be NULL in every function: extensions that are only read, and what is passed on as it is.
OPTIONAL = {"const dl_extensions* extensions", "dl_release release", "void* context", "void* stream"}
# Those of one function. A new parameter is not optional until it is listed here.
OPTIONAL_IN = {
    "dl_dataset_from_arrow": {"keys"},
    "dl_dataset_from_arrow_array": {"keys"},
    "dl_dataset_identity": {"text"},
    "dl_dataset_image_info": {"field"},
    "dl_dataset_mix": {"stages"},
    "dl_dataset_zip": {"names"},
    "dl_file_read": {"cancelled"},
    "dl_loader_position": {"epoch", "step"},
    "dl_loader_state_save": {"text"},
    "dl_loader_trace_start": {"path", "sink"},  # one of the two
    "dl_metrics_text": {"labels", "text"},
    "dl_writer_append": {"position"},
    "dl_writer_create": {"job"},
}
# Functions whose answer without a handle is about the library.
ABOUT_LIBRARY = {"dl_transform_count", "dl_format_count"}


def is_pointer(parameter):
    return parameter["type"].endswith("*") or parameter["type"] == "dl_release"


def is_optional(function, place, parameter):
    text = f"{parameter['type']} {parameter['name']}"
    as_defaults = parameter["type"] == "const dl_options*" and place > 0  # dl_options_copy is about its options
    return as_defaults or text in OPTIONAL or parameter["name"] in OPTIONAL_IN.get(function["name"], ())


def value(parameter, handles):
    """An argument that is not NULL."""
    if not is_pointer(parameter):
        return "1"
    if parameter["type"] == "dl_release":
        return "nullptr"
    target = pointee(parameter["type"])[0]
    if target in handles:
        return f"o.{target.removeprefix('dl_')}.get()"
    if parameter["type"] == "const char*":
        return '"x"'
    kind = "int64_t" if target == "void" else target.removeprefix("struct ")
    return f"room<{kind}>()"


def cases(function, handles):
    """A row for each pointer that must not be NULL: the others have a value."""
    parameters = function["parameters"][:-1]
    for place, parameter in enumerate(parameters):
        if is_pointer(parameter) and not is_optional(function, place, parameter):
            values = ["nullptr" if at == place else value(one, handles) for at, one in enumerate(parameters)]
            head = [function["name"], f'"{parameter["name"]}"']
            yield call_lines("NULL_CASE(", [*head, *values], ")", " " * 10, WIDTH)


def call(function):
    """Nothing but NULLs, for a function that cannot fail."""
    values = ["nullptr" if is_pointer(one) else "0" for one in function["parameters"]]
    return call_lines("NULL_CALL(", [function["name"], *values], ")", " " * 10, WIDTH)


def rows(api):
    handles = {one["name"] for one in api["handles"]}
    lines = [f"// {HEAD}", "// SPDX-License-Identifier: Apache-2.0", "#ifdef NULL_CASE"]
    calls = []
    for function in exported(api):
        parameters = function["parameters"]
        if parameters and parameters[-1]["type"] == "dl_error*" and function["returns"] == "dl_status":
            lines += [line for made in cases(function, handles) for line in made]
        elif any(is_pointer(one) for one in parameters) and function["name"] not in ABOUT_LIBRARY:
            calls += call(function)
    return [*lines, "#else", *calls, "#endif"]


def files(api):
    return {"tests/capi/null_rows.inc": rows(api)}
