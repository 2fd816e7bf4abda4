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


# What is code in a comment without being marked as such. Names of the header are left to the caller, who may make links
# of them.
CODE = re.compile(
    r"(?<![\w/\"'.*\[-])(?!(?:dl|DL)_\w*\b(?!\*))("
    + "|".join(
        [
            r"[a-z]\w*=[\w.:*-]*\w",  # option=value
            r"[a-z]\w*\[[^\]]*\](?![)\w])",  # shape[0]
            r"\[[a-z]\w*(?: \+ \d+)?\]",  # [record_count]
            r"[A-Z]+(?:_[A-Z]+)*_\*",  # DL_KIND_*
            r"\*[a-z]\w*",  # *out
            r"[a-z]\w*->\w+(?:\(\w*\))?",  # request->cancelled
            r"[a-z]\w*\(\w*\)",  # fork()
            r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+",  # num_workers
        ]
    )
    + r")(?![\w\"'/=*(]|\.\w|-\w)"
)
SPAN = re.compile(r"`[^`]*`")


def markdown(text):
    """Text of the header as Markdown: brackets are not links, < does not start a tag, and code is code."""
    text = outside_code(text, lambda part: CODE.sub(r"`\1`", part))
    return outside_code(text, lambda part: re.sub(r"([\[\]<|])", r"\\\1", part))


def wrapped(doc, prefix, width, mark=markdown):
    """Lines of Markdown for a list of paragraphs; "- " starts a list item. `mark` makes text Markdown."""
    lines, before = [], ""
    for paragraph in doc:
        item = paragraph.startswith("- ")
        if before and not (item and before.startswith("- ")):
            lines.append(prefix.rstrip())
        # Code is not divided: a line that starts inside it would be taken for a list, or escaped.
        whole = SPAN.sub(lambda span: span[0].replace(" ", "\0"), mark(paragraph))
        made = textwrap.wrap(
            whole,
            width - len(prefix),
            subsequent_indent="  " if item else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        # A line that happens to start with a sign of Markdown is not a list, a title or a quotation.
        made[1:] = [re.sub(r"^(\s*)([-+*#>]|\d+[.)])(?=\s)", r"\1\\\2", line) for line in made[1:]]
        lines += [f"{prefix}{line}".replace("\0", " ") for line in made]
        before = paragraph
    return lines


def with_title(title, doc):
    """Paragraphs with a title in the first one, or above the list that they are."""
    if not doc or doc[0].startswith("- "):
        return [title, *doc] if doc else []
    return [f"{title} {doc[0]}", *doc[1:]]


def whole_doc(entry):
    """A function's documentation with its errors and threading, which the header keeps in one comment."""
    doc = list(entry.get("doc", []))
    doc += with_title("Errors:", entry.get("errors", []))
    doc += [f"Threading: {entry['threading']}"] if "threading" in entry else []
    doc += ["Unstable: may change or be removed in a minor release."] if entry.get("unstable") else []
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
