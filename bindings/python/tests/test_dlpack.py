"""DLPack, old and versioned, against consumers that others wrote.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import loader_of
from dataline import _core

NEW = (1, 0)


def batch_of(values: Any, **options: Any) -> dataline.Batch:
    return next(iter(dataline.Loader(dataline.from_arrays({"x": values}), **options)))


def read_only(tmp_path: Path) -> dataline.Tensor:
    np.arange(1000, dtype=np.uint16).tofile(tmp_path / "tokens.bin")
    loader = dataline.Loader(f"tokens:{tmp_path}/tokens.bin?length=8&views=true", batch_size=2)
    return next(iter(loader)).tensor("x")


def test_numpy_takes_a_tensor_without_a_copy() -> None:
    batch = batch_of(np.arange(12, dtype=np.float32).reshape(4, 3))
    array = np.from_dlpack(batch.tensor("x"))
    assert np.shares_memory(array, batch["x"])
    assert array.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_a_tensor_taken_holds_the_lease_past_the_loader() -> None:
    loader = loader_of(10, batch_size=5)
    batch = next(iter(loader))
    array = np.from_dlpack(batch.tensor("x"))
    batch.release()
    assert loader.stats().leases_held == 1
    loader.close()
    del loader
    gc.collect()
    assert array.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("version", [None, (0, 8), NEW, (2, 0)])
def test_a_capsule_nobody_takes_gives_the_lease_back(version: Any) -> None:
    loader = loader_of(10, batch_size=5, epochs=1)
    tensor = next(iter(loader)).tensor("x")
    capsule = tensor.__dlpack__(max_version=version)
    assert ("dltensor_versioned" if version and version[0] >= 1 else '"dltensor"') in repr(capsule)
    del tensor
    assert loader.stats().leases_held == 1
    del capsule
    assert loader.stats().leases_held == 0


@pytest.mark.parametrize("version", [None, NEW])
@pytest.mark.parametrize("copy", [None, False, True])
def test_capsules_come_back_the_same_by_our_own_import(version: Any, copy: Any) -> None:
    values = np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    tensor = batch_of(values).tensor("x")
    loan = _core.Loan.of_capsule(tensor.__dlpack__(max_version=version, copy=copy))
    assert (loan.dtype, loan.shape, loan.strides) == ("i16", (4, 2, 3), (12, 6, 2))
    assert (loan.address == np.asarray(tensor).__array_interface__["data"][0]) is (copy is not True)
    assert loan.address % 256 == 0
    capsule = tensor.__dlpack__()
    _core.Loan.of_capsule(capsule)
    with pytest.raises(ValueError, match="capsule"):
        _core.Loan.of_capsule(capsule)  # used up


def test_a_read_only_field_needs_a_version_that_can_say_so_or_a_copy(tmp_path: Path) -> None:
    tensor = read_only(tmp_path)
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    shared = _core.Loan.of_capsule(tensor.__dlpack__(max_version=NEW))
    assert shared.strides == (18, 2)
    copied = _core.Loan.of_capsule(tensor.__dlpack__(copy=True))
    assert copied.strides == (16, 2)
    dataset = dataline.from_arrays({"x": np.asarray(tensor)})
    assert next(iter(dataline.Loader(dataset)))["x"].tolist() == np.asarray(tensor).tolist()


def test_the_device_is_the_cpu_and_streams_are_refused() -> None:
    tensor = batch_of(np.arange(3)).tensor("x")
    assert tensor.__dlpack_device__() == (1, 0)
    tensor.__dlpack__(dl_device=(1, 0), stream=None)
    with pytest.raises(BufferError, match="dl_device"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        tensor.__dlpack__(stream=1)
    with pytest.raises(TypeError):
        tensor.__dlpack__(nonsense=1)  # type: ignore[call-arg]


class OnAGpu:
    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("asked for all the same")


def test_arrays_on_a_gpu_are_not_taken() -> None:
    with pytest.raises(BufferError, match="host memory"):
        dataline.from_arrays({"x": OnAGpu()})


def test_torch_and_the_library_exchange_every_dtype() -> None:
    torch = pytest.importorskip("torch")
    # Before it took versioned capsules, PyTorch did not take bool.
    new = ["bool"] if "max_version" in inspect.signature(torch.Tensor.__dlpack__).parameters else []
    for name in (
        *new,
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
    ):
        values = torch.arange(12).reshape(4, 3).to(getattr(torch, name))
        batch = batch_of(values, batch_size=2)
        back = torch.from_dlpack(batch.tensor("x"))
        assert back.dtype == values.dtype
        assert torch.equal(back, values[:2])
        address = back.data_ptr()
        assert address == _core.Loan.of_capsule(batch.tensor("x").__dlpack__()).address, "shared"
    bits = torch.tensor([True, False, True])
    assert batch_of(bits)["x"].tolist() == [True, False, True]
    weights = torch.ones(3, requires_grad=True)
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        dataline.from_arrays({"x": weights})
