"""A person edits few places for a new C function. The example of CONTRIBUTING.md, a simple function, proves it: at most MAX files that
are written by hand name it or its method. The files of a room of core count as one: how many of its own a function passes is the room's.

  check_edits.py ROOT [FUNCTION]   prints the files; with a function of the header, those of that one
  check_edits.py --self-test       proves that it can fail

Not counted: what is generated (its head states so), what is recorded, and UNCOUNTED.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

import check_contributing
import tree

MAX = 8
GENERATED = re.compile(r"[Gg]enerated from capi/api\.json by capi/api/generate\.py")
HEAD_BYTES = 600  # where a generated file states that it is one
RECORDED = ("capi/api.json", "capi/abi/", "tests/results/")
UNCOUNTED = {
    "tests/law/": "the laws name it as their example",
    "tests/interleave/": "the search calls what it finds useful; no function needs to be part of it",
}


def counted(path, text):
    excluded = any(path.startswith(one) for one in (*RECORDED, *UNCOUNTED))
    return not excluded and not GENERATED.search(text[:HEAD_BYTES])


def by_hand(root, function):
    """The files written by hand that name a function, or its method as a language spells it."""
    needle = check_contributing.plain(check_contributing.without_handle(function))
    files = check_contributing.texts(root)
    return sorted(path for path, text in files.items() if needle in check_contributing.plain(text) and counted(path, text))


def places(files):
    """The files, and instead of those of a room of core the room."""
    return sorted({"/".join(path.split("/")[:2]) if path.startswith("core/") else path for path in files})


def example(root):
    page = pathlib.Path(root, check_contributing.PAGE).read_text(encoding="utf-8")
    section = page.partition("Add a C function")[2]
    found = check_contributing.EXAMPLE.search(section)
    return found[1] if found else None


def check(root, show=lambda line: None, function=None):
    function = function or example(root)
    if not function:
        return [f"{check_contributing.PAGE}: 'Add a C function' has no line 'Example: `NAME`'"]
    found = by_hand(root, function)
    edited = places(found)
    show(f"{function}: {len(found)} files by hand, in {len(edited)} places")
    for path in found:
        show(f"  {path}")
    if f"{function}(" not in pathlib.Path(root, "capi/dataline.h").read_text(encoding="utf-8"):
        return [f"{function} is not in capi/dataline.h"]
    if len(edited) > MAX:
        return [f"{function} is named in {len(edited)} places that are written by hand, at most {MAX} are allowed: generate what repeats the header"]
    return []


def many(count):
    return {f"core/room{at}/part.cpp": "Status Loader::set_workers(int64_t count) {}\n" for at in range(count)}


PAGE = "### Add a C function\nExample: `dl_loader_set_workers`.\n"
FEW = {check_contributing.PAGE: PAGE, "capi/dataline.h": "dl_status dl_loader_set_workers(dl_loader* loader);\n", **many(MAX - 1)}
MARK = "// Generated from capi/api.json by capi/api/generate.py; do not edit.\n"
SELF_TEST = [
    ("as many as are allowed", FEW, 0),
    ("one more", {**FEW, "core/base/more.cpp": "set_workers(2)"}, 1),
    ("a method of Go", {**FEW, "bindings/go/stats.go": "func (l *Loader) SetWorkers(count int) error"}, 1),
    ("a page", {**FEW, "docs/pages/tuning.md": "call `set_workers!`"}, 1),
    ("a change that users read", {**FEW, "CHANGELOG.md": "`dl_loader_set_workers`"}, 1),
    ("a generated file", {**FEW, "bindings/go/methods.go": MARK + "func (l *Loader) SetWorkers(count int) error"}, 0),
    ("a file that mentions the mark later", {**FEW, "bindings/go/a.go": "SetWorkers" + "\n" * HEAD_BYTES + MARK}, 1),
    ("a recorded file", {**FEW, "capi/abi/symbols.txt": "dl_loader_set_workers"}, 0),
    ("a law", {**FEW, "tests/law/a.py": "dl_loader_set_workers"}, 0),
    ("another function", {**FEW, "core/base/more.cpp": "num_workers(2)"}, 0),
    ("no example", {**FEW, check_contributing.PAGE: "### Add a C function\n"}, 1),
    ("an example that does not exist", {**FEW, "capi/dataline.h": ""}, 1),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(check, SELF_TEST)
    tree.report(check(sys.argv[1], print, *sys.argv[2:3]), "files to edit for a C function")
