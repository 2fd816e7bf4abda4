"""Reads the options' table, core/loader/option_rows.inc, as data.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

TOKEN = re.compile(r'//[^\n]*|"(?:[^"\\]|\\.)*"|[\w:&*]+|[^\s]')
SCOPES = {"kScopeDataset": "dataset", "kScopeLoader": "loader", "kScopeBoth": "both"}
# The functions of core/loader/options.cpp that make the kind of an option.
KINDS = {"integer": "int", "size": "size", "boolean": "bool", "text": "text", "word": "word", "choice": "word"}


def rows_of(text):
    """The arguments of each OPTION(...), as lists of tokens."""
    rows, depth = [], 0
    for token in (found[0] for found in TOKEN.finditer(text) if not found[0].startswith("//")):
        if token in ")}>":
            depth -= 1
        if token == "OPTION" and depth == 0:
            rows.append([[]])
        elif token == "," and depth == 1:
            rows[-1].append([])
        elif depth > 0:
            rows[-1][-1].append(token)
        if token in "({<":
            depth += 1
    return rows


def texts(tokens):
    return [token[1:-1].replace('\\"', '"').replace("\\\\", "\\") for token in tokens if token.startswith('"')]


def kind_of(tokens):
    """Type, default, words, and whether `auto` is a value."""
    automatic = tokens[0] == "or_auto"
    maker = tokens[2] if automatic else tokens[0]
    if maker == "array":
        return {
            "type": next(token.rpartition("::k")[2].lower() for token in tokens if token.startswith("OptionType::"))
        }
    if maker not in KINDS:
        raise ValueError(f"option_rows.inc: options.py does not know the kind {maker}")
    found = texts(tokens)
    words = found if KINDS[maker] == "word" else []
    made = {"type": KINDS[maker], "default": found[0], "words": words, "auto": automatic or found[0] == "auto"}
    return {key: value for key, value in made.items() if value}


def read(path):
    """One entry for each option, in the order of the table."""
    made = []
    for _, key, scope, kind, unit, doc in rows_of(pathlib.Path(path).read_text(encoding="utf-8")):
        entry = {"key": texts(key)[0], "scope": SCOPES[scope[0]], **kind_of(kind)}
        entry |= {"unit": "".join(texts(unit))} if texts(unit) != [""] else {}
        made.append(entry | {"doc": "".join(texts(doc))})
    return made
