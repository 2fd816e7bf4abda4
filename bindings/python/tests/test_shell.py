"""The same job through the program ``dataline``: the same bytes, and states that go from one to the other.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import Shell

JOB: dict[str, Any] = {"batch_size": 32, "shuffle": "full", "seed": 11, "last_batch": "pad", "epochs": 2}
FLAGS = [f"--{key}={value}" for key, value in JOB.items()]
CHAIN = Path(__file__).parents[3] / "examples" / "python" / "chain.py"


def bytes_of(loader: dataline.Loader, limit: int = -1) -> bytes:
    """The next batches, to the end of the job without a limit."""
    parts: list[bytes] = []
    while len(parts) != limit:
        try:
            batch = loader.next()
        except dataline.EndOfJob:
            break
        if batch is not None:
            parts.append(batch.tensor("data").tobytes())
    return b"".join(parts)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_the_bytes_of_a_job_are_those_of_dataline_cat(shell: Shell, records: str, workers: int) -> None:
    whole = shell("cat", records, *FLAGS)
    assert len(whole) == 2 * 32 * 32 * 16
    assert bytes_of(dataline.Loader(records, num_workers=workers, **JOB)) == whole


def test_a_state_goes_from_the_shell_to_python_and_back(shell: Shell, records: str, tmp_path: Path) -> None:
    whole, state = shell("cat", records, *FLAGS), tmp_path / "state"
    joined = shell("cat", records, *FLAGS, "--batches", 5, "--save-state", state)
    loader = dataline.Loader(records, **JOB)
    loader.load_state(state.read_text())
    joined += bytes_of(loader, 40)  # over the end of the first epoch
    state.write_text(loader.save_state())
    joined += shell("cat", records, *FLAGS, "--load-state", state)
    assert joined == whole


def chain(*arguments: Any) -> bytes:
    return subprocess.run([sys.executable, CHAIN, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout


def test_the_chain_program_is_a_link(shell: Shell, records: str, tmp_path: Path) -> None:
    options = [flag[2:] for flag in FLAGS]
    whole, state = shell("cat", records, *FLAGS), tmp_path / "state"
    joined = chain(records, "-", state, 3, "data", *options)
    joined += shell("cat", records, *FLAGS, "--batches", 30, "--load-state", state, "--save-state", state)
    joined += chain(records, state, state, 20, "data", *options)
    joined += chain(records, state, "-", -1, "data", *options)
    assert joined == whole


def test_the_chain_program_says_what_is_wrong_in_one_line(records: str) -> None:
    for arguments in ((records, "-", "-", "1", "nofield"), (records, "-", "-", "1", "data", "batchsize=1"), ("x",)):
        done = subprocess.run([sys.executable, CHAIN, *arguments], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_transform_gives_the_same_bytes(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "x.npy", rng.integers(0, 256, (50, 4, 5, 3), np.uint8))
    transform, uri = "data: normalize(mean=0.5, std=0.25), cast(bf16)", f"npy:{tmp_path}/x.npy"
    whole = shell("cat", uri, "--batch_size=8", "--shuffle=full", f"--transform={transform}")
    loader = dataline.Loader(uri, batch_size=8, shuffle=True, transform=transform)
    assert b"".join(batch.tensor("data").tobytes() for batch in loader) == whole


def test_the_tables_are_those_of_the_shell(shell: Shell) -> None:
    shown = json.loads(shell("options", "--json"))
    table = dataline.option_table()
    assert [option["key"] for option in shown] == [option.key for option in table]
    assert [option["doc"] for option in shown] == [option.doc for option in table]
    assert [option["default"] or "" for option in shown] == [option.default for option in table]
    shown = json.loads(shell("transforms", "--json"))
    assert [one["name"] for one in shown] == [one.name for one in dataline.transform_table()]
    arguments = [[argument["name"] for argument in one["arguments"]] for one in shown]
    assert arguments == [[argument.name for argument in one.arguments] for one in dataline.transform_table()]
    version = json.loads(shell("version", "--json"))
    assert (version["version"], version["abi"]) == (dataline.__version__, dataline.abi_version)
    assert os.fspath(dataline.build_info())
