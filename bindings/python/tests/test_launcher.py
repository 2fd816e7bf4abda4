"""rank="auto" and world_size="auto": the environment of the process, and the context of Ray Train.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import dataline

COUNT = 24


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "ray.train", raising=False)


def stream(**options: Any) -> list[int]:
    dataset = dataline.from_arrays({"x": np.arange(COUNT)})
    loader = dataline.Loader(dataset, global_batch_size=6, shuffle=True, seed=2, **options)
    return [int(value) for batch in loader for value in batch["x"]]


def test_auto_is_what_the_launcher_says_when_the_loader_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stream(rank="auto", world_size="auto") == stream()
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert dataline.launcher() == ("torchrun", 2, 3, 1, None)
    assert stream(rank="auto", world_size="auto") == stream(rank=2, world_size=3)
    assert stream() != stream(rank=2, world_size=3)  # asked for nothing


def test_half_a_set_is_an_error_that_names_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    with pytest.raises(dataline.CallError, match="RANK=2 is set, WORLD_SIZE is not"):
        dataline.launcher()
    with pytest.raises(ValueError, match="RANK=2 is set, WORLD_SIZE is not"):
        stream(rank="auto", world_size="auto")
    assert len(stream(rank=0, world_size=2)) == COUNT // 2


def test_a_launcher_that_tells_the_rank_only_needs_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    assert dataline.launcher() == ("kubernetes", 1, None, None, None)
    assert stream(rank="auto", world_size=2) == stream(rank=1, world_size=2)
    with pytest.raises(ValueError, match=r"JOB_COMPLETION_INDEX=1 .kubernetes., which has only the rank"):
        stream(rank="auto", world_size="auto")


class Context:
    """As Ray Train's, for a worker of two."""

    def get_world_rank(self) -> int:
        return 1

    def get_world_size(self) -> int:
        return 2

    def get_local_rank(self) -> int:
        return 0

    def get_local_world_size(self) -> int:
        return 1


def test_a_worker_of_ray_train_is_what_its_context_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.train", types.SimpleNamespace(get_context=Context))
    assert dataline.launcher() == ("ray", 1, 2, 0, 1)
    assert stream(rank="auto", world_size="auto") == stream(rank=1, world_size=2)


def test_a_program_that_only_imports_ray_is_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def outside() -> Any:
        raise RuntimeError("not in a training function")

    monkeypatch.setitem(sys.modules, "ray.train", types.SimpleNamespace(get_context=outside))
    assert dataline.launcher().family == "none"
    assert stream(rank="auto", world_size="auto") == stream()
