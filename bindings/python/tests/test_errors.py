"""Exceptions carry what the library says, and are Python's own where there is one.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
import errno
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import loader_of, numbers
from dataline import errors


def test_a_missing_file_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        dataline.open(tmp_path / "nowhere.npy")
    error = caught.value
    assert isinstance(error, dataline.NotFoundError)
    assert isinstance(error, dataline.DataError)
    assert (error.name, error.code, error.errno) == ("DL_ERR_NOT_FOUND", -40, errno.ENOENT)
    assert "nowhere.npy" in str(error)
    assert (error.sample_index, error.column) == (None, None)


def test_a_uri_that_does_not_parse_names_the_column() -> None:
    with pytest.raises(dataline.CallError, match="dtype") as caught:
        dataline.open("raw:x?dtyp=u8")
    assert caught.value.name == "DL_ERR_BAD_URI"
    assert caught.value.column is not None
    assert caught.value.column > 6


def test_what_is_no_file_is_an_os_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(OSError, match=r"x\.npy") as caught:
        dataline.open(f"npy:{tmp_path}/x.npy")
    assert isinstance(caught.value, dataline.SystemCallError)
    assert caught.value.name == "DL_ERR_NOT_A_FILE"


def test_damage_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(dataline.DataError) as caught:
        dataline.open(f"npy:{tmp_path}/x.npy")
    assert caught.value.name in ("DL_ERR_TRUNCATED", "DL_ERR_CORRUPT")
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(dataline.DataError) as caught:
        dataline.open(f"npy:{tmp_path}/o.npy")
    assert caught.value.name == "DL_ERR_UNSAFE_TYPE"


def test_what_is_no_dataset_says_what_makes_one_of_it() -> None:
    class Samples:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> int:
            return index

    refused: list[tuple[Any, str]] = [
        (np.arange(3), r"got ndarray; use dataline.from_arrays\(\{"),
        (memoryview(b"abc"), r"got memoryview; use dataline.from_arrays\(\{"),
        (array.array("d"), r"got array; use dataline.from_arrays\(\{"),
        ({"x": np.arange(3)}, r"got dict; use dataline.from_arrays\("),
        (Samples(), r"got Samples; use dataline.from_reader\("),
        ([1, 2], r"got list; use dataline.from_reader\("),
        (b"x.npy", r"got bytes; convert it with os.fsdecode"),
        (None, "got NoneType$"),
        (5, "got int$"),
    ]
    for wrong, advice in refused:
        for take in (dataline.Loader, dataline.open):
            with pytest.raises(TypeError, match=f"expected a URI, a path or a Dataset, {advice}"):
                take(wrong)


def test_an_unknown_option_names_the_nearest_and_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="batch_size") as caught:
        loader_of(batchsize=3)
    assert isinstance(caught.value, dataline.UnknownOptionError)
    assert isinstance(caught.value, ValueError)


def test_values_out_of_range_and_of_a_wrong_kind_are_value_errors() -> None:
    for options in (
        {"batch_size": 0},
        {"batch_size": "many"},
        {"shuffle": "maybe"},
        {"batch_size": 1.5},
        {"seed": 2**63},
    ):
        with pytest.raises(ValueError, match=next(iter(options))) as caught:
            loader_of(**options)
        assert isinstance(caught.value, dataline.CallError)
        assert caught.value.name == "DL_ERR_BAD_OPTION"
    with pytest.raises(TypeError, match="batch_size"):
        loader_of(batch_size=[1])


def test_a_transform_error_names_the_column() -> None:
    with pytest.raises(dataline.CallError) as caught:
        loader_of(transform="cast(f32), flaten")
    assert (caught.value.name, caught.value.column) == ("DL_ERR_BAD_TRANSFORM", 12)


def test_too_little_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError, match="memory_budget") as caught:
        loader_of(1000, batch_size=1000, memory_budget="1KiB")
    assert isinstance(caught.value, dataline.MachineError)
    assert caught.value.name == "DL_ERR_OVER_BUDGET"


def test_parts_that_do_not_fit_are_a_data_error() -> None:
    with pytest.raises(dataline.DataError) as caught:
        dataline.zip(numbers(3), numbers(4))
    assert caught.value.name == "DL_ERR_MISMATCH"


def test_a_size_option_takes_numbers_and_units() -> None:
    assert loader_of(memory_budget=1 << 26).stats().budget_bytes == 1 << 26
    assert loader_of(memory_budget="64MiB").stats().budget_bytes == 1 << 26


def test_exceptions_can_be_pickled() -> None:
    with pytest.raises(dataline.NotFoundError) as caught:
        dataline.open("npy:nowhere.npy")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is dataline.NotFoundError
    assert vars(again) == vars(caught.value)
    assert again.errno == errno.ENOENT


def test_each_code_of_the_header_has_a_kind() -> None:
    header = json.loads((Path(__file__).parents[3] / "capi" / "api.json").read_text())
    codes = {code["name"]: code["value"] for code in header["status_codes"] if code["value"] < 0}
    assert len(codes) > 30
    bands = {-1: "CallError", -2: "MachineError", -4: "DataError", -5: "DataError", -6: "DataError", -7: "StateError",
             -8: "DeviceError", -9: "InternalError"}  # fmt: skip
    for name, code in codes.items():
        error = errors.from_status(code, name, "text", -1, 0, 0)
        expected = "CallError" if code > -20 else "MachineError" if code > -40 else bands[-(-code // 10)]
        assert isinstance(error, getattr(errors, expected)), name
        assert (str(error), error.code, error.name) == ("text", code, name)
    assert set(errors._BY_NAME) <= {*codes, "DL_CANCELLED", "DL_INTERRUPTED", "DL_TIMEOUT", "DL_END"}
    assert isinstance(errors.from_status(-12345, "?", "text", 7, 3, 0), dataline.InternalError)
    assert set(errors.__all__) <= set(dataline.__all__)
