"""clang-format has nothing to change. Exit status 77 (skipped) where clang-format is missing.

  check_format.py ROOT [--fix]
  check_format.py --self-test

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import subprocess
import sys

import tree

# Versions differ in details of layout, and the tree obeys one of them.
VERSION = 14


def program():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            told = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
            if f" {VERSION}." in told:
                return name
    print(f"clang-format {VERSION} is not installed")
    sys.exit(77)


def check(root):
    paths = [path for path in tree.files(root) if path.suffix not in (".cu", ".cuh")]
    made = subprocess.run([program(), "--dry-run", *paths], cwd=root, capture_output=True, text=True, check=False)
    first_of = {}  # a file's first finding says enough
    for line in made.stderr.splitlines():
        if "clang-format-violations" in line:
            first_of.setdefault(line.split(":")[0], line)
    return list(first_of.values())


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        style = pathlib.Path(__file__).parents[2].joinpath(".clang-format").read_text(encoding="utf-8")
        good, bad = "int f(int* x);\n", "int f( int *x );\n"
        tree.expect(check, [("good", {".clang-format": style, "core/base/a.h": good}, 0),
                            ("bad", {".clang-format": style, "core/base/a.h": bad}, 1)])
    if sys.argv[2:] == ["--fix"]:
        sys.exit(subprocess.run([program(), "-i", *tree.files(sys.argv[1])], cwd=sys.argv[1], check=False).returncode)
    tree.report(check(sys.argv[1]), "clang-format")
