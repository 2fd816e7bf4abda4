"""The header as pages of the site, one for each section: what each thing is, returns and refuses. docs/generate/assemble.py writes them.

SPDX-License-Identifier: Apache-2.0
"""

import re

from prove import declared
from words import markdown, outside_code, with_title, wrapped

WIDTH = 120


def anchor(title):
    """The anchor of a heading, and the name of a section's page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def neighbours(functions):
    """Functions in groups: neighbours that share one comment are described together."""
    found = []
    for one in functions:
        last = found[-1][-1] if found else None
        if last and "doc" in one and last.get("doc") == one["doc"] and last["section"] == one["section"]:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def title(group):
    return ", ".join(one["name"] for one in group)


def undated(paragraphs):
    """Without "Since 0.3.": each entry has its own place for that."""
    texts = [re.sub(r"(^|\s+)Since \d+\.\d+\.?(?=\s|$)", "", one).strip() for one in paragraphs]
    return [text for text in texts if text]


def dated(text, since, usual=None):
    """With the release, where it is not the usual one."""
    if since in (None, usual):
        return text
    return f"{text}{'' if not text or text.endswith('.') else '.'} Since {since}.".strip()


def capital(paragraphs):
    return [paragraphs[0][:1].upper() + paragraphs[0][1:], *paragraphs[1:]] if paragraphs else []


class Reference:
    """What every page needs: the description, and where each name is described."""

    def __init__(self, api):
        self.api = api
        pages = {one["name"]: anchor(one["name"]) for one in api["sections"]}
        status, handles = (f"{pages[name]}.md" for name in ("Status and errors", "Handles"))
        self.place = {one["name"]: f"{pages[one['section']]}.md#{one['name']}" for one in api["structs"]}
        for group in neighbours(api["functions"]):
            self.place |= {one["name"]: f"{pages[one['section']]}.md#{anchor(title(group))}" for one in group}
        for group in api["constants"]:
            self.place |= {
                one["name"]: f"{pages[group['section']]}.md#{anchor(group['name'])}" for one in group["values"]
            }
        self.place |= {one["name"]: f"{handles}#handles" for one in [*api["handles"], *api["callbacks"]]}
        self.place |= {one["name"]: f"{status}#status-codes" for one in api["status_codes"]}

    def text(self, paragraph, own=()):
        """A paragraph as Markdown. Names of the header become links, except those being described."""

        def replaced(found):
            text, name = found[0], found[1]
            return f"[`{text}`]({self.place[name]})" if name in self.place and name not in own else f"`{text}`"

        name = r"\b((?:dl|DL)_\w*[A-Za-z0-9])\b(?:\.[a-z_]+\b|\([a-z][a-z, ]*\))?"
        return outside_code(markdown(paragraph), lambda part: re.sub(name, replaced, part))

    def doc(self, paragraphs, own=()):
        return wrapped(undated(paragraphs), "", WIDTH, lambda paragraph: self.text(paragraph, own))

    def cell(self, paragraphs, own=()):
        """Text in a table, where items of a list are lines."""
        paragraphs = undated(paragraphs)
        texts = [self.text(one.removeprefix("- "), own) for one in paragraphs]
        listed = [one.startswith("- ") for one in paragraphs]
        joined = "".join(
            ("" if number == 0 else "<br>" if listed[number] or listed[number - 1] else " ") + text
            for number, text in enumerate(texts)
        )
        return re.sub(r"(?<!\\)\|", r"\|", joined)  # in code too

    # -- parts

    def start(self):
        """The first page: what holds everywhere, and what is where."""
        api = self.api
        yield from ["# The C interface of Dataline", ""]
        yield from wrapped(
            [
                f"Everything that `dataline.h` declares, in its order: version {api['version']}, ABI "
                f"{api['abi_version']}. `capi/api.json` holds the same as data, for authors of bindings."
            ],
            "",
            WIDTH,
        )
        yield ""
        for section in api["sections"]:
            page = f"{anchor(section['name'])}.md"
            things = [*self.of_section("structs", section), *self.of_section("functions", section)]
            links = ", ".join(f"[`{one['name']}`]({self.place[one['name']]})" for one in things)
            yield f"- [{section['name']}]({page}){f': {links}' if links else ''}"
        yield "- [Simple calls in each language](languages.md)"
        yield from ["", "## A program", "", "```c", *api["example"], "```", "", "## Conventions", ""]
        yield "These rules apply to every function unless its description states an exception."
        yield ""
        yield from self.doc([f"- **{one['name']}.** {one['doc']}" for one in api["conventions"]])

    def statuses(self):
        yield from ["", "## Status codes", ""]
        yield from self.doc(
            [
                "`dl_status` is an `int32_t`: 0, a positive soft result, or a negative error. Each group of errors "
                "has a range of 20 or 10 numbers. Later releases add codes within these ranges."
            ]
        )
        yield from ["", "| code | value | meaning |", "|---|---|---|"]
        band = ""
        for one in self.api["status_codes"]:
            if one.get("band", "") != band:
                band = one["band"]
                yield f"| **{band.rstrip('.')}** | | |"
            doc = dated(self.cell(one.get("doc", []), [one["name"]]), one.get("since"))
            yield f"| `{one['name']}` | {one['value']} | {doc} |"

    def handles(self):
        yield from ["", "| handle | description |", "|---|---|"]
        yield from (f"| `{one['name']}` | {self.cell(one['doc'], [one['name']])} |" for one in self.api["handles"])
        yield from [
            "",
            "## Callbacks",
            "",
            *self.doc(
                [
                    "Functions that the host provides, as members of structs or as arguments. The header declares "
                    "most of them in place and does not name them: bindings use the names below."
                ]
            ),
            "",
            "```c",
        ]
        for one in self.api["callbacks"]:
            yield from self.prototype(f"typedef {one['returns']} (*{one['name']})(", one["parameters"])
        yield from [
            "```",
            "",
            *self.doc(
                [
                    "The header forward-declares these structs of DLPack and Arrow: "
                    f"{', '.join(f'`{name}`' for name in self.api['foreign'])}."
                ]
            ),
        ]

    def prototype(self, start, parameters):
        """A declaration, its parameters aligned under the first where they need more lines."""
        parts = [declared(one["type"], one["name"]) for one in parameters] or ["void"]
        line, indent = start, " " * min(len(start), 60)
        for number, part in enumerate(parts):
            piece = part + (");" if number == len(parts) - 1 else ",")
            if len(line) + len(piece) + 1 > WIDTH - 10 and line != start:
                yield line
                line = indent + piece
            else:
                line += piece if line == start else f" {piece}"
        yield line

    def constants(self, group):
        yield from ["", f"## {group['name']}", ""]
        yield from [*self.doc(group["doc"]), ""] if "doc" in group else []
        yield from ["| constant | value | meaning |", "|---|---|---|"]
        for one in group["values"]:
            doc = dated(self.cell(one.get("doc", []), [one["name"]]), one.get("since"))
            yield f"| `{one['name']}` | {one['value']} | {doc} |"

    def struct(self, one):
        yield from ["", f"## {one['name']}", ""]
        yield from self.doc(one["doc"], [one["name"]])
        size = f"{one['size']} bytes"
        if one["first_size"] != one["size"]:
            size += f", {one['first_size']} in release {one['since']}"
        yield from [
            "",
            f"{size}; {'later releases may append members' if one['grows'] else 'never grows'}; since {one['since']}"
            f"{'; unstable' if one.get('unstable') else ''}.",
            "",
            "| offset | member | description |",
            "|---|---|---|",
        ]
        for member in one["members"]:
            doc = dated(self.cell(member.get("doc", []), [one["name"]]), member.get("since"), one["since"])
            yield f"| {member['offset']} | `{declared(member['type'], member['name'])}` | {doc} |"

    def functions(self, group):
        names = [one["name"] for one in group]
        yield from ["", f"## {title(group)}", "", "```c"]
        for one in group:
            start = f"{'static inline ' if one.get('inline') else ''}{one['returns']} {one['name']}("
            yield from self.prototype(start, one["parameters"])
        yield from ["```", ""]
        one = group[0]
        lines = [*one.get("doc", [])]
        lines += with_title("**Errors.**", capital(one.get("errors", [])))
        lines += with_title("**Threading.**", capital([one["threading"]] if "threading" in one else []))
        yield from self.doc(lines, names)
        unstable = "; unstable: may change or be removed in a minor release" if one.get("unstable") else ""
        inline = " Inline in the header: each binding implements it again." if one.get("inline") else ""
        yield from ["", f"Since {one['since']}{unstable}.{inline}"]

    def of_section(self, kind, section):
        return [one for one in self.api[kind] if one["section"] == section["name"]]

    def page(self, section):
        yield from [
            f"# {section['name']}",
            "",
            "[All sections and conventions](index.md)",
        ]
        yield from ["", *self.doc(section["doc"])] if "doc" in section else []
        yield from self.statuses() if section["name"] == "Status and errors" else []
        yield from self.handles() if section["name"] == "Handles" else []
        for group in self.of_section("constants", section):
            yield from self.constants(group)
        for one in self.of_section("structs", section):
            yield from self.struct(one)
        for group in neighbours(self.of_section("functions", section)):
            yield from self.functions(group)


def pages(api, more):
    """{name of the page: text}; the first, index.md, lists the others and `more` for the site's menu."""
    reference = Reference(api)
    made = {f"{anchor(one['name'])}.md": reference.page(one) for one in api["sections"]} | more
    menu = ["", "```{toctree}", ":hidden:", "", *sorted(name.removesuffix(".md") for name in made), "```"]
    made["index.md"] = [*reference.start(), *menu]
    return {name: "\n".join(lines).rstrip("\n") + "\n" for name, lines in made.items()}
