"""Makes what bindings use from capi/api.json, and from nothing else.

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
import rust
import rust_methods


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
    ):
        made.update(maker.files(api))
    return {path: "\n".join(lines).rstrip("\n") + "\n" for path, lines in made.items()}


def main():
    api = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    for path, text in files(api).items():
        target = pathlib.Path(sys.argv[2], path)
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
