"""Puts the site's source together: the written pages, and those made from the sources of truth.

  assemble.py PROGRAM OUT     PROGRAM is the shell `dataline`, whose tables become pages; OUT is made anew

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import shutil
import subprocess
import sys

import errors
import tables
import transforms

DOCS = pathlib.Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
sys.path.append(str(ROOT / "capi/api"))
import languages  # noqa: E402: of that folder


class Shell:
    """The program `dataline`, asked for text, JSON or bytes."""

    def __init__(self, program):
        self.program = program

    def bytes(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"docs: dataline {' '.join(words)} ended with {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    def text(self, *words):
        return self.bytes(*words).decode()

    def table(self, name):
        return json.loads(self.text(name, "--json"))


def main():
    shell, out = Shell(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.copytree(DOCS / "pages", out)
    releasing = (DOCS / "releasing.md").read_text(encoding="utf-8")
    (out / "releasing.md").write_text(releasing.replace("](pages/", "]("), encoding="utf-8")
    reference = out / "reference"
    api = json.loads((ROOT / "capi/api.json").read_text(encoding="utf-8"))
    (reference / "c").mkdir(parents=True)
    for name, text in languages.pages(api).items():
        (reference / "c" / name).write_text(text, encoding="utf-8")
    pages = {
        "options.md": tables.options(shell),
        "formats.md": tables.formats(shell),
        "commands.md": tables.commands(shell),
        "transforms.md": transforms.page(shell, DOCS / "reference/transforms.json", out / "_static/transforms"),
        "errors.md": errors.page(api, DOCS / "reference/errors.json"),
    }
    for name, text in pages.items():
        (reference / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
