"""Batches: mappings of arrays over the library's memory.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import loader_of, numbers

ALL_DTYPES = {
    "bool": np.bool_, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}  # fmt: skip


def first(dataset: dataline.Dataset, **options: Any) -> dataline.Batch:
    return next(iter(dataline.Loader(dataset, **options)))


def test_a_batch_is_a_mapping_of_arrays_in_the_order_of_the_fields() -> None:
    x, y = np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10)
    batch = first(dataline.from_arrays({"x": x, "y": y}), batch_size=4)
    assert isinstance(batch, Mapping)
    assert list(batch) == ["x", "y"]
    assert batch.keys() == ("x", "y")
    assert len(batch) == 2
    assert "x" in batch
    assert "z" not in batch
    assert 1 not in batch
    assert batch.get("z") is None
    assert batch.get("z", 5) == 5
    np.testing.assert_array_equal(batch["x"], x[:4])
    a, b = batch.values()
    np.testing.assert_array_equal(a, x[:4])
    np.testing.assert_array_equal(b, y[:4])
    assert [name for name, _ in batch.items()] == ["x", "y"]
    assert dict(batch)["y"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ALL_DTYPES)
def test_each_dtype_arrives_as_numpy_has_it(name: str) -> None:
    values = np.arange(24).reshape(4, 2, 3).astype(ALL_DTYPES[name])
    dataset = dataline.from_arrays({"x": values})
    assert dataset.fields == (dataline.Field("x", name, (2, 3), False, "", values[0].nbytes),)
    batch = first(dataset, batch_size=4)
    assert batch["x"].dtype == values.dtype
    np.testing.assert_array_equal(batch["x"], values)
    tensor = batch.tensor("x")
    assert (tensor.dtype, tensor.shape, tensor.strides, tensor.nbytes) == (name, (4, 2, 3), (6, 3, 1), values.nbytes)
    assert tensor.tobytes() == values.tobytes()
    np.testing.assert_array_equal(np.asarray(tensor), values)


def test_arrays_share_the_memory_of_the_batch() -> None:
    batch = first(numbers(4), batch_size=4)
    batch["x"][0] = 99
    assert batch["x"][0] == 99
    assert np.shares_memory(batch["x"], np.asarray(batch.tensor("x")))
    assert batch["x"].__array_interface__["data"][0] % 256 == 0


def test_arrays_outlive_the_batch_its_release_and_the_loader() -> None:
    loader = loader_of(100, batch_size=10, prefetch_depth=1, max_leases=1)
    kept = []
    for batch in loader:
        kept.append(batch["x"])
        batch.release()
    loader.close()
    del loader, batch
    gc.collect()
    assert [array.tolist() for array in kept] == [list(range(at, at + 10)) for at in range(0, 100, 10)]


def test_an_array_holds_its_lease_until_it_is_gone() -> None:
    loader = loader_of(100, batch_size=10, epochs=1)
    batch = loader.next()
    assert batch is not None
    array, memory = batch["x"], memoryview(batch.tensor("x"))
    batch.release()
    assert loader.stats().leases_held == 1
    del array
    assert loader.stats().leases_held == 1
    memory.release()
    assert loader.stats().leases_held == 0


def test_a_released_batch_says_so_and_may_be_released_again() -> None:
    batch = first(numbers(4))
    with batch as same:
        assert same is batch
    batch.release()
    for use in (
        lambda: batch["x"],
        lambda: len(batch),
        lambda: list(batch),
        lambda: batch.info,
        lambda: batch.values(),
    ):
        with pytest.raises(dataline.WrongStateError, match="released"):
            use()
    assert "released" in repr(batch)


def test_info_says_where_a_batch_is_from() -> None:
    loader = loader_of(10, batch_size=4, last_batch="pad", shuffle=True, seed=3)
    infos = [(batch.info, batch["x"].tolist()) for batch in loader]
    assert [(info.epoch, info.step, info.samples, info.valid) for info, _ in infos] == [
        (0, 0, 4, 4),
        (0, 1, 4, 4),
        (0, 2, 4, 2),
    ]
    for info, values in infos:
        assert info.indices.tolist() == values
        assert info.sources.tolist() == [0] * 4
        assert info.indices.readonly
        assert info.indices.format == "q"


def test_no_such_field_is_a_key_error_that_lists_the_fields() -> None:
    batch = first(numbers(4))
    with pytest.raises(KeyError) as caught:
        batch["y"]
    assert isinstance(caught.value, dataline.NoSuchFieldError)
    assert str(caught.value) == "no field 'y'; the fields are ('x',)"
    with pytest.raises(dataline.NoSuchFieldError):
        batch.tensor("y")


def test_names_may_be_any_text() -> None:
    batch = first(dataline.from_arrays({"größe/\N{SNOWMAN}": np.arange(3)}))
    assert batch["größe/\N{SNOWMAN}"].tolist() == [0, 1, 2]
    with pytest.raises(KeyError, match="größe"):
        batch["\N{SNOWMAN}"]


def test_ragged_fields_are_rows_of_different_length() -> None:
    data, offsets = np.arange(12, dtype=np.int32).reshape(6, 2), np.array([0, 1, 1, 4, 6])
    dataset = dataline.from_arrays({"x": dataline.Ragged(data, offsets), "n": np.arange(4)})
    assert dataset.fields[0].ragged
    assert dataset.fields[0].shape == (-1, 2)
    batch = first(dataset, batch_size=3)
    ragged = batch["x"]
    assert isinstance(ragged, dataline.Ragged)
    assert len(ragged) == 3
    assert [row.tolist() for row in ragged] == [[[0, 1]], [], [[2, 3], [4, 5], [6, 7]]]
    assert ragged[-1].tolist() == ragged[2].tolist()
    assert ragged.offsets.tolist() == [0, 1, 1, 4]
    with pytest.raises(IndexError):
        ragged[3]
    offsets_of = batch.tensor("x").offsets
    assert offsets_of is not None
    assert offsets_of.tolist() == [0, 1, 1, 4]
    assert batch.tensor("n").offsets is None


def tokens(tmp_path: Path) -> dataline.Batch:
    np.arange(1000, dtype=np.uint16).tofile(tmp_path / "tokens.bin")
    return next(iter(dataline.Loader(f"tokens:{tmp_path}/tokens.bin?length=8&views=true", batch_size=2)))


def test_views_that_overlap_have_strides_and_are_read_only(tmp_path: Path) -> None:
    batch = tokens(tmp_path)
    x, y = batch.values()
    assert x.tolist() == [list(range(8)), list(range(8, 16))]
    assert y.tolist() == [list(range(1, 9)), list(range(9, 17))]
    assert np.shares_memory(x, y)
    assert not x.flags.writeable
    tensor = batch.tensor("x")
    assert tensor.read_only
    assert tensor.overlapping
    assert tensor.strides == (9, 1)
    assert tensor.tobytes() == x.tobytes()
    with pytest.raises((BufferError, ValueError)):
        np.frombuffer(tensor, dtype=np.uint16)  # type: ignore[call-overload]  # asks for packed bytes


def test_bf16_is_raw_bytes_dlpack_or_ml_dtypes() -> None:
    loader = dataline.Loader(dataline.from_arrays({"x": np.array([1, -2], np.float32)}), transform="cast(bf16)")
    batch = next(iter(loader))
    assert batch.tensor("x").dtype == "bf16"
    assert batch.tensor("x").tobytes() == np.array([0x3F80, 0xC000], np.uint16).tobytes()
    with pytest.raises(BufferError, match="DLPack"):
        memoryview(batch.tensor("x"))
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(dataline.UnsupportedError, match="ml_dtypes"):
            batch["x"]
    else:
        assert batch["x"].dtype == ml_dtypes.bfloat16


def test_an_empty_batch_has_arrays_of_no_rows() -> None:
    loader = loader_of(3, global_batch_size=2, rank=0, world_size=2)
    assert [(batch["x"].shape, batch.tensor("x").tobytes()) for batch in loader] == [((1,), bytes(8)), ((0,), b"")]


def test_batches_datasets_and_loaders_cannot_be_pickled_and_say_what_to_do() -> None:
    loader = loader_of(4)
    for value, advice in (
        (next(iter(loader)), "copy"),
        (numbers(3), "open the same URI again"),
        (loader, "state_dict"),
    ):
        with pytest.raises(TypeError, match=advice):
            pickle.dumps(value)


def test_what_the_library_makes_is_not_made_by_hand() -> None:
    for kind in (dataline.Batch, dataline.Tensor, dataline.Epoch):
        with pytest.raises(TypeError, match="cannot be created directly"):
            kind()
    loader = dataline.Loader.__new__(dataline.Loader)
    with pytest.raises(dataline.WrongStateError):
        len(loader)
    assert loader.closed
