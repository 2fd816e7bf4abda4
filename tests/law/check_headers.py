"""Each header of core and capi compiles alone: it includes what it needs.

  check_headers.py ROOT WORK_FOLDER COMPILER [FLAG...]     the compiler may be several words: "ccache c++"
  check_headers.py --self-test WORK_FOLDER COMPILER [FLAG...]

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import pathlib
import subprocess
import sys

import tree


def check(root, work, command):
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)

    def compile_alone(path):
        source = work / (str(path).replace("/", "_") + ".cpp")
        text = f'#include "{path}"\n#include "{path}"\n'  # twice: the guard works too
        if not source.is_file() or source.read_text(encoding="utf-8") != text:
            source.write_text(text, encoding="utf-8")
        made = subprocess.run([*command, f"-I{root}", "-c", source, "-o", source.with_suffix(".o")],
                              capture_output=True, text=True, check=False)
        errors = [line for line in made.stderr.splitlines() if "error" in line or "warning" in line]
        return [f"{path}: {errors[0] if errors else made.stderr.strip()}"] if made.returncode or errors else []

    headers = tree.files(root, {".h"}, ("core", "capi"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [finding for result in pool.map(compile_alone, headers) for finding in result]
    print(f"{len(headers)} headers")
    return found


SELF_TEST = [
    ("complete", {"core/base/a.h": "#pragma once\n#include <vector>\ninline std::vector<int> f() { return {}; }\n"}, 0),
    ("leans on others", {"core/base/a.h": "#pragma once\ninline std::vector<int> f() { return {}; }\n"}, 1),
    ("no guard", {"core/base/a.h": "#include <vector>\ninline std::vector<int> f() { return {}; }\n"}, 1),
]

if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        tree.expect(lambda root: check(root, sys.argv[2], sys.argv[3:]), SELF_TEST)
    tree.report(check(sys.argv[1], sys.argv[2], sys.argv[3:]), "headers alone")
