"""The package's half of Python's calls: methods with documentation, structs as named tuples, and status codes.

SPDX-License-Identifier: Apache-2.0
"""

import re
import textwrap

import python
from words import HEAD, camel

WIDTH = 118
CHECKS = {
    "int64_t": 'whole({0}, "{0}")',
    "int32_t": 'whole({0}, "{0}")',
    "double": 'real({0}, "{0}")',
    "const char*": "{0}",
}
# Names of the header that Python's methods do not have.
RENAMED = {
    "dl_loader_state_load": "load_state",
    "dl_loader_state_save": "save_state",
    "dl_loader_wait_handle": "fileno",
    "dl_opening_wait": "result",
    "dl_opening_wait_handle": "fileno",
}


def head(what):
    return [
        f'"""{what}',
        "",
        HEAD,
        "",
        "SPDX-License-Identifier: Apache-2.0",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]


class Text:
    """Text of the header in Python's words."""

    def __init__(self, api):
        self.exceptions = python.exceptions(api)
        self.words = {}
        for group in api["constants"]:
            for one in group["values"] if len(group["values"]) > 1 else []:
                self.words[one["name"]] = f'``"{one["name"].removeprefix(group["name"] + "_").lower()}"``'

    def name(self, found):
        name, member = found[1], found[2]
        if name in self.exceptions:
            return self.exceptions[name]
        if member:
            return f"``{python.class_of(name)}.{member}``"
        if name in self.words:
            return self.words[name]
        _, handle, method = [*name.split("_", 2), ""][:3]
        return f"``{camel(handle)}.{RENAMED.get(name, method)}``" if method else f"``{camel(name)}``"

    def of(self, text):
        text = re.sub(r"\s*Since \d+\.\d+\.?|(?:^|\s*\b)[Bb]orrowed from [^.]*\.?$", "", text)
        text = re.sub(r"\b(\w+)=(\d+)\b", r"``\1=\2``", text)
        text = re.sub(r"\b(\w+)=([a-z]\w*)\b", r'``\1="\2"``', text)
        text = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
        text = re.sub(r"\b(dl_\w+|DL_\w+)(?:\.(\w+))?\b(?!\*)", self.name, text)
        text = text.replace("\\", "\\\\")
        return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":")) or not text else ".")


def quoted(paragraphs, indent):
    """A docstring; items of a list stay below each other."""
    lines, before = [], ""
    for number, paragraph in enumerate(paragraphs):
        item = paragraph.startswith("- ")
        if number and not (item and before.startswith("- ")):
            lines.append("")
        start = '"""' if number == 0 else ""
        further = "  " if item else ""
        made = textwrap.wrap(
            start + paragraph, WIDTH - len(indent) - 3, subsequent_indent=further, break_long_words=False
        )
        lines += [f"{indent}{line}" for line in made]
        before = paragraph
    if len(paragraphs) == 1:
        return [*lines[:-1], f'{lines[-1]}"""']
    return [*lines, f'{indent}"""']


def documentation(call, text):
    function = call.function
    doc = list(function.get("doc", []))
    if call.struct:
        doc = [*call.struct.get("doc", []), *(one.removeprefix("Fills *out.").strip() for one in doc)]
    doc = [text.of(one.replace("NULL", "None")) for one in doc if one]
    if "threading" in function:
        doc[-1] += f" {text.of(function['threading'])}"
    errors = [text.of(one) for one in function.get("errors", [])]
    if errors:
        doc.append(f"Raises {errors[0]}")
        doc += errors[1:]
    return doc + ["It may still change in a minor release."] * bool(function.get("unstable"))


def method(call, text):
    parameters = "".join(f", {name}: {kind}" for name, kind in call.arguments().items())
    arguments = ", ".join(CHECKS[one["type"]].format(one["name"]) for one in call.inputs)
    result = python.class_of(call.struct["name"]) if call.struct else call.result()
    lines = ["", f"    def {call.method}(self{parameters}) -> {result}:"]
    lines += quoted(documentation(call, text), "        ")
    made = f"self._{call.method}({arguments})"
    if result == "None":
        return [*lines, f"        {made}"]
    return [*lines, f"        return {result}(**{made})" if call.struct else f"        return {made}"]


def methods(api):
    text = Text(api)
    calls = [one for one in python.calls(api) if one.is_public]
    lines = head("Methods that are as the calls of the header.")
    if any("Optional" in kind for one in calls for kind in one.arguments().values()):
        lines += ["from typing import Optional", ""]
    lines.append("from . import _core")
    checks = {CHECKS[parameter["type"]].partition("(")[0] for one in calls for parameter in one.inputs} - {"{0}"}
    used = {python.class_of(one.struct["name"]) for one in calls if one.struct}
    for place, names in (("._rows", checks), ("._structs", used)):
        lines += [f"from {place} import {', '.join(sorted(names))}"] if names else []
    for handle in python.HANDLES:
        name = camel(handle)
        lines += ["", "", f"class {name}(_core.{name}):", f'    """The base of ``dataline.{name}``."""']
        for call in (one for one in calls if one.handle == handle):
            lines += method(call, text)
    return lines


def member_type(member, api):
    if python.words_of(member, api) or member["type"].startswith("char["):
        return "str"
    return "bool" if python.is_flag(member) else python.TYPES[member["type"]]


def member_doc(member, text, api):
    words = python.words_of(member, api)
    if words:
        return [", ".join(text.words[one["name"]] for one in words["values"]) + "."]
    doc = [one.removeprefix("1: ") if python.is_flag(member) else one for one in member.get("doc", [])]
    return [made for one in doc if (made := text.of(one.replace("NULL", '``""``')))]  # as the extension has it


def structs(api):
    text, made = Text(api), python.value_structs(api)
    names = {one.struct["name"] for one in python.calls(api) if one.is_public and one.struct} | set(python.CLASSES)
    lines = [*head("Structs of the header, as named tuples."), "from typing import NamedTuple"]
    for struct in sorted((made[name] for name in names), key=lambda one: one["name"]):
        doc = [text.of(one) for one in struct.get("doc", [])]
        lines += ["", "", f"class {python.class_of(struct['name'])}(NamedTuple):", *quoted(doc, "    "), ""]
        for member in python.values(struct):
            ignored = (
                "  # type: ignore[assignment] # hides a tuple's method" if member["name"] in ("count", "index") else ""
            )
            lines.append(f"    {member['name']}: {member_type(member, api)}{ignored}")
            doc = member_doc(member, text, api)
            lines += quoted(doc, "    ") if doc else []
    return lines


def statuses(api):
    kinds = python.exceptions(api)
    lines = [*head("The status codes of the header, and their exceptions."), "NUMBERS = {"]
    lines += [f'    "{one["name"]}": {one["value"]},' for one in api["status_codes"]]
    lines += ["}", "", "# Names of classes of errors.py.", "EXCEPTIONS = {"]
    return [*lines, *(f'    "{name}": "{kind}",' for name, kind in kinds.items()), "}"]


def files(api):
    makers = {"_calls.py": methods, "_structs.py": structs, "_status.py": statuses}
    return {f"{python.FOLDER}/{name}": make(api) for name, make in makers.items()}
