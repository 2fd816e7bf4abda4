"""Comments as documentation: paragraphs, list items, the parts that say errors and threading, what each belongs to, and the
comment on top of the header.

SPDX-License-Identifier: Apache-2.0
"""

import re

BANNER = re.compile(r"/\* -{4} (.+?) +-{4,} \*/")


def lines_of(comment):
    """The text of a comment without its frame, indentation kept."""
    lines = comment[2:-2].split("\n")
    framed = all(re.match(r"\s*\*", line) or not line.strip() for line in lines[1:])
    first = lines[0][1:] if lines[0].startswith(" ") else lines[0]
    rest = [re.sub(r"^\s*\* ?", "", line) if framed else line.strip() for line in lines[1:]]
    return [line.rstrip() for line in [first, *rest]]


def paragraphs(lines):
    """Paragraphs, each one string. List items, which hang their indentation, are paragraphs that start with "- "."""
    found, item = [], None  # item: the indentation of the list item that is being read
    for number, line in enumerate(lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        after = lines[number + 1] if number + 1 < len(lines) else ""
        hangs = bool(after.strip()) and len(after) - len(after.lstrip()) > indent
        if not text:
            found.append("")
        if not text or (item is not None and indent < item):
            item = None
        if not text:
            continue
        if (found and found[-1] and item is None and indent == 0 and not found[-1].startswith("- ")) or (
            item is not None and indent > item
        ):
            found[-1] += " " + re.sub(r"\s+", " ", text)
        elif item is not None or hangs or indent > 0:
            item = indent
            label = re.match(r"([\w*,`=. ]+?) {2,}(\S.*)", text)
            found.append("- " + (f"{label[1]}: {label[2]}" if label else text))
        else:
            found.append(text)
    return [text for text in found if text]


def of_comment(comment):
    return paragraphs(lines_of(comment))


def trailing(comment):
    """A comment behind a declaration: one paragraph, however it is wrapped."""
    return [re.sub(r"\s+", " ", " ".join(line.strip() for line in lines_of(comment))).strip()]


def split(doc):
    """(doc, errors, threading): what follows "Errors:" and "Threading:" in a paragraph, taken out of it."""
    rest, parts = [], {"Errors": [], "Threading": []}
    for paragraph in doc:
        pieces = re.split(r"(?:^|(?<=\s))(Errors|Threading): ", paragraph)
        if pieces[0].strip():
            rest.append(pieces[0].strip())
        for kind, text in zip(pieces[1::2], pieces[2::2], strict=False):
            parts[kind].append(text.strip())
    return rest, " ".join(parts["Errors"]), " ".join(parts["Threading"])


def run_title(above, made, following):
    """A comment over a run of constants is the title of the run; over one constant alone it is the constant's own."""
    return made.kind == "constant" and (
        bool(made.doc) or (following is not None and following.kind == "constant" and following.line == made.end + 1)
    )


def attach(found, remarks):
    """Gives every comment to a declaration, a member or a section; returns the sections, and the comment on top."""
    used, sections, above_by_end = set(), [], {}
    head = next((one for one in remarks if one.alone), None)
    behind = {one.line: one for one in remarks if not one.alone}
    for one in remarks:
        if one.alone and not BANNER.fullmatch(one.text):
            above_by_end[one.end + 1] = one

    def own(thing):
        """Comments of a declaration or member: the one above, and the one behind."""
        over, after = above_by_end.get(thing.line), behind.get(thing.end)
        for one in (over, after):
            if one is not None:
                used.add(one)
        return over, trailing(after.text) if after else []

    for one in remarks:
        banner = BANNER.fullmatch(one.text)
        if banner:
            name, _, rest = banner[1].partition(". ")
            sections.append({"name": name, "line": one.line, "doc": [rest] if rest else []})
            used.add(one)
    run, run_end = None, 0  # the comment above adjacent declarations
    for made, following in zip(found, [*found[1:], None], strict=False):
        made.section = next((one["name"] for one in reversed(sections) if one["line"] < made.line), "")
        for member in made.members:
            over, member.doc = own(member)
            member.doc = (of_comment(over.text) if over else []) + member.doc
        over, made.doc = own(made)
        if over is not None and run_title(over, made, following):
            made.run = " ".join(of_comment(over.text))
        elif over is not None:
            run, made.doc = over, of_comment(over.text) + made.doc
        elif not made.doc and run is not None and made.line == run_end + 1 and re.search(rf"\b{made.name}\b", run.text):
            made.doc = of_comment(run.text)
        if over is None and made.line != run_end + 1:
            run = None
        run_end = made.end
    ahead = {made.name: made.doc for made in found if made.kind == "handle"}
    for made in found:
        if made.kind == "struct" and not made.doc:  # the comment may be at the declaration ahead
            made.doc = ahead.get(made.name, [])
    for one in remarks:
        inside = any(made.line <= one.line <= made.end for made in found)
        if one.alone and one not in used and one is not head and not inside:
            section = next((part for part in reversed(sections) if part["line"] <= one.line), None)
            if section is not None:
                section["doc"] += of_comment(one.text)
    return sections, head


def conventions(head):
    """[(line, name, paragraphs)] of the entries "Name     text" below the line that starts with "Conventions."."""
    start = next((number for number, line in enumerate(head) if line.startswith("Conventions.")), None)
    found = []
    for number, line in enumerate(head[start + 1 :] if start is not None else [], start=(start or 0) + 2):
        entry = re.match(r"([A-Z]\w+) {2,}(\S.*)", line)
        if entry:
            found.append((number, entry[1], entry[2]))
        elif found and line.startswith("    "):
            number, name, text = found[-1]
            found[-1] = (number, name, f"{text} {line.strip()}")
        elif found and line.strip():
            break
    return found


def example(head):
    """The program in the comment on top, as it would be compiled."""
    start = next((number for number, line in enumerate(head) if "#include" in line), None)
    end = next((number for number, line in enumerate(head) if line.startswith("Conventions.")), len(head))
    lines = head[start:end] if start is not None else []
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return [line[2:] if line.startswith("  ") else line for line in lines]
