"""A later library for tests: a wrapper around libdataline.so, written in C, that every language is run with.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSIDE = "libdatareal.so"  # as long as libdataline.so: the name inside the copied library is replaced in place


def wrap(library, folder, source):
    """The wrapper in `folder`, under all names it is looked for by; returns the one that programs are linked to."""
    soname = next(path.name for path in sorted(library.parent.glob("libdataline.so.*")) if path.name.count(".") == 2)
    inside = soname.replace("libdataline.so", INSIDE)
    (folder / inside).write_bytes(library.read_bytes().replace(soname.encode() + b"\0", inside.encode() + b"\0"))
    (folder / "wrapper.c").write_text(source.replace("INSIDE", inside))
    nodes = re.findall(r"^(DATALINE_[0-9.]+) \{", (ROOT / "capi/exports.map").read_text(), re.MULTILINE)
    later = "".join(f"{node} {{ }};\n" for node in [*nodes[1:], "DATALINE_UNSTABLE"])
    (folder / "versions").write_text(f"{nodes[0]} {{ global: dl_*; local: *; }};\n{later}")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-D_GNU_SOURCE", "-I", ROOT / "capi", "-o", folder / soname,
                    folder / "wrapper.c", f"-Wl,-soname,{soname}", f"-Wl,--version-script={folder / 'versions'}",
                    "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", folder / inside, "-ldl"], check=True)
    (folder / "libdataline.so").symlink_to(soname)
    return folder / soname


def found_by(wrapper):
    """The environment in which programs of all languages find the wrapper."""
    return {"LD_LIBRARY_PATH": str(wrapper.parent), "DATALINE_LIB_DIR": str(wrapper.parent), "LD_PRELOAD": str(wrapper)}


def run(source, check, passes):
    """The program: check(language, command, folder, wrapper) says what is wrong with a NAME=COMMAND, or nothing."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        print("skipped: there is no C compiler")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        later = folder / "later"
        later.mkdir()
        wrapper = wrap(pathlib.Path(sys.argv[1]) / "libdataline.so", later, source)
        for argument in sys.argv[2:]:
            language, _, command = argument.partition("=")
            wrong = check(language, shlex.split(command), folder, wrapper)
            failed += bool(wrong)
            print(f"{'FAILED' if wrong else 'ok'}: {language}: {wrong or passes}")
    print(f"{len(sys.argv) - 2 - failed} passed, {failed} failed")
    return failed > 0
