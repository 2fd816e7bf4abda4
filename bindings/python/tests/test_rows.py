"""Indices, lengths, weights and numbers of calls: taken as NumPy takes them, or refused by name.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import decimal
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import loader_of, numbers

COUNT = 4
masked: Any = np.ma.masked_array


def by_subset(indices: Any) -> list[int]:
    return [int(sample["x"]) for sample in numbers(COUNT).subset(indices)]


def by_option(indices: Any) -> list[int]:
    return [value for batch in loader_of(COUNT, sample_indices=indices, epochs=1) for value in batch["x"].tolist()]


def by_call(indices: Any) -> list[int]:
    loader = loader_of(COUNT, sample_indices=[0, 1], prefetch_depth=1)
    loader.set_indices(indices)
    loader.seek(1)
    return [value for batch in loader for value in batch["x"].tolist()]


WAYS = [by_subset, by_option, by_call]


@pytest.mark.parametrize("way", WAYS)
def test_whole_numbers_are_indices(way: Any) -> None:
    array = np.arange(COUNT)
    for indices in (
        [3, 1], (3, 1), range(3, 0, -2), iter([3, 1]), np.array([3, 1]), np.array([3, 1], np.uint64),
        np.array([3, 0, 1, 0])[::2], [np.int32(3), 1], bytes([3, 1]), bytearray([3, 1]), memoryview(bytes([3, 1])),
    ):  # fmt: skip
        assert way(indices) == array[[3, 1]].tolist(), indices


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "mask",
    [[True, False], [True, False, True, False], [0, True], np.array([True, False]), [np.bool_(True), np.bool_(False)]],
)
def test_a_mask_is_refused_and_never_counted(way: Any, mask: Any) -> None:
    with pytest.raises(
        ValueError, match=r"expected whole numbers, got booleans; for a mask, pass numpy\.flatnonzero\(mask\)"
    ):
        way(mask)


def test_the_indices_of_a_mask_are_those_of_numpy() -> None:
    mask = np.array([True, False, True, True])
    assert by_subset(np.flatnonzero(mask)) == np.arange(COUNT)[mask].tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ([1.0, 2.0], r"got 1\.0 \(float\) at index 0"),
        (np.array([1.0, 2.0]), "got f64"),
        ([1, None], r"got None \(NoneType\) at index 1"),
        ([1, "1"], "at index 1"),
        ([1, 2**63], "got 9223372036854775808"),
        (np.array([1, 2**63], np.uint64), "got 9223372036854775808"),
        ([decimal.Decimal(1)], "got Decimal"),
        ([[1, 2]], "at index 0"),
        ("12", "got (str|text)"),
        ({1, 2}, "got set"),
        ({1: 2}, "got dict"),
        (5, "got int"),
        (np.array(["2020", "2021"], "M8[ns]"), "datetime64"),
        (np.array([1, None]), "object"),
        (masked([1, 2], mask=[True, False]), "masked"),
        (np.array([[1, 2]]), "one dim"),
        (np.array([3, 1], ">i4"), "byte order"),
    ],
)
def test_what_is_no_row_of_indices_is_refused(way: Any, wrong: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"indices: .*{text}") as caught:
        way(wrong)
    assert not isinstance(caught.value, OverflowError)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([True, False, True, True], "got booleans"),
        (np.array([True, False, True, True]), "got booleans"),
        (masked([1.0] * 4, mask=[1, 0, 0, 0]), "masked"),
        ([1, 2, 3, math.nan], r"\[3\]: expected a finite number"),
        ([1, 2, 3, 1j], "at index 3"),
        (["1"] * 4, "at index 0"),
        ([10**400] * 4, "at index 0"),
    ],
)
def test_weights_are_numbers(weights: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError, dataline.DataError), match=f"weights.*{text}"):
        loader_of(COUNT, weights=weights)


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ([True] * 4, "got booleans"),
        ([1.5] * 4, "at index 0"),
        ([1, 2, 3, math.nan], "at index 3"),
        (masked([1, 2, 3, 4], mask=[1, 0, 0, 0]), "masked"),
    ],
)
def test_lengths_are_whole_numbers(lengths: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"lengths: .*{text}"):
        loader_of(COUNT, lengths=lengths, bucket_edges="2,4")
    offsets: Any = masked([0, 4], mask=[0, 1])
    with pytest.raises(TypeError, match="masked"):
        dataline.from_arrays({"x": dataline.Ragged(np.zeros(4), offsets)})


@pytest.mark.parametrize("wrong", [True, 1.5, "1", 2**70, -(2**70), None, math.inf])
def test_numbers_of_calls_are_whole_and_fit(wrong: Any) -> None:
    loader, dataset = loader_of(), numbers(COUNT)
    for call in (
        lambda: dataset.read(wrong), lambda: dataset.image_info(wrong), lambda: loader.seek(wrong),
        lambda: loader.seek(0, wrong), lambda: loader.pixel_scale("x", wrong),
        lambda: dataline.from_reader(range(3), held_blocks=wrong),
        lambda: dataline.mix({"a": dataset}, weights={"a": 1}, schedule={wrong: {"a": 1}}),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="expected a whole number") as caught:
            call()
        assert not isinstance(caught.value, OverflowError)


def test_numbers_that_are_no_whole_ones_are_numbers() -> None:
    loader, dataset = loader_of(), numbers(COUNT)
    wrongs: list[Any] = [True, "1", None]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="weight of 'a': expected a number"):
            dataline.mix({"a": dataset}, weights={"a": wrong})
        if wrong is not None:
            with pytest.raises(TypeError, match="timeout: expected a number"):
                loader.next(timeout=wrong)
    with pytest.raises(ValueError, match="timeout"):
        loader.next(timeout=math.nan)
    for long in (math.inf, 1e300):
        assert loader.next(timeout=long) is not None
        loader.seek(0)


def test_a_text_is_no_boolean(tmp_path: Path) -> None:
    for wrong in ("false", "no", 1, 0):
        field = dataline.Field("x", "u8", (), wrong)  # type: ignore[arg-type]
        for call in (
            lambda: dataline.from_arrays({"x": np.zeros(2)}, copy=wrong),  # type: ignore[arg-type]
            lambda: dataline.from_reader(range(3), fields=[field]),
            lambda: dataline.Writer(f"arrow:{tmp_path}/set", [field]),
        ):
            with pytest.raises(TypeError, match="expected True or False"):
                call()


def test_a_boolean_is_no_index_of_a_dataset() -> None:
    wrongs: list[Any] = [True, np.bool_(True), 1.0, "1"]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="expected an index or a slice"):
            numbers(COUNT)[wrong]


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("shuffle", "maybe"), ("shuffle", 1), ("shuffle", ""), ("drop_last", "no"), ("drop_last", 1),
        ("batch_size", True), ("batch_size", 2.0), ("seed", True), ("epochs", True), ("num_workers", True),
        ("prefetch_depth", True), ("rank", False),
        ("cache", True), ("trace", 5), ("transform", True), ("device", 0), ("pin_memory", "no"), ("replacement", 1),
    ],
)  # fmt: skip
def test_options_are_read_by_the_table_and_never_by_truth(option: str, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=f"{option}: expected"):
        loader_of(COUNT, **{option: wrong})


def test_numbers_of_numpy_are_options() -> None:
    options = {"batch_size": np.int64(3), "drop_last": np.bool_(True), "shuffle": np.bool_(False)}
    assert [batch["x"].tolist() for batch in loader_of(COUNT, **options)] == [[0, 1, 2]]
