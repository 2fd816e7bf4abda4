"""What the law tests share: the files of the tree, and how findings are told.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import tempfile

CODE = {".c", ".cpp", ".h", ".hpp", ".cu", ".cuh"}
FOLDERS = ("capi", "core", "bindings", "plugins", "examples", "tests", "bench")
NOT_OURS = {"build", "target", "node_modules", "__pycache__", ".venv"}  # what builds leave inside the tree


def files(root, suffixes=CODE, folders=FOLDERS):
    """Paths relative to root, sorted. `suffixes` None: any."""
    found = []
    for folder in folders:
        for path in pathlib.Path(root, folder).rglob("*"):
            parts = path.relative_to(root).parts
            hidden = any(part in NOT_OURS or part.startswith(".") for part in parts)
            if path.is_file() and (suffixes is None or path.suffix in suffixes) and not hidden:
                found.append(path.relative_to(root))
    return sorted(found)


def lines(root, path):
    return pathlib.Path(root, path).read_text(encoding="utf-8").splitlines()


def write_tree(root, contents):
    """Makes files out of {path: text}; for self-tests."""
    for path, text in contents.items():
        target = pathlib.Path(root, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def expect(check, cases):
    """A self-test: `check(root)` finds exactly `count` faults in a tree of `contents`, for each case (name,
    contents, count). A check that cannot fail proves nothing."""
    wrong = 0
    for name, contents, count in cases:
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, contents)
            found = check(root)
        if len(found) != count:
            wrong += 1
            print(f"{name}: expected {count} findings, got {len(found)}: {found}")
    print(f"{len(cases)} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


def report(found, what):
    for finding in found:
        print(finding)
    print(f"{what}: {len(found)} findings")
    sys.exit(1 if found else 0)
