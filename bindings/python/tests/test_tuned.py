"""Workers that are set while a loader runs, and what tuning tells.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pytest

import dataline
from conftest import loader_of


def test_workers_are_set_and_told_while_it_runs() -> None:
    loader = loader_of(100, batch_size=4, num_workers=3, prefetch_depth=2, epochs=1)
    loader.set_workers(2)
    tuned = loader.tuned()
    assert (tuned.mode, tuned.num_workers, tuned.most_workers, tuned.prefetch_depth) == ("off", 2, 3, 2)
    assert (tuned.changes, tuned.frozen, tuned.text) == (1, True, "not tuned: num_workers is set")
    assert loader.stats().num_workers == 2
    assert sum(len(batch["x"]) for batch in loader) == 100


@pytest.mark.parametrize("count", [0, 4, -1])
def test_a_number_that_is_not_planned_for_is_refused(count: int) -> None:
    loader = loader_of(100, num_workers=3)
    with pytest.raises(dataline.DataError, match="expected 1 to 3"):
        loader.set_workers(count)


def test_without_workers_there_is_nothing_to_set() -> None:
    with pytest.raises(dataline.WrongStateError, match="num_workers=0"):
        loader_of(100, num_workers=0).set_workers(1)


def test_a_tuned_loader_says_what_it_does() -> None:
    loader = loader_of(100, batch_size=4, num_workers=3, prefetch_depth=5, tune="on")
    tuned = loader.tuned()
    assert (tuned.mode, tuned.frozen) == ("on", False)
    assert (tuned.wanted_workers, tuned.most_depth) == (3, 5)
    assert tuned.text == "measuring 3 workers, depth 5"
    assert "tuned: 3 workers, depth 5\n" in loader.state_dict()["dataline"]
