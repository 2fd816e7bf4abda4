"""What the makers of generated files share: names in other styles, and documentation wrapped for a comment.

SPDX-License-Identifier: Apache-2.0
"""

import re
import textwrap

HEAD = "Generated from capi/api.json by capi/api/generate.py; do not edit."


def camel(name):
    """dl_reader_cell -> ReaderCell"""
    return "".join(word[:1].upper() + word[1:] for word in name.removeprefix("dl_").split("_"))


def lower_camel(name):
    """timeout_ns -> timeoutNs"""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def outside_code(text, change):
    """Applies `change` to what is not between backticks."""
    parts = text.split("`")
    return "`".join(change(part) if number % 2 == 0 else part for number, part in enumerate(parts))


def markdown(text):
    """Text of the header as Markdown: brackets are not links, and < does not start a tag."""
    return outside_code(text, lambda part: re.sub(r"([\[\]<|])", r"\\\1", part))


def wrapped(doc, prefix, width, mark=markdown):
    """Lines of Markdown for a list of paragraphs; "- " begins a list item. `mark` makes text Markdown."""
    lines, before = [], ""
    for paragraph in doc:
        item = paragraph.startswith("- ")
        if before and not (item and before.startswith("- ")):
            lines.append(prefix.rstrip())
        made = textwrap.wrap(
            mark(paragraph),
            width - len(prefix),
            subsequent_indent="  " if item else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        # A line that happens to begin with a sign of Markdown begins no list, title or quotation.
        made[1:] = [re.sub(r"^(\s*)([-+*#>]|\d+[.)])(?=\s)", r"\1\\\2", line) for line in made[1:]]
        lines += [f"{prefix}{line}" for line in made]
        before = paragraph
    return lines


def whole_doc(entry):
    """A function's documentation with its errors and threading, which the header keeps in one comment."""
    doc = list(entry.get("doc", []))
    doc += [f"Errors: {entry['errors']}"] if "errors" in entry else []
    doc += [f"Threading: {entry['threading']}"] if "threading" in entry else []
    doc += ["Unstable: may change, or go, in a minor release."] if entry.get("unstable") else []
    return doc


def call_lines(head, parts, tail, indent, width):
    """`head` + parts joined by commas + `tail`, wrapped at `width`; further lines start with `indent`."""
    lines, line = [], head
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        piece = part + (tail if last else ",")
        joined = line + ("" if line in (head, indent) else " ") + piece
        if len(joined.expandtabs(4)) > width and line != indent:
            lines.append(line)
            line = indent + piece
        else:
            line = joined
    return [*lines, line if parts else head + tail]
