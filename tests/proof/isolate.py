"""Runs a part in a copy of the tree that holds only its declared inputs: what it opens besides is not there, and it fails.

CMake has to find every file that a list names. So for a part that is built, sources that are not declared exist in the copy and
refuse to compile, other files are empty, and CMake's own scripts are there. For a script, other files are absent; the library
and the toolchains that it assumes are those of the checkout.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import tempfile

from runner import Runner

REFUSES = '#error "not a declared input of this part (tests/proof)"\n'
SOURCES = {".c", ".cpp", ".h", ".hpp", ".cu", ".cuh", ".inc", ".def"}
SCRIPTS = {".cmake", ".in"}
# Lines by which CMake decides how a file of tests is built (dataline_tests), and the ABI's version (capi/CMakeLists.txt).
SEEN = re.compile(r'^(?:extern "C" .*[(]|#include "tests/support/(?:file_faults|failing_)|(?:[^ \n]+ )?void[*] operator new|#define DL_).*\n',
                  re.MULTILINE)


def copied(tree, part, folder):
    """Makes the copy."""
    declared = set(tree.chosen(part.inputs + part.assumes))
    for name in tree.names:
        source, target = tree.root / name, folder / name
        if name in declared or name.startswith(("tests/proof/", "tests/law/")) or name == "tests/setup.sh":
            content = None
        elif not part.preset:
            continue
        elif source.name in ("CMakeLists.txt", "CMakePresets.json") or source.suffix in SCRIPTS:
            content = None
        else:
            content = REFUSES + "".join(SEEN.findall(source.read_text(encoding="utf-8"))) if source.suffix in SOURCES else ""
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            shutil.copy2(source, target, follow_symlinks=False)
        else:
            target.write_text(content, encoding="utf-8")
            shutil.copymode(source, target)


def passes(runner, part):
    """Whether the part passes there. Nothing is stored."""
    tree = runner.tree()
    with tempfile.TemporaryDirectory(prefix="dataline-isolate.") as folder:
        place = pathlib.Path(folder, "dataline")
        copied(tree, part, place)
        data = pathlib.Path(folder, "shared", "data")
        data.mkdir(parents=True)
        for name in {pattern.partition(":")[2] for pattern in part.inputs if pattern.startswith("data:")}:
            if (tree.data / name).exists():
                (data / name).symlink_to(tree.data / name)
        place.mkdir(exist_ok=True)
        environment = {name: value for name, value in runner.all_environment.items() if name not in ("DATALINE_SHARED_DATA", "DATALINE_MNIST")}
        inner = Runner(place, None, runner.long, True, 1, runner.tell, environment)
        if not part.preset:
            inner.steps = runner.steps  # made in the checkout: the copy has not what they need
        result = inner.execute(part, inner.tree())
    for line in result.told():
        runner.tell(line)
    return not result.failed
