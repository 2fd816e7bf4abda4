"""Datasets: files, arrays lent by others, and composed ones.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
import ctypes
import gc
import itertools
import mmap
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import epoch_of, loader_of, numbers


def column(dataset: dataline.Dataset, name: str = "x") -> list[Any]:
    return [value for batch in dataline.Loader(dataset, batch_size=3) for value in batch[name].tolist()]


def test_a_file_is_opened_by_uri_or_by_path(tmp_path: Path) -> None:
    np.save(tmp_path / "a=1.npy", np.arange(6, dtype=np.int32).reshape(3, 2))
    for uri in (tmp_path / "a=1.npy", str(tmp_path / "a=1.npy"), "npy:" + dataline.escape(tmp_path / "a=1.npy")):
        dataset = dataline.open(uri)
        assert (len(dataset), dataset.format) == (3, "npy")
        assert dataset.fields == (dataline.Field("data", "i32", (2,), False, "", 8),)
        assert column(dataset, "data") == [[0, 1], [2, 3], [4, 5]]
    assert dataline.escape("a%b,c?d&e=f g") == "a%25b%2Cc%3Fd%26e%3Df g"
    assert dataset.uri == uri
    assert "npy" in repr(dataset)


def test_a_path_is_never_taken_for_a_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("raw:x.npy", np.arange(3))
    assert len(dataline.open(Path("raw:x.npy"))) == 3


def test_notes_tell_what_is_slow(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.asfortranarray(np.ones((3, 2))))
    assert dataline.open(tmp_path / "f.npy").notes
    assert numbers(3).notes == ()


def test_classes_are_the_directories_of_a_folder(tmp_path: Path) -> None:
    for name in (b"owl", b"\xc3\xa9tourneau", b"\xffno-utf-8", b"ant"):
        folder = tmp_path / os.fsdecode(name)
        folder.mkdir()
        (folder / "1.jpg").write_bytes(b"x")
    dataset = dataline.open(f"folder:{tmp_path}")
    assert dataset.classes == tuple(sorted(folder.name for folder in tmp_path.iterdir()))
    assert dataset.subset([1]).classes == dataset.classes
    assert numbers(3).classes == ()


def test_arrays_are_borrowed_until_nothing_needs_them() -> None:
    values = np.arange(10, dtype=np.int64)
    address = values.__array_interface__["data"][0]
    alive = weakref.ref(values)
    dataset = dataline.from_arrays({"x": values})
    values[0] = 77
    subset = dataset.subset([0, 1])
    del values
    dataset.close()
    gc.collect()
    assert alive() is not None
    loader = dataline.Loader(subset)
    del dataset, subset
    batch = next(iter(loader))
    assert batch["x"].tolist() == [77, 1]
    assert batch["x"].__array_interface__["data"][0] != address
    loader.close()
    del loader
    gc.collect()
    assert alive() is None, "given back at once, on the thread that let go"


def test_a_copy_is_not_borrowed() -> None:
    values = np.arange(3)
    alive = weakref.ref(values)
    dataset = dataline.from_arrays({"x": values}, copy=True)
    del values
    assert alive() is None
    assert column(dataset) == [0, 1, 2]


def test_a_call_that_fails_takes_no_loan() -> None:
    values, indices = np.arange(3), np.array([7])
    alive, order = weakref.ref(values), weakref.ref(indices)
    with pytest.raises(dataline.Error):
        dataline.from_arrays({"x": values, "y": np.arange(4)})
    with pytest.raises(dataline.DataError):
        numbers(3).subset(indices)
    with pytest.raises(dataline.DataError):
        loader_of(3, sample_indices=indices)
    del values, indices
    gc.collect()
    assert alive() is None
    assert order() is None


def test_anything_with_a_buffer_will_do(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(bytes(range(5)))
    with (tmp_path / "bytes").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    c_array = (ctypes.c_int16 * 5)(*range(5))
    sources = (array.array("f", range(5)), bytes(range(5)), bytearray(range(5)), memoryview(mapped), c_array)
    for values in (*sources, np.arange(5)[::1], np.broadcast_to(np.arange(5), (5,))):
        assert column(dataline.from_arrays({"x": values})) == [0, 1, 2, 3, 4]


class Interface:
    """Owns an array, and shows it by __array_interface__ alone."""

    def __init__(self, values: Any) -> None:
        self.values = values

    @property
    def __array_interface__(self) -> Any:
        return self.values.__array_interface__


class Convertible:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(5)


def test_array_interfaces_and_conversions_will_do() -> None:
    for values in (Interface(np.arange(5)), Interface(np.arange(10, dtype=np.uint8)[:5]), Convertible()):
        assert column(dataline.from_arrays({"x": values})) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="byte order"):
        dataline.from_arrays({"x": Interface(np.arange(5, dtype=">i4"))})


def test_rows_may_lie_apart_but_samples_are_packed() -> None:
    whole = np.arange(60).reshape(5, 3, 4)
    assert column(dataline.from_arrays({"x": whole[::2]})) == whole[::2].tolist()
    assert column(dataline.from_arrays({"x": np.arange(5)[::-1]})) == [4, 3, 2, 1, 0]
    for wrong in (whole[:, ::2], whole.transpose(0, 2, 1)):
        with pytest.raises(dataline.CallError, match="ascontiguousarray"):
            dataline.from_arrays({"x": wrong})


def test_what_is_no_array_of_numbers_is_refused_by_name() -> None:
    for wrong in ([1, 2], 5, None, "text", object()):
        with pytest.raises(TypeError, match="expected an array"):
            dataline.from_arrays({"x": wrong})
    for strange in (np.array([{}]), np.array(["a"]), np.zeros(2, "i4,f4"), np.arange(3, dtype=">i4")):
        with pytest.raises((dataline.UnsupportedError, ValueError, TypeError)):
            dataline.from_arrays({"x": strange})
    with pytest.raises(dataline.CallError):
        dataline.from_arrays({})


def test_axes_are_told_and_checked() -> None:
    dataset = dataline.from_arrays({"x": np.zeros((2, 4, 5, 3), np.uint8)}, axes={"x": "HWC"})
    assert dataset.fields[0].axes == "HWC"
    assert next(iter(dataline.Loader(dataset, transform="chw")))["x"].shape == (2, 3, 4, 5)
    with pytest.raises(ValueError, match="axes"):
        dataline.from_arrays({"x": np.zeros(3)}, axes={"y": "N"})


def test_zip_concat_and_subset() -> None:
    a, b = numbers(3), dataline.from_arrays({"y": np.arange(3) * 10})
    both = dataline.zip(a, b)
    assert [field.name for field in both.fields] == ["x", "y"]
    named = dataline.zip(left=a, right=b)
    assert [field.name for field in named.fields] == ["left", "right"]
    nested = dataline.zip(pair=both, x=a)
    assert [field.name for field in nested.fields] == ["pair/x", "pair/y", "x"]
    assert column(dataline.concat(a, numbers(2))) == [0, 1, 2, 0, 1]
    assert column(dataline.concat(a, a).subset(range(5, -1, -1))) == [2, 1, 0, 2, 1, 0]
    with pytest.raises(TypeError, match="names"):
        dataline.zip(a, right=b)
    with pytest.raises(TypeError, match="Dataset"):
        dataline.concat(a, 3)  # type: ignore[arg-type]


def test_a_mix_draws_in_shares_and_names_part_and_index() -> None:
    parts = {"web": numbers(50), "code": numbers(10)}
    mix = dataline.mix(parts, weights={"web": 3, "code": 1}, schedule={2: {"code": 1}}, samples_per_epoch=4096)
    with dataline.Loader(mix, batch_size=2048, shuffle="full") as loader:
        drawn = [0, 0]
        for batch in itertools.islice(loader, 2):
            assert list(batch.info.indices) == batch["x"].tolist()
            for source in batch.info.sources:
                drawn[source] += 1
        assert drawn == [3072, 1024]
        part = loader.parts()[1]
        assert (part.name, part.samples, part.delivered, part.share_got, part.share_asked) == (
            "code",
            10,
            1024,
            0.25,
            1.0,
        )
    assert mix.parts[0].share_asked == 0.75
    assert parts["web"].parts == ()


def test_a_mix_by_repeats_has_each_sample_so_often() -> None:
    mix = dataline.mix({"a": numbers(2), "b": numbers(3)}, repeats={"a": 2, "b": 1})
    assert column(mix) == [0, 1, 0, 1, 0, 1, 2]  # part by part
    assert [part.repeat for part in mix.parts] == [2.0, 1.0]


def test_parts_of_different_shapes_become_alike_by_transforms_of_their_own() -> None:
    def images(side: int, first: int) -> dataline.Dataset:
        pixels = np.arange(first, first + 2 * side * side, dtype=np.uint8).reshape(2, side, side)
        return dataline.from_arrays({"image": pixels}, axes={"image": "HW"})

    def rows(dataset: dataline.Dataset, transform: str) -> Any:
        return np.array(next(iter(dataline.Loader(dataset, batch_size=4, transform=transform)))["image"])

    parts = {"two": images(2, 1), "three": images(3, 101)}
    repeats = {"two": 1, "three": 1}
    sizes = dataline.mix(parts, repeats=repeats)
    assert sizes.fields[0].shape == (-1, -1)
    with pytest.raises(dataline.DataError, match="add transforms that make them equal"):
        dataline.Loader(sizes, batch_size=2)
    assert [batch["image"].shape for batch in dataline.Loader(sizes, batch_size=1, epochs=1)][::3] == [
        (1, 2, 2),
        (1, 3, 3),
    ]
    mix = dataline.mix(parts, repeats=repeats, transforms={"three": "resize([2, 2])"})
    assert [part.transform for part in mix.parts] == ["", "resize([2, 2])"]
    alone = [rows(parts["two"], "hflip(1)"), rows(parts["three"], "resize([2, 2]), hflip(1)")]
    assert rows(mix, "hflip(1)").tolist() == np.concatenate(alone).tolist()
    with pytest.raises(dataline.Error, match=r"part two: .*shrink"):
        dataline.mix(parts, repeats=repeats, transforms={"two": "shrink(2)"})
    with pytest.raises(ValueError, match="no part 'four'"):
        dataline.mix(parts, repeats=repeats, transforms={"four": "hflip"})
    with pytest.raises(ValueError, match="null byte"):
        dataline.mix(parts, repeats=repeats, transforms={"three": "resize([2, 2])\0"})


def test_the_documents_that_a_mix_draws_are_packed() -> None:
    ids = np.arange(1, 7, dtype=np.uint16)
    documents = dataline.from_arrays({"ids": dataline.Ragged(ids, np.array([0, 3, 5, 6]))})
    parts = {"web": documents, "code": documents}
    packed = dataline.mix(parts, repeats={"web": 1, "code": 2}, options={"pack_length": 6})
    assert len(packed) == 3  # 9 documents of 18 tokens
    assert packed.parts == ()  # rows are of several parts
    assert any("as one epoch draws them: 9 (web 3, code 6)" in note for note in packed.notes)
    with dataline.Loader(packed, batch_size=3, epochs=1) as loader:
        tokens = sorted(itertools.chain.from_iterable(batch["x"].ravel().tolist() for batch in loader))
    assert tokens == sorted(3 * [1, 2, 3, 4, 5, 6])
    with pytest.raises(dataline.Error, match="option pack_window: needs pack_length"):
        dataline.mix(parts, repeats={"web": 1, "code": 2}, options={"pack_window": 6})
    misspelt: Any = {"pack_lenght": 6}
    with pytest.raises(dataline.Error, match="no option 'pack_lenght'"):
        dataline.mix(parts, repeats={"web": 1, "code": 2}, options=misspelt)


def test_what_cannot_be_mixed_is_an_error() -> None:
    parts = {"a": numbers(2), "b": numbers(3)}
    with pytest.raises(TypeError, match="weights or repeats"):
        dataline.mix(parts)
    with pytest.raises(ValueError, match="no part 'c'"):
        dataline.mix(parts, weights={"a": 1, "b": 1, "c": 1})
    with pytest.raises(ValueError, match="part 'b' has no weight"):
        dataline.mix(parts, weights={"a": 1})
    with pytest.raises(dataline.Error, match="no part can be drawn"):
        dataline.mix(parts, weights={"a": 0, "b": 0})
    with pytest.raises(dataline.Error, match="expected a finite number >= 0, got nan"):
        dataline.mix(parts, weights={"a": float("nan"), "b": 0})
    with pytest.raises(TypeError, match="Dataset"):
        dataline.mix({"a": 3}, weights={"a": 1})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "indices",
    [
        [3, 1, 3],
        range(1, 4),
        np.array([3, 1, 3], np.int32),
        np.array([3, 9, 1, 9, 3])[::2],
        array.array("q", [3, 1, 3]),
    ],
    ids=["list", "range", "i32", "strided", "array"],
)
def test_an_order_is_taken_in_any_form(indices: Any) -> None:
    wanted = [int(index) for index in indices]
    assert sum(epoch_of(loader_of(5, sample_indices=indices)), []) == wanted
    assert column(numbers(5).subset(indices)) == wanted


def test_a_mask_is_not_an_order() -> None:
    with pytest.raises(ValueError, match="flatnonzero"):
        loader_of(5, sample_indices=np.ones(5, bool))
    with pytest.raises(ValueError, match="one dim"):
        loader_of(5, sample_indices=np.zeros((2, 2), np.int64))


def test_set_indices_changes_the_next_epoch() -> None:
    loader = loader_of(5, sample_indices=[0, 1, 2], prefetch_depth=1)
    assert epoch_of(loader) == [[0, 1, 2]]
    order = np.array([4, 4, 3])
    alive = weakref.ref(order)
    loader.set_indices(order)
    del order
    seen = [epoch_of(loader) for _ in range(3)]
    assert seen[-1] == [[4, 4, 3]]
    assert alive() is not None
    with pytest.raises(dataline.Error):
        loader.set_indices([1])
    loader.close()
    assert alive() is None


def test_weights_are_taken_in_any_form() -> None:
    for weights in ([0, 0, 1], np.array([0, 0, 1], np.float32), np.array([0.0, 0, 2])):
        assert epoch_of(loader_of(3, weights=weights)) == [[2, 2, 2]]
