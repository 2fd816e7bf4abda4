"""capi/api.json is what dataline.h and the options' table say, a C compiler agrees, and what is made from it is up to date.

  check_api.py ROOT [CC...]              with a compiler, what api.json says is compiled against the header too
  check_api.py --self-test ROOT CC...    proves that each fault is found: headers that break a rule, descriptions that do
                                         not fit their header, files that are stale

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import tree

SOURCES = ("capi/dataline.h", "core/loader/option_rows.inc")
UPDATE = "run capi/api/update.sh and commit what it writes"


def first_difference(path, kept, made):
    """A finding for text that is not what is made now; it names the first line that differs."""
    if kept == made:
        return []
    kept, made = kept.splitlines() + ["(the end)"], made.splitlines() + ["(the end)"]
    number = next(at for at, (old, new) in enumerate(zip(kept, made)) if old != new)
    return [f"{path}:{number + 1}: is '{kept[number].strip()}', must be '{made[number].strip()}': {UPDATE}"]


def text_in(path):
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def stale(root):
    """api.json against the header, then every file that is made from it. The tool itself is the tree's own."""
    import describe
    import generate

    described = pathlib.Path(root, "capi/api.json")
    try:
        made = describe.text_of(*(pathlib.Path(root, path) for path in SOURCES))
    except describe.Wrong as error:
        return str(error).split("\n")
    found, api = first_difference("capi/api.json", text_in(described), made), json.loads(made)
    for path, text in generate.files(api).items():
        found += first_difference(path, text_in(pathlib.Path(root, path)), text)
    return found


def refused(api, include, compiler):
    """What the compiler says against a description: its first error, in a list."""
    import prove

    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "proof.c")
        source.write_text(prove.proof(api), encoding="utf-8")
        made = subprocess.run([*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", source],
                              capture_output=True, text=True, check=False)
    errors = [line for line in made.stderr.splitlines() if "error:" in line]
    return [f"capi/api.json: {errors[0] if errors else made.stderr}"] if made.returncode != 0 else []


def check(root, compiler):
    found = stale(root)
    if compiler and not found:
        api = json.loads(text_in(pathlib.Path(root, "capi/api.json")))
        found = refused(api, pathlib.Path(root, "capi"), compiler)
    return found


if __name__ == "__main__":
    self_test = sys.argv[1] == "--self-test"
    place, words = (sys.argv[2], sys.argv[3:]) if self_test else (sys.argv[1], sys.argv[2:])
    sys.path.insert(0, str(pathlib.Path(place, "capi/api")))
    if self_test:
        import api_self_test

        sys.exit(api_self_test.run(place, words))
    tree.report(check(place, words), "capi/api.json")
