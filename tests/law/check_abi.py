"""The ABI of a -g build against the baseline capi/abi/libdataline.abi: removed or changed functions and changed
layouts fail; added functions, and members added at the end of structs that carry their size, are fine, but have to be
in the baseline by the next commit: what is not recorded is not guarded.

  check_abi.py CAPI LIBRARY            exit status 77 (skipped) where it cannot tell: no abidiff, no debug info, ...
  check_abi.py --update CAPI LIBRARY   writes the baseline (capi/abi/update.sh calls it)
  check_abi.py --self-test CC          builds pairs of small libraries and proves what is found and what is not

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import tree


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def architecture(text):
    return re.search(r"architecture='([^']*)'", text).group(1)


# Only what dataline.h shows counts: the inside of opaque structs may change. No places, so that the baseline changes
# only when the ABI does.
def dump(header, library):
    made = run("abidw", "--header-file", header, "--drop-private-types", "--exported-interfaces-only", "--no-show-locs",
               "--no-comp-dir-path", "--no-corpus-path", "--no-elf-needed", "--type-id-style", "hash", library)
    if made.returncode != 0:
        sys.exit(f"abidw failed: {made.stderr}")
    return re.sub(r" path='[^']*/(\w+/\w+\.\w+)'", r" path='\1'", made.stdout)  # of units, which no option leaves out


def growing(api):
    """Structs with a struct_size may grow at the end, dl_view too: programs step through arrays of it by that size. So may
    dl_reader_cell, whose size is in the request. Others are frozen."""
    return {struct["name"] for struct in api["structs"] if struct["grows"]}


NOT_IN_DUMPS = {"dl_plugin"}  # handed to plug-ins: no function of the library takes it


def unrecorded(api, baseline):
    """Functions and members of structs of capi/api.json that the baseline does not have."""
    root = ElementTree.fromstring(baseline)
    symbols = {symbol.get("name") for symbol in root.iter("elf-symbol")}
    members = {}
    for struct in root.iter("class-decl"):
        members.setdefault(struct.get("name"), set()).update(member.get("name") for member in struct.iter("var-decl"))
    functions = [function["name"] for function in api["functions"] if not function.get("inline") and function["name"] not in symbols]
    return functions + [f"{struct['name']}.{member['name']}" for struct in api["structs"] if struct["name"] not in NOT_IN_DUMPS
                        for member in struct["members"] if member["name"] not in members.get(struct["name"], ())]


def without_growth(old, new, growing):
    """The new dump less what it added past the end of growing structs. abidiff's own suppression of insertions at
    the end (2.2) hides changed members as well."""
    structs = {struct.get("name"): struct for struct in ElementTree.fromstring(old).iter("class-decl")}
    grown = ElementTree.fromstring(new)
    for struct in grown.iter("class-decl"):
        before = structs.get(struct.get("name"))
        if before is None or before.get("size-in-bits") is None or struct.get("name") not in growing:
            continue
        for member in struct.findall("data-member"):
            if int(member.get("layout-offset-in-bits")) >= int(before.get("size-in-bits")):
                struct.remove(member)
                struct.set("size-in-bits", before.get("size-in-bits"))
    return ElementTree.tostring(grown, encoding="unicode")


def check(old, new, growing):
    """Compares two dumps: None when nothing broke, else what did."""
    with tempfile.TemporaryDirectory() as folder:
        tree.write_tree(folder, {"old.abi": old, "new.abi": without_growth(old, new, growing)})
        made = run("abidiff", "--no-added-syms", f"{folder}/old.abi", f"{folder}/new.abi")
    return made.stdout + made.stderr if made.returncode != 0 else None


H = "typedef struct dl_log { unsigned struct_size; int reserved; void *context; char flag; } dl_log;\n" \
    "typedef struct dl_reader_cell { int kind; int rank; } dl_reader_cell;\ntypedef struct dl_loader dl_loader;\n" \
    "int dl_use(dl_loader *, dl_log *, const dl_reader_cell *);\nint dl_free(int);\n"
C = '#include "dataline.h"\nstruct dl_loader { int inside; };\n' \
    "int dl_use(dl_loader *l, dl_log *x, const dl_reader_cell *v) { return l->inside + x->reserved + v->rank; }\n" \
    "int dl_free(int x) { return x; }\n"
# (name, replacement in the header, replacement in the source, breaks)
SELF_TEST = [
    ("nothing changed", ("", ""), ("", ""), False),
    ("the inside of a handle", ("", ""), ("int inside;", "char more[64]; int inside;"), False),
    ("a function added", ("int dl_free(int);", "int dl_free(int); int dl_new(int);"),
     ("int dl_free(int x)", "int dl_new(int x) { return x; }\nint dl_free(int x)"), False),
    ("a member appended to a struct with its size", ("char flag;", "char flag; long more;"), ("", ""), False),
    ("a member in the middle", ("int reserved;", "int reserved; long more;"), ("", ""), True),
    ("a member slipped into padding", ("char flag;", "char flag; char more;"), ("", ""), True),
    ("a member's type", ("int reserved;", "unsigned short reserved;"), ("", ""), True),
    ("a member appended to a struct walked as an array", ("int rank;", "int rank; long more;"), ("", ""), True),
    ("a function removed", ("int dl_free(int);", ""), ("int dl_free(int x) { return x; }", ""), True),
    ("an argument changed", ("int dl_free(int);", "int dl_free(long);"), ("dl_free(int x) { return x", "dl_free(long x) { return (int)x"),
     True),
]


def self_test(compiler):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, in_header, in_source, breaks) in enumerate(SELF_TEST):
            dumps = []
            for kind, header, source in (("old", H, C), ("new", H.replace(*in_header), C.replace(*in_source))):
                at = f"{folder}/{number}/{kind}"
                tree.write_tree(at, {"dataline.h": header, "lib.c": source})
                made = run(compiler, "-g", "-gdwarf-4", "-fPIC", "-shared", f"-I{at}", f"{at}/lib.c", "-o", f"{at}/lib.so")
                if made.returncode != 0:
                    sys.exit(made.stderr)
                dumps.append(dump(f"{at}/dataline.h", f"{at}/lib.so"))
            broken = check(*dumps, {"dl_log"})
            if (broken is not None) != breaks:
                wrong += 1
                print(f"{name}: expected {'a break' if breaks else 'no break'}, got {broken}")
            if number == 0:
                lost = unrecorded({"functions": [{"name": "dl_free"}, {"name": "dl_new"}],
                                   "structs": [{"name": "dl_log", "members": [{"name": "flag"}, {"name": "more"}]}]}, dumps[0])
                if lost != ["dl_new", "dl_log.more"]:
                    wrong += 1
                    print(f"what is not recorded: expected dl_new and dl_log.more, got {lost}")
    print(f"{len(SELF_TEST) + 1} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


def main():
    mode, arguments = (sys.argv[1], sys.argv[2:]) if sys.argv[1].startswith("--") else ("", sys.argv[1:])
    if not shutil.which("abidiff"):
        skip("abidiff is not installed (Debian: abigail-tools)")
    if mode == "--self-test":
        self_test(*arguments)
    capi, library = (pathlib.Path(argument) for argument in arguments)
    baseline, header = capi / "abi/libdataline.abi", capi / "dataline.h"
    if ".debug_info" not in run("readelf", "-SW", library).stdout:
        skip("the library has no debug information: abidiff would find nothing")
    if "clang" in run("readelf", "-p", ".comment", library).stdout:
        skip("abidw reads the file table of clang's DWARF 5 wrongly")
    now = dump(header, library)
    api = json.loads((capi / "api.json").read_text(encoding="utf-8"))
    if mode == "--update":
        if missing := unrecorded(api, now):
            sys.exit(f"{library} is no build of this header, or not below its folder: its debug information has no {', '.join(missing[:8])}")
        baseline.write_text(now, encoding="utf-8")
        return
    before = baseline.read_text(encoding="utf-8")
    if missing := unrecorded(api, before):
        print(f"not in {baseline.name}, so nothing guards them (capi/abi/update.sh): {', '.join(missing)}")
        sys.exit(1)
    if architecture(now) != architecture(before):
        skip(f"the baseline is of another architecture than {architecture(now)}")
    broken = check(before, now, growing(api))
    print(broken or "no incompatible change")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
