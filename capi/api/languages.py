"""A page of the site: what simple calls are called in each language.

SPDX-License-Identifier: Apache-2.0
"""

import go_speak
import julia_methods
from methods import BY_HAND, CLASSES, methods
import reference as pages_of
from reference import Reference
from words import wrapped

RULE = [
    "A function `dl_HANDLE_NAME` whose arguments are numbers, that fills one struct, or that comes with a count, is the "
    "method `NAME` of `HANDLE` in every language. Its documentation is that of the header. `get_` is left out, and a list "
    "has the plural.",
    "- C++: `f()` throws, `try_f()` returns a `Result`. Structs are those of the header.",
    "- Rust: a `Result`. Structs are values: texts are copied, times are `Duration`, -1 for none is `None`.",
    "- Go: names in Go's case, an `error` as the last result. Times are `time.Duration`.",
    "- Julia: a function. It ends in `!` if it changes something by its arguments. Structs are named tuples.",
    "- Python: a method, or a property where it cannot change. Structs are named tuples.",
]


def row(reference, one):
    owner = CLASSES[one.handle]
    go = go_speak.go_camel(one.name)
    given = ", ".join([julia_methods.owner_of(one), *(each["name"] for each in one.parameters)])
    names = [
        f"`{owner}::{one.name}`",
        f"`{owner}::{one.name}`",
        f"`{owner}.{go}`",
        f"`{julia_methods.name_of(one)}({given})`",
        f"`{owner}.{one.name}`",
    ]
    return f"| [`{one.c_name}`]({reference.place[one.c_name]}) | {' | '.join(names)} |"


def page(api):
    reference = Reference(api)
    lines = [
        "# Simple calls in each language",
        "",
        "[All sections and conventions](index.md)",
        "",
    ]
    lines += [
        *wrapped(RULE, "", 120, lambda text: text),
        "",
        "| C | C++ | Rust | Go | Julia | Python |",
        "|---|---|---|---|---|---|",
    ]
    lines += [row(reference, one) for one in methods(api)]
    lines += ["", "These have the form of simple calls, but a form of their own in the languages:", ""]
    return [*lines, *(f"- [`{name}`]({reference.place[name]}): {reason}" for name, reason in BY_HAND.items())]


def pages(api):
    """{name: text} of all pages about the C interface."""
    return pages_of.pages(api, {"languages.md": page(api)})
