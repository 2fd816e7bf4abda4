"""What tuning tells.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from conftest import loader_of


def test_tuned_is_what_the_library_reports() -> None:
    loader = loader_of(100, batch_size=4, num_workers=3, prefetch_depth=2, epochs=1)
    tuned = loader.tuned()
    assert (tuned.mode, tuned.num_workers, tuned.most_workers, tuned.prefetch_depth) == ("off", 3, 3, 2)
    assert (tuned.changes, tuned.frozen, tuned.text) == (0, True, "not tuned: num_workers is set")
    assert loader.stats().num_workers == 3
    assert sum(len(batch["x"]) for batch in loader) == 100


def test_a_tuned_loader_says_what_it_does() -> None:
    loader = loader_of(100, batch_size=4, num_workers=3, prefetch_depth=5, tune="on")
    tuned = loader.tuned()
    assert (tuned.mode, tuned.frozen) == ("on", False)
    assert (tuned.wanted_workers, tuned.most_depth) == (3, 5)
    assert tuned.text == "measuring 3 workers, depth 5"
    assert "tuned: 3 workers, depth 5\n" in loader.state_dict()["dataline"]
