"""Makes what bindings and readers use from capi/api.json, and from nothing else.

  generate.py API_JSON ROOT      writes the files into the tree

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import sys

import cpp_methods
import drivers
import exports
import go
import go_calls
import go_methods
import julia
import julia_methods
import nulls
import python_c
import python_methods
import python_options
import reference
import rust
import rust_methods

import languages


def files(api):
    """{path in the tree: text} of everything that is generated."""
    made = {}
    for maker in (
        exports,
        cpp_methods,
        rust,
        rust_methods,
        go,
        go_calls,
        go_methods,
        julia,
        julia_methods,
        nulls,
        python_c,
        python_methods,
        python_options,
        drivers,
        reference,
        languages,
    ):
        made.update(maker.files(api))
    return {path: "\n".join(lines).rstrip("\n") + "\n" for path, lines in made.items()}


def left_over(api, root):
    """Pages of sections that the header no longer has."""
    made = files(api)
    pages = pathlib.Path(root, reference.FOLDER).glob("*")
    return sorted(str(path.relative_to(root)) for path in pages if str(path.relative_to(root)) not in made)


def main():
    api = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    for path, text in files(api).items():
        target = pathlib.Path(sys.argv[2], path)
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for path in left_over(api, sys.argv[2]):
        pathlib.Path(sys.argv[2], path).unlink()


if __name__ == "__main__":
    main()
