"""capi/reference: the header as pages to read, one for each section: what each thing is, returns and refuses.

SPDX-License-Identifier: Apache-2.0
"""

import re

from prove import declared
from words import HEAD, markdown, outside_code, wrapped

WIDTH = 120
FOLDER = "capi/reference"


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
            name = found[0]
            return f"[`{name}`]({self.place[name]})" if name in self.place and name not in own else f"`{name}`"

        return outside_code(markdown(paragraph), lambda part: re.sub(r"\b(?:dl|DL)_\w*[A-Za-z0-9]\b", replaced, part))

    def doc(self, paragraphs, own=()):
        return wrapped(paragraphs, "", WIDTH, lambda paragraph: self.text(paragraph, own))

    def cell(self, paragraphs, own=()):
        return self.text(" ".join(paragraphs), own)

    # -- parts

    def start(self):
        """The first page: what holds everywhere, and what is where."""
        api = self.api
        yield from ["# The C interface of Dataline", "", f"<!-- {HEAD} -->", ""]
        yield from wrapped(
            [
                f"Version {api['version']}, ABI {api['abi_version']}: everything that `dataline.h` declares, in its "
                "order. For authors of programs in C, and of bindings; `capi/api.json` holds the same as data."
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
        yield from ["", "## A program", "", "```c", *api["example"], "```", "", "## Conventions", ""]
        yield from wrapped(["They hold for every function unless its description states otherwise."], "", WIDTH)
        yield ""
        yield from self.doc([f"- **{one['name']}.** {one['doc']}" for one in api["conventions"]])

    def statuses(self):
        yield from ["", "### Status codes", ""]
        yield from self.doc(
            [
                "`dl_status` is `int32_t`: 0, a positive soft result, or a negative error. Errors come in bands of "
                "20 or 10 numbers, which later releases fill."
            ]
        )
        yield from ["", "| code | number | is |", "|---|---|---|"]
        band = ""
        for one in self.api["status_codes"]:
            if one.get("band", "") != band:
                band = one["band"]
                yield f"| **{band.rstrip('.')}** | | |"
            yield f"| `{one['name']}` | {one['value']} | {self.cell(one.get('doc', []), [one['name']])} |"

    def handles(self):
        yield from ["", "| handle | is |", "|---|---|"]
        yield from (f"| `{one['name']}` | {self.cell(one['doc'], [one['name']])} |" for one in self.api["handles"])
        yield from [
            "",
            "### Callbacks",
            "",
            *self.doc(
                [
                    "Functions that the host provides, as members of structs or as arguments. The header declares "
                    "most of them in place; the names are for bindings."
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
            f"Structs of DLPack and of Arrow, which the header only names: {', '.join(f'`{name}`' for name in self.api['foreign'])}.",
        ]

    def prototype(self, start, parameters):
        """A declaration, its parameters aligned under the first where they need more lines."""
        parts = [declared(one["type"], one["name"]) for one in parameters] or ["void"]
        line, indent = start, " " * min(len(start), 40)
        for number, part in enumerate(parts):
            piece = part + (");" if number == len(parts) - 1 else ",")
            if len(line) + len(piece) + 1 > WIDTH - 10 and line != start:
                yield line
                line = indent + piece
            else:
                line += piece if line == start else f" {piece}"
        yield line

    def constants(self, group):
        yield from ["", f"### {group['name']}", ""]
        yield from [*self.doc(group["doc"]), ""] if "doc" in group else []
        yield from ["| constant | value | is |", "|---|---|---|"]
        for one in group["values"]:
            yield f"| `{one['name']}` | {one['value']} | {self.cell(one.get('doc', []), [one['name']])} |"

    def struct(self, one):
        yield from ["", f"### {one['name']}", ""]
        yield from self.doc(one["doc"], [one["name"]])
        size = f"{one['size']} bytes"
        if one["first_size"] != one["size"]:
            size += f", {one['first_size']} in release {one['since']}"
        yield from [
            "",
            f"{size}; {'may grow at its end' if one['grows'] else 'never grows'}; since {one['since']}"
            f"{'; unstable' if one.get('unstable') else ''}.",
            "",
            "| at | member | is |",
            "|---|---|---|",
        ]
        for member in one["members"]:
            age = f" Since {member['since']}." if "since" in member else ""
            yield (
                f"| {member['offset']} | `{declared(member['type'], member['name'])}` | "
                f"{self.cell(member.get('doc', []), [one['name']])}{age} |"
            )

    def functions(self, group):
        names = [one["name"] for one in group]
        yield from ["", f"### {title(group)}", "", "```c"]
        for one in group:
            start = f"{'static inline ' if one.get('inline') else ''}{one['returns']} {one['name']}("
            yield from self.prototype(start, one["parameters"])
        yield from ["```", ""]
        one = group[0]
        lines = [*one.get("doc", [])]
        lines += [f"**Errors.** {one['errors']}"] if "errors" in one else []
        lines += [f"**Threading.** {one['threading'][:1].upper()}{one['threading'][1:]}"] if "threading" in one else []
        yield from self.doc(lines, names)
        yield from [
            "",
            f"Since {one['since']}{'; unstable: may change, or go, in a minor release' if one.get('unstable') else ''}"
            f"{'; in the header alone: a binding writes it in its own language' if one.get('inline') else ''}.",
        ]

    def of_section(self, kind, section):
        return [one for one in self.api[kind] if one["section"] == section["name"]]

    def page(self, section):
        yield from [
            f"# {section['name']}",
            "",
            f"<!-- {HEAD} -->",
            "",
            "[All sections, and what holds for every function](README.md)",
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


def files(api):
    reference = Reference(api)
    pages = {f"{FOLDER}/{anchor(one['name'])}.md": list(reference.page(one)) for one in api["sections"]}
    return {f"{FOLDER}/README.md": list(reference.start()), **pages}
