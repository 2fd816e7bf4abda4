"""The exact names that leave the library: what dataline.h declares = what libdataline.so exports, each in the
version node that capi/abi/symbols.txt records = the only global names of libdataline.a.

  check_symbols.py HEADER SYMBOLS_TXT LIBDATALINE_SO LIBDATALINE_A
  check_symbols.py --list LIBDATALINE_SO     prints the list that symbols.txt keeps
  check_symbols.py --self-test CC            builds small libraries with faults and proves that each is found

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def declared(header):
    """Names of the functions behind DL_API."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    return {re.search(r"(\w+)\s*\(", part).group(1) for part in re.findall(r"\bDL_API\b([^;]*);", text)}


def exported(library):
    """Sorted lines "name NODE" (or "name" without a node) of a shared library's dynamic symbols."""
    found = []
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the version nodes themselves
            found.append(" ".join(re.split(r"@+", name)))
    return sorted(found)


def archive_globals(library):
    return {line.split()[-1] for line in run("nm", "-g", "--defined-only", library).splitlines() if len(line.split()) == 3}


def differences(got, want, got_name, want_name):
    return ([f"{got_name} has {name}, {want_name} has not" for name in sorted(set(got) - set(want))] +
            [f"{want_name} has {name}, {got_name} has not" for name in sorted(set(want) - set(got))])


def check(header, symbols, shared, static):
    kept = pathlib.Path(symbols).read_text(encoding="utf-8").split("\n")
    kept = [line for line in kept if line and not line.startswith("#")]
    names = declared(header)
    exports = exported(shared)
    return (differences([line.split()[0] for line in exports], names, "libdataline.so", "dataline.h") +
            differences(exports, kept, "libdataline.so", "capi/abi/symbols.txt") +
            differences(archive_globals(static), names, "libdataline.a", "dataline.h"))


MAP = "V_1 { global: dl_*; local: *; };\n"
GOOD = {"h": "DL_API int dl_a(void);\nDL_API DL_MUST_CHECK const char *dl_b(int x,\n int y);\n",
        "c": "int dl_a(void) { return 0; }\nconst char *dl_b(int x, int y) { return x + y ? 0 : \"\"; }\nint inner; int inside(void) { return inner; }\n",
        "map": MAP, "symbols": "dl_a V_1\ndl_b V_1\n", "keep": "dl_*"}
SELF_TEST = [
    ("as it should be", {}, 0),
    ("a name too many in the library", {"c": GOOD["c"] + "int dl_c(void) { return 1; }\n"}, 3),
    ("declared, not there", {"h": GOOD["h"] + "DL_API int dl_c(void);\n"}, 2),
    ("leaks without a version script", {"map": "V_1 { global: *; };\n"}, 4),
    ("another node", {"map": "V_1 { global: dl_a; local: *; }; V_2 { global: dl_b; } V_1;\n"}, 2),
    ("an archive that leaks", {"keep": "*"}, 2),
]


def self_test(compiler):
    wrong = 0
    for name, change, count in SELF_TEST:
        case = {**GOOD, **change}
        with tempfile.TemporaryDirectory() as folder:
            tree.write_tree(folder, case | {"x.c": case["c"]})
            run(compiler, "-fPIC", "-c", f"{folder}/x.c", "-o", f"{folder}/x.o")
            run(compiler, "-shared", f"-Wl,--version-script={folder}/map", f"{folder}/x.o", "-o", f"{folder}/x.so")
            run("objcopy", "-w", f"--keep-global-symbol={case['keep']}", f"{folder}/x.o")
            run("ar", "rcs", f"{folder}/x.a", f"{folder}/x.o")
            found = check(f"{folder}/h", f"{folder}/symbols", f"{folder}/x.so", f"{folder}/x.a")
        if len(found) != count:
            wrong += 1
            print(f"{name}: expected {count} findings, got {len(found)}: {found}")
    print(f"{len(SELF_TEST)} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test(sys.argv[2])
    if sys.argv[1] == "--list":
        print("\n".join(exported(sys.argv[2])))
        sys.exit(0)
    tree.report(check(*sys.argv[1:5]), "symbols")
