"""What editors and type checkers see: option names, their values, the types of what comes back.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path

import pytest

import dataline

HERE = Path(__file__).parent
KINDS = ["", "_torch"]
Found = set[tuple[str, int]]  # file and line


def mypy_output(files: list[Path], folder: Path) -> str:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={folder}", *map(str, files)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder).stdout
    assert "Success" in output or "Found " in output, output
    return output


def mypy(files: list[Path], folder: Path) -> Found:
    output = mypy_output(files, folder)
    return {(Path(file).name, int(line)) for file, line in re.findall(r"^(.+?):(\d+): error", output, re.MULTILINE)}


def pyright(files: list[Path], folder: Path) -> Found:
    program = shutil.which("basedpyright", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("basedpyright is not installed")
    settings = {"typeCheckingMode": "standard", "include": [str(file) for file in files], "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [program, "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)]
    output = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
    assert output["summary"]["filesAnalyzed"] == len(files)
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1)
        for one in output["generalDiagnostics"]
        if one["severity"] == "error"
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_each_wrong_use_is_found_and_no_right_one(checker: Callable[..., Found], kind: str, tmp_path: Path) -> None:
    if kind == "_torch":
        pytest.importorskip("torch")
    right, wrong = (HERE / "typed" / f"{name}{kind}.py" for name in ("right", "wrong"))
    lines = enumerate(wrong.read_text().splitlines(), 1)
    expected = {(wrong.name, number) for number, line in lines if "  # wrong" in line}
    assert checker([right, wrong], tmp_path) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_mypy_prints_little_about_each_wrong_use(kind: str, tmp_path: Path) -> None:
    if kind == "_torch":
        pytest.importorskip("torch")
    said = mypy_output([HERE / "typed" / f"wrong{kind}.py"], tmp_path)
    mistakes = re.findall(r"^.*wrong.*: error: .*$", said, re.MULTILINE)
    assert len(mistakes) >= 10
    assert max(map(len, said.splitlines())) < 500
    assert len(said) < 400 * len(mistakes)


def test_the_types_of_the_options_are_those_of_the_librarys_table() -> None:
    from dataline import _option_types

    types = typing.get_type_hints(_option_types.Options)
    table = {option.key: option for option in dataline.option_table()}
    assert set(types) == set(table)
    for key, option in table.items():
        found = {word for kind in typing.get_args(types[key]) for word in typing.get_args(kind)}
        words = {word for word in found if isinstance(word, str)}
        assert words - {"auto"} == set(option.choices) - {"true", "false", "auto"}, key
