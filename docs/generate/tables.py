"""Pages made from what the library and the shell say of themselves: options, formats of URIs, commands.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

ABOUT = pathlib.Path(__file__).resolve().parents[1] / "reference/about"
MADE = "This page is generated from the library's own tables, version {version}.\n"
SCOPES = {"dataset": "opening a dataset", "loader": "a loader", "dataset|loader": "both", "both": "both"}


def about(name):
    """What is written about a made page or one of its parts, if anything is."""
    path = ABOUT / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def cell(text):
    """Text inside a table."""
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def code(text):
    return f"`{text}`"


def version(shell):
    return shell.table("version")["version"]


def value_of(row):
    kind = row["type"]
    if "|" in kind:
        return " ".join(code(word) for word in kind.split("|"))
    limits = ""
    if row["min"] is not None and kind not in ("bool",):
        limits = f", {row['min']} to {row['max']}" if row["max"] < 2**40 else f", {row['min']} or more"
    return kind + limits + (f" ({row['unit']})" if row["unit"] else "")


def options(shell):
    lines = ["# Options", "", MADE.format(version=version(shell))]
    lines += [about("options"), ""]
    for row in shell.table("options"):
        default = "not set" if row["default"] in (None, "") else code(row["default"])
        lines += [
            f"## {row['key']}",
            "",
            row["doc"].replace("<", "&lt;"),
            "",
            f"Value: {value_of(row)}. Default: {default}. Applies to {SCOPES.get(row['scope'], row['scope'])}. "
            f"Since {row['since']}.",
            "",
        ]
    return "\n".join(lines)


def formats(shell):
    lines = ["# Formats and URIs", "", MADE.format(version=version(shell))]
    lines += [about("formats"), ""]
    for row in shell.table("formats")["formats"]:
        doc = row["doc"][:1].upper() + row["doc"][1:]
        lines += [f"## {row['name']}", "", doc.replace("<", "&lt;") + ".", ""]
        if row["keys"]:
            lines += ["| key | values | meaning |", "|---|---|---|"]
            for key in row["keys"]:
                doc = re.sub(r" \(default [^)]*\)$", "", key["doc"])
                if key["default"] not in (None, ""):
                    doc += f"; default: {code(key['default'])}"
                lines.append(f"| `{key['name']}` | {cell(key['values'])} | {cell(doc)} |")
            lines.append("")
        lines.append(about(f"format-{row['name']}"))
    return "\n".join(lines)


def commands(shell):
    """What each command says of itself; the options, which are the same for all, are on their own page."""
    usage = shell.text("--help")
    names = re.findall(r"^  ([a-z]+)\b", usage, re.MULTILINE)
    lines = [
        "# The shell",
        "",
        MADE.format(version=version(shell)),
        "```text",
        usage.rstrip(),
        "```",
        "",
        about("commands"),
        "",
    ]
    for name in names:
        help_text = shell.text(name, "--help")
        own, _, rest = help_text.partition("\noptions of the library")
        lines += [f"## dataline {name}", "", "```text", own.rstrip(), "```", ""]
        keys = [flag.replace("-", "_") for flag in re.findall(r"^  --([\w-]+)", rest, re.MULTILINE)]
        if keys:
            lines += ["Library options: " + ", ".join(f"[{key}](options.md#{key})" for key in keys) + ".", ""]
    return "\n".join(lines)
