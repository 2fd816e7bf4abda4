"""Samples by index: dataset[i].

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import numpy as np
import pytest

import dataline


def pairs() -> dataline.Dataset:
    return dataline.from_arrays({"x": np.arange(12, dtype=np.float32).reshape(6, 2), "y": np.arange(6)})


def test_an_index_gives_one_sample_without_the_batchs_dim() -> None:
    dataset = pairs()
    assert len(dataset) == 6
    sample = dataset[2]
    assert list(sample) == ["x", "y"]
    assert sample["x"].tolist() == [4, 5]
    assert sample["y"] == 2
    assert sample["y"].dtype == np.int64
    assert dataset[-1]["y"] == 5
    assert dataset[np.int32(-6)]["y"] == 0


@pytest.mark.parametrize("index", [6, -7])
def test_an_index_out_of_range_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"sample {index}: the dataset has 6"):
        pairs()[index]


def test_a_loop_over_a_dataset_ends() -> None:
    assert [int(sample["y"]) for sample in pairs()] == list(range(6))
    assert [int(sample["y"]) for sample in reversed(pairs())] == list(range(6))[::-1]


def test_a_slice_is_a_subset() -> None:
    for part in (slice(1, 4), slice(None, None, -2), slice(-2, 100), slice(4, 4)):
        chosen = pairs()[part]
        assert isinstance(chosen, dataline.Dataset)
        assert [int(sample["y"]) for sample in chosen] == list(range(6))[part]


@pytest.mark.parametrize("wrong", ["x", [1, 2], 1.0])
def test_what_is_no_index_says_what_takes_it(wrong: object) -> None:
    with pytest.raises(TypeError, match="subset"):
        pairs()[wrong]  # type: ignore[call-overload]


def test_a_sample_is_what_a_transform_would_be_given() -> None:
    dataset = dataline.from_reader([{"words": "one"}, {"words": "three"}])
    assert [bytes(sample["words"]) for sample in dataset] == [b"one", b"three"]
    assert dataset.read(0, transform="words: pad_to(4)")["words"].shape == (1, 4)


def test_a_sample_outlives_its_dataset() -> None:
    dataset = pairs()
    sample = dataset[3]
    dataset.close()
    assert sample["x"].tolist() == [6, 7]
