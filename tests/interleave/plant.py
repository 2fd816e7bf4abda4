"""Plants a fault: copies one file of the core with one piece of text replaced.

  plant.py ROOT PLANT --into FOLDER   writes FOLDER/<file>
  plant.py ROOT PLANT --compile       prints what has to be compiled for it, from the root, and the file itself last

A plant is a file of lines `what: ...`, `file: PATH`, `compile: PATH ...` (of a header: the sources that use it), then the
old text after `--- old` and the new one after `--- new`. The old text must be there exactly once: a plant that applies no
more is an error, not a fault that was found.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys


def read(path):
    head, _, texts = path.read_text(encoding="utf-8").partition("--- old\n")
    old, mark, new = texts.partition("--- new\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if line)
    if not old or not mark or "file" not in fields or "what" not in fields:
        sys.exit(f"{path}: not a plant: see the head of plant.py")
    return fields, old, new


def main(root, plant, action, folder=None):
    fields, old, new = read(pathlib.Path(plant))
    source = pathlib.Path(root, fields["file"])
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    if text.count(old) != 1:
        sys.exit(f"{plant}: its old text is {text.count(old)} times in {fields['file']}; it has to be there once")
    if action == "--compile":
        print(";".join([*fields.get("compile", "").split(), fields["file"]]))
        return
    target = pathlib.Path(folder, fields["file"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace(old, new), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
