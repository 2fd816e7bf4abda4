"""Pages made from what the library and the shell say of themselves: options, formats of URIs, commands.

SPDX-License-Identifier: Apache-2.0
"""

import re

MADE = "This page is made from the library's own tables, of version {version}.\n"
SCOPES = {"dataset": "opening a dataset", "loader": "a loader", "dataset|loader": "both", "both": "both"}


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
    lines += [
        "An option has the same name in every language: a key of `dl_options_set` in C, a keyword argument in Python and Julia, a flag of the",
        "shell (`--batch_size 64`; `-` and `_` are the same there). Sizes take `KiB`, `MiB` and `GiB`; booleans are `true` and `false`. If a key is set",
        "twice, the last value counts; values that contradict each other are an error. An unknown key is an error that names the nearest one.",
        "",
    ]
    for row in shell.table("options"):
        default = "not set" if row["default"] in (None, "") else code(row["default"])
        lines += [
            f"## {row['key']}",
            "",
            row["doc"].replace("<", "&lt;"),
            "",
            f"Value: {value_of(row)}. Default: {default}. Applies to {SCOPES.get(row['scope'], row['scope'])}. Since {row['since']}.",
            "",
        ]
    return "\n".join(lines)


def formats(shell):
    lines = ["# Formats and URIs", "", MADE.format(version=version(shell))]
    lines += [
        "A dataset is opened by a URI, `SCHEME:PATH[,PATH...][?KEY=VALUE&...]`, or by a bare path, whose format is detected from its content. A path is a",
        "file, or a directory: then its files of that format, in natural order (`part-2` before `part-10`). Several paths are put one after another.",
        "Named paths are put side by side: `npy:image=a.npy,label=b.npy`. In paths and values the characters `% , ? & =` are written",
        "`%25 %2C %3F %26 %3D`; a path without a scheme is taken as it is. `dataline info URI` shows what is in one.",
        "",
    ]
    for row in shell.table("formats")["formats"]:
        lines += [f"## {row['name']}", "", row["doc"].replace("<", "&lt;") + ".", ""]
        if row["keys"]:
            lines += ["| key | values | default | meaning |", "|---|---|---|---|"]
            for key in row["keys"]:
                doc = re.sub(r" \(default [^)]*\)$", "", key["doc"])
                shown = code(key["default"]) if key["default"] not in (None, "") else ""
                lines.append(f"| `{key['name']}` | {cell(key['values'])} | {cell(shown)} | {cell(doc)} |")
            lines.append("")
        lines += NOTES.get(row["name"], [])
    return "\n".join(lines)


NOTES = {
    "tokens": [
        "In a file of n tokens there are `(n - length - 1) / stride + 1` windows, rounded down; none if n is less than `length + 1`. No window crosses from",
        "one file into the next. Headerless `.bin` files are taken as u16, as nanoGPT writes them; `info` then says *assumed*.",
        "",
    ],
    "folder": [
        "Class folders follow the rules of torchvision's ImageFolder: the classes are the sub-folders in the order of their names, counted from 0.",
        "`labels=list.csv` takes the labels from a file instead. With `index=FILE` the list of files is kept, so that a folder of millions opens",
        "at once; it is made when the folder is first opened, and again when a directory has changed.",
        "",
    ],
    "tar": [
        "The archives are read in place, in any order. One pass over the headers at open builds an index of 12 bytes per member, 8 per sample, and the keys.",
        "",
        "- A sample is a run of adjacent members with the same key: the path up to the first dot of its last part. The rest after the dot, in lower case, names",
        "  the field. `jpg jpeg png webp` are `image`, `cls` is `label` (decimal text), every other extension is a field of bytes of that name,",
        "  `key` is the key. Directories, `__x__` members and names without an extension are skipped (the last with a note).",
        "- The fields are those that more than half of a shard's samples have, or those listed in `fields=image,label`. A sample without one of them is a bad",
        "  sample, as is one with a label that is not a number. Two members for one field are an error, which suggests `image=jpg` if both are",
        "  images. All shards must have the same fields.",
        "- Nothing is ever extracted: names are opaque keys. Links, devices, FIFOs, sparse files, volumes, and whatever GNU tar and Python's tarfile read",
        "  differently are refused with member and offset. The end marker is required (unless `end=optional`), with nothing but zeros after it.",
        "- Compressed archives have no random access and are refused: unpack them. A literal brace in a path is written `%7B`.",
        "",
    ],
}


def commands(shell):
    """What each command says of itself; the options, which are the same for all, are on their own page."""
    usage = shell.text("--help")
    names = re.findall(r"^  ([a-z]+)\b", usage, re.MULTILINE)
    lines = ["# The shell", "", MADE.format(version=version(shell))]
    lines += [
        "The program `dataline` is a binding like the others: it opens datasets and runs loaders, with the library's options as flags.",
        "Details that its help does not have are in [the folder of its source](https://github.com/dataline/dataline/tree/main/bindings/cli).",
        "",
        "```text",
        usage.rstrip(),
        "```",
        "",
        "An error is one line on standard error. Exit status: 0 done; 1 it failed; 2 the command line is wrong (a mark shows the place in a URI or",
        "transform); 128 + n ended by signal n. A reader that closes the pipe is not an error.",
        "",
    ]
    for name in names:
        help_text = shell.text(name, "--help")
        own, _, rest = help_text.partition("\noptions of the library")
        lines += [f"## dataline {name}", "", "```text", own.rstrip(), "```", ""]
        if rest:
            keys = re.findall(r"^  --(\w+)", rest, re.MULTILINE)
            lines += ["Options of the library that it takes: " + ", ".join(f"[{key}](options.md#{key})" for key in keys) + ".", ""]
    return "\n".join(lines)
