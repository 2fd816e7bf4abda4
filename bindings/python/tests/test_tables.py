"""All that is known of options and transforms comes from the library's tables.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import dataline
from conftest import loader_of
from dataline import _core
from dataline._options import build

PACKAGE = Path(__file__).parents[1]


def test_each_option_of_the_table_can_be_set_by_its_name() -> None:
    table = dataline.option_table()
    assert len(table) > 20
    for option in table:
        value: Any = {"indices": [0], "weights": [1.0], "lengths": [1]}.get(option.type)
        if value is None:
            default = option.default or (option.choices[0] if option.choices else "")
            value = default or (1 if option.type in ("int", "size") else "")
        made = build({option.key: value})
        assert isinstance(made, _core.Options)
        if option.default and option.type != "size":
            assert made.get(option.key) == option.default


def test_numbers_and_booleans_are_said_as_the_library_reads_them() -> None:
    for option in dataline.option_table():
        if option.type == "bool":
            for value in (False, True):
                assert build({option.key: value}).get(option.key) == str(value).lower()
        if option.type == "int" and option.maximum is not None and option.minimum is not None:
            for number in (max(option.minimum, 1), option.maximum):
                assert build({option.key: number}).get(option.key) == str(number)
            with pytest.raises(dataline.CallError):
                build({option.key: option.maximum + 1})


def test_none_leaves_the_default() -> None:
    assert [batch["x"].shape for batch in loader_of(40, batch_size=None, seed=None)] == [(32,), (8,)]


def words_of(path: Path) -> set[str]:
    """The strings in a file's code, docstrings left out."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    }


def test_no_source_file_lists_options() -> None:
    """A new option of the library reaches Python without an edit: no file knows the keys. Only the PyTorch names are
    translated, in dataline.torch, dataline.ray refuses ranks, and the types are written from the table, which is checked
    (test_types.py)."""
    table = dataline.option_table()
    keys = {option.key for option in table} - {option.type for option in table}
    for path in sorted((PACKAGE / "src" / "dataline").glob("*.py")):
        if path.name not in (
            "torch.py",
            "_torch_source.py",
            "_torch_objects.py",
            "_launcher.py",
            "ray.py",
            "_option_types.py",
        ):
            # A row of the metrics, and a member of a bad sample, are called as the options are.
            others = {"_metrics_otlp.py": {"device"}, "loader.py": {"replacement"}}.get(path.name, set())
            assert not (keys - others) & words_of(path), path
    for path in sorted((PACKAGE / "src" / "core").glob("*.c")):
        # A tensor's place is called as the option is, and members of structs are.
        if path.name != "calls.c":
            assert not (keys - {"device"}) & set(re.findall(r'"([^"]*)"', path.read_text())), path


def test_no_source_file_lists_operators() -> None:
    names = {transform.name for transform in dataline.transform_table()} - {"reshape", "pad"}
    for path in sorted((PACKAGE / "src" / "dataline").glob("*.py")):
        assert not names & words_of(path), path


def test_help_is_the_tables_text() -> None:
    text = dataline.Loader.__doc__
    assert text is not None
    for option in dataline.option_table():
        assert f"    {option.key}: " in text
        assert option.doc in text


def test_transforms_tell_their_arguments() -> None:
    table = {transform.name: transform for transform in dataline.transform_table()}
    assert [argument.name for argument in table["one_hot"].arguments] == ["n", "dtype"]
    assert table["one_hot"].arguments[0].default == ""
    assert table["cast"].doc
