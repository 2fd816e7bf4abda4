"""Each header of core and capi compiles alone: it includes what it needs. A header that some source includes before all else
has been compiled alone there; the others are compiled here, twice in a row. Each has a guard.

  check_headers.py ROOT WORK_FOLDER COMPILER [FLAG...]     the compiler may be several words: "ccache c++"
  check_headers.py --self-test WORK_FOLDER COMPILER [FLAG...]

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

import tree


FIRST_INCLUDE = re.compile(r'^#include (?:"([^"]+)"|<)', re.MULTILINE)
GUARD = re.compile(r"^#(?:pragma once|ifndef)", re.MULTILINE)


def compiled_first(root):
    """The headers that some source includes before anything else."""
    texts = (pathlib.Path(root, path).read_text(encoding="utf-8") for path in tree.files(root, {".cpp", ".c"}, ("core", "capi")))
    return {match[1] for match in map(FIRST_INCLUDE.search, texts) if match and match[1]}


def check(root, work, command):
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)

    def compile_alone(path):
        source = work / (str(path).replace("/", "_") + ".cpp")
        text = f'#include "{path}"\n#include "{path}"\n'
        if not source.is_file() or source.read_text(encoding="utf-8") != text:
            source.write_text(text, encoding="utf-8")
        made = subprocess.run([*command, f"-I{root}", "-c", source, "-o", source.with_suffix(".o")],
                              capture_output=True, text=True, check=False)
        errors = [line for line in made.stderr.splitlines() if "error" in line or "warning" in line]
        return [f"{path}: {errors[0] if errors else made.stderr.strip()}"] if made.returncode or errors else []

    headers = tree.files(root, {".h"}, ("core", "capi"))
    found = [f"{path}: no include guard" for path in headers
             if not GUARD.search(pathlib.Path(root, path).read_text(encoding="utf-8"))]
    proven = compiled_first(root)
    left = [path for path in headers if str(path) not in proven]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found += [finding for result in pool.map(compile_alone, left) for finding in result]
    print(f"{len(headers)} headers, {len(left)} of them compiled here")
    return found


SELF_TEST = [
    ("complete", {"core/base/a.h": "#pragma once\n#include <vector>\ninline std::vector<int> f() { return {}; }\n"}, 0),
    ("leans on others", {"core/base/a.h": "#pragma once\ninline std::vector<int> f() { return {}; }\n"}, 1),
    ("no guard", {"core/base/a.h": "#include <vector>\n"}, 1),
    ("not first in its source", {"core/base/a.h": "#pragma once\ninline std::vector<int> f() { return {}; }\n",
                                 "core/base/a.cpp": '#include <vector>\n#include "core/base/a.h"\n'}, 1),
    ("first in its source, which the build compiles", {
        "core/base/a.h": "#pragma once\ninline std::vector<int> f() { return {}; }\n", "core/base/a.cpp": '#include "core/base/a.h"\n'}, 0),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(lambda root: check(root, sys.argv[2], sys.argv[3:]), SELF_TEST)
    tree.report(check(sys.argv[1], sys.argv[2], sys.argv[3:]), "headers alone")
