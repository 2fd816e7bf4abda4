"""The names that leave the library: the version script of libdataline.so, and the list for plug-ins.

SPDX-License-Identifier: Apache-2.0
"""

from words import HEAD

UNSTABLE = "DATALINE_UNSTABLE"


def release_number(text):
    """0.10 follows 0.9."""
    return tuple(int(part) for part in text.split("."))


def exported(api):
    return [one for one in api["functions"] if not one.get("inline")]


def node(name, functions, base="", before=()):
    names = [f"    {one['name']};" for one in functions]
    return [*before, f"{name} {{", "  global:", *names, *([] if base else ["  local: *;"]), f"}}{base and ' ' + base};"]


def version_script(api):
    """A node for each release that added stable functions, based on the node before; one for the unstable functions."""
    functions = exported(api)
    stable = [one for one in functions if not one.get("unstable")]
    lines, base = [f"/* {HEAD}", " * SPDX-License-Identifier: Apache-2.0 */"], ""
    for release in sorted({one["since"] for one in stable}, key=release_number):
        name = f"DATALINE_{release}"
        lines += node(name, [one for one in stable if one["since"] == release], base)
        base = name
    unstable = [one for one in functions if one.get("unstable")]
    return lines + node(UNSTABLE, unstable, before=["/* The part of dataline.h that is marked unstable. */"])


def plugin_list(api):
    return [
        "// Every function of dataline.h, in its order, for plug-ins that do not link with the library (dl_plugin.find).",
        f"// {HEAD}",
        "// SPDX-License-Identifier: Apache-2.0",
        *(f"FUNCTION({one['name']})" for one in exported(api)),
    ]


def files(api):
    return {"capi/exports.map": version_script(api), "capi/functions.def": plugin_list(api)}
