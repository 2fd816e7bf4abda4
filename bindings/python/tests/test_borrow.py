"""What foreign arrays may say of their memory: rows come out right, or an error says what to do.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
import ctypes
from typing import Any, Callable, ClassVar, Optional

import numpy as np
import pytest

import dataline


def rows(value: Any, **options: Any) -> Any:
    """What a loader gives of an array, all of it."""
    dataset = dataline.from_arrays({"x": value}, **options)
    return np.concatenate([batch["x"] for batch in dataline.Loader(dataset, batch_size=7)])


def refused(value: Any, kind: type[BaseException], text: str) -> None:
    """By both ways in, an array of samples and the array of one sample."""
    with pytest.raises(kind, match=text):
        dataline.from_arrays({"x": value})
    with pytest.raises(kind, match=text):
        dataline.from_reader([value])


class Interface:
    """An object with nothing but ``__array_interface__``."""

    def __init__(self, **interface: Any) -> None:
        self.__array_interface__ = {"version": 3, **interface}


class Picture(Interface):
    """As Pillow's images are: the bytes lie in the dict, and are made anew each time that it is asked for."""

    def __init__(self, value: int, height: int = 2, width: int = 3) -> None:
        self.size = (height, width)
        self.value = value

    @property
    def __array_interface__(self) -> dict[str, Any]:  # type: ignore[override]
        shape = (*self.size, 3)
        data = bytes((self.value + at) % 256 for at in range(int(np.prod(shape))))
        return {"version": 3, "shape": shape, "typestr": "|u1", "data": data}

    def pixels(self) -> Any:
        interface = self.__array_interface__
        return np.frombuffer(interface["data"], np.uint8).reshape(interface["shape"])


def test_a_reader_may_return_pictures_whose_bytes_lie_in_the_interface() -> None:
    pictures = [{"image": Picture(at), "label": at} for at in range(20)]
    dataset = dataline.from_reader(pictures)
    assert [(field.dtype, field.shape) for field in dataset.fields] == [("u8", (2, 3, 3)), ("i64", ())]
    for workers in (0, 2):
        for batch in dataline.Loader(dataset, batch_size=6, num_workers=workers):
            for image, label in zip(batch["image"], batch["label"]):
                np.testing.assert_array_equal(image, Picture(int(label)).pixels())
    np.testing.assert_array_equal(rows(Picture(5, 300, 400)), Picture(5, 300, 400).pixels())


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "I", "F", "I;16", "CMYK", "LA"])
def test_images_of_pillow_are_their_arrays(mode: str) -> None:
    images = pytest.importorskip("PIL.Image")
    made = [images.new("RGB", (5, 4), (40 * at, 7, 255)) for at in range(4)]
    if mode == "I;16":
        made = [images.fromarray(np.full((4, 5), 1000 * at, np.uint16)) for at in range(4)]
    else:
        made = [image.convert(mode) for image in made]
    wanted = np.stack([np.asarray(image) for image in made])
    (batch,) = dataline.Loader(dataline.from_reader([(image, 0) for image in made]), batch_size=4)
    assert batch["0"].dtype == wanted.dtype
    np.testing.assert_array_equal(batch["0"], wanted)
    assert mode != "1" or set(batch["0"].tobytes()) <= {0, 1}
    if mode != "1":
        np.testing.assert_array_equal(rows(made[1]), wanted[1])


def test_the_same_row_again_and_rows_that_go_down_are_read_as_they_say() -> None:
    table = np.arange(48, dtype=np.int16).reshape(8, 2, 3)
    layouts: dict[str, Callable[[], Any]] = {
        "broadcast": lambda: np.broadcast_to(table[3], (1000, 2, 3)),
        "scalar": lambda: np.broadcast_to(np.float32(7), (50,)),
        "down": lambda: table[::-1],
        "down, every third": lambda: table[::-3],
        "every other": lambda: table[1::2],
        "columns": lambda: np.arange(60).reshape(12, 5)[:, 2:4],
        "overlapping": lambda: np.lib.stride_tricks.sliding_window_view(np.arange(20), 5),
        "one row": lambda: table[::-1][:1],
        "one Fortran column": lambda: np.asfortranarray(np.arange(9.0).reshape(9, 1)),
        "Fortran, one dim": lambda: np.asfortranarray(np.arange(9.0)),
        "no rows": lambda: table[:0],
        "no rows, down": lambda: table[::-1][:0],
        "no columns": lambda: np.zeros((4, 0, 3), np.float32),
        "no columns, Fortran": lambda: np.asfortranarray(np.zeros((4, 3, 0), np.float32)),
        "no columns, broadcast": lambda: np.broadcast_to(np.zeros((1, 0), np.float32), (4, 0)),
    }
    for name, make in layouts.items():
        for copy in (False, True):
            dataset = dataline.from_arrays({"x": make()}, copy=copy)
            assert len(dataset) == len(make()), name
            found = [batch["x"] for batch in dataline.Loader(dataset, batch_size=7, epochs=1)] if len(dataset) else []
            np.testing.assert_array_equal(np.concatenate([make()[:0], *found]), make(), err_msg=name)


def test_a_row_that_is_repeated_a_million_times_takes_no_memory() -> None:
    whole = np.broadcast_to(np.arange(1000, dtype=np.uint8), (1_000_000, 1000))
    loader = dataline.Loader(dataline.from_arrays({"x": whole}), batch_size=3, shuffle=True)
    for _, batch in zip(range(5), loader):
        np.testing.assert_array_equal(batch["x"], whole[:3])


def test_samples_whose_own_items_lie_apart_say_what_to_do() -> None:
    whole = np.arange(60).reshape(5, 3, 4)
    for wrong in (
        whole[:, ::2],
        whole[:, :, ::-1],
        whole.transpose(0, 2, 1),
        np.asfortranarray(whole),
        np.broadcast_to(np.arange(3)[None, :, None], (5, 3, 4)),
    ):
        with pytest.raises(dataline.CallError, match=r"C order .*ascontiguousarray"):
            dataline.from_arrays({"x": wrong})
        np.testing.assert_array_equal(rows(np.ascontiguousarray(wrong)), wrong)
        # A reader's samples are copied, and may lie as they like.
        (batch,) = dataline.Loader(dataline.from_reader(wrong), batch_size=5)
        np.testing.assert_array_equal(batch["data"], wrong)
    ragged = dataline.Ragged(np.broadcast_to(np.int32(1), (6,)), [0, 2, 6])
    with pytest.raises(dataline.CallError, match=r"packed data; use numpy\.ascontiguousarray"):
        dataline.from_arrays({"x": ragged})


def test_expanded_tensors_of_pytorch_are_the_same_row_again() -> None:
    torch = pytest.importorskip("torch")
    row = torch.arange(6, dtype=torch.float32)
    np.testing.assert_array_equal(rows(row.expand(40, 6)), row.expand(40, 6).numpy())
    np.testing.assert_array_equal(rows(torch.tensor(3).expand(9)), np.full(9, 3))
    refusal = pytest.raises(dataline.CallError, match="ascontiguousarray")
    with refusal:
        dataline.from_arrays({"x": row[:, None].expand(6, 4).unsqueeze(0).expand(3, 6, 4)})


NUMBERS = np.arange(12, dtype=np.int32)


@pytest.mark.parametrize(
    ("interface", "wanted"),
    [
        ({"shape": (12,), "typestr": "<i4", "data": NUMBERS.tobytes()}, NUMBERS),
        ({"shape": (12,), "typestr": "<i4", "data": NUMBERS.tobytes(), "strides": None, "mask": None}, NUMBERS),
        ({"shape": [3, 4], "typestr": "<i4", "data": bytearray(NUMBERS.tobytes())}, NUMBERS.reshape(3, 4)),
        ({"shape": (12,), "typestr": "=i4", "data": NUMBERS.data}, NUMBERS),
        ({"shape": (10,), "typestr": "<i4", "data": NUMBERS.tobytes(), "offset": 8}, NUMBERS[2:]),
        ({"shape": (6,), "typestr": "<i4", "data": NUMBERS.tobytes(), "strides": (8,)}, NUMBERS[::2]),
        ({"shape": (12,), "typestr": "<i4", "data": NUMBERS.tobytes(), "strides": (-4,), "offset": 44}, NUMBERS[::-1]),
        ({"shape": (5,), "typestr": "<i4", "data": NUMBERS.tobytes(), "strides": (0,), "offset": 12}, np.full(5, 3)),
        ({"shape": (12,), "typestr": "<i4", "data": (NUMBERS.ctypes.data, True)}, NUMBERS),
        ({"shape": (12,), "typestr": "<i4", "data": (np.intp(NUMBERS.ctypes.data), False), "offset": 0}, NUMBERS),
        ({"shape": (2,), "typestr": ">u1", "data": b"\x01\x02"}, np.array([1, 2], np.uint8)),
        ({"shape": (2,), "typestr": "|b1", "data": b"\x00\x01"}, np.array([False, True])),
        ({"shape": (1,), "typestr": "<i4", "descr": [("", "<i4")], "data": b"\x05\0\0\0"}, np.array([5])),
        ({"shape": (1,), "typestr": "<i4", "version": 2, "data": b"\x05\0\0\0"}, np.array([5])),
    ],
)
def test_each_legal_form_of_the_array_interface_is_read(interface: dict[str, Any], wanted: Any) -> None:
    found = rows(Interface(**interface))
    np.testing.assert_array_equal(found, wanted)


def test_an_interface_without_data_is_of_the_buffer_of_the_object() -> None:
    class Words(array.array):  # type: ignore[type-arg]
        __array_interface__: ClassVar[dict[str, Any]] = {
            "version": 3,
            "shape": (2,),
            "typestr": "<i8",
            "offset": 8,
            "data": None,
        }

    from dataline._interface import of_interface

    words = Words("q", [1, 2, 3])
    assert [of_interface(words).item(at) for at in range(2)] == [2, 3]


def test_an_interface_may_be_empty_and_of_nothing() -> None:
    for empty in (
        {"shape": (0,), "data": b""},
        {"shape": (0, 5), "data": (0, False)},
        {"shape": (0,), "data": b"", "offset": 0, "strides": (-4,)},
    ):
        assert len(dataline.from_arrays({"x": Interface(typestr="<i4", **empty)})) == 0


GOOD: dict[str, Any] = {"shape": (2,), "typestr": "<i4", "data": bytes(8)}


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"shape": None}, ValueError, "expected shape as a tuple of integers"),
        ({"shape": (1.5,)}, ValueError, "expected shape as a tuple of integers"),
        ({"shape": (-1,)}, ValueError, "negative"),
        ({"shape": (3,)}, ValueError, "bytes 0 to 12 of a buffer of 8 bytes"),
        ({"shape": (2**40, 2**40)}, ValueError, r"2\^63"),
        ({"typestr": None}, ValueError, "expected a typestr"),
        ({"typestr": "int"}, ValueError, "expected a typestr"),
        ({"typestr": ">i4"}, TypeError, r"byte order; use x.astype\(x.dtype.newbyteorder"),
        ({"typestr": "<i3"}, TypeError, "expected numbers"),
        ({"typestr": "|O8"}, TypeError, "expected numbers"),
        ({"typestr": "<M8"}, TypeError, "expected numbers"),
        ({"typestr": "|S4"}, TypeError, "expected numbers"),
        ({"typestr": "|t1"}, TypeError, "expected numbers"),
        ({"typestr": "|V4", "descr": [("a", "<i2"), ("b", "<i2")]}, TypeError, r"of \[\('a', '<i2'\)"),
        ({"strides": (4, 4)}, ValueError, "strides"),
        ({"strides": ("4",)}, ValueError, "expected strides as a tuple of integers"),
        ({"strides": (8,)}, ValueError, "bytes 0 to 12 of a buffer of 8 bytes"),
        ({"strides": (-4,)}, ValueError, "bytes -4 to 4 of a buffer of 8 bytes"),
        ({"strides": (2**70,)}, ValueError, r"2\^63"),
        ({"offset": 4}, ValueError, "bytes 4 to 12 of a buffer of 8 bytes"),
        ({"offset": -4}, ValueError, "offset -4"),
        ({"offset": 4, "data": (NUMBERS.ctypes.data, False)}, ValueError, "offset 4 with an address"),
        ({"data": (0, False)}, ValueError, "no memory at address 0"),
        ({"data": (-8, False)}, ValueError, "no memory at address"),
        ({"data": ("0x1000", False)}, ValueError, "expected data as"),
        ({"data": (1, 2, 3)}, ValueError, "expected data as"),
        ({"data": 4096}, ValueError, "data of type int"),
        ({"data": None}, ValueError, "no data, and no buffer"),
        ({"mask": np.ones(2, bool)}, TypeError, "mask"),
        ({"version": 4}, ValueError, "version 3"),
        ({"version": "3"}, ValueError, "version 3"),
    ],
)
def test_each_illegal_form_of_the_array_interface_says_what_is_wrong(
    change: dict[str, Any], kind: type[BaseException], text: str
) -> None:
    refused(Interface(**{**GOOD, **change}), kind, text)


def test_an_interface_that_is_no_dict_or_an_array_that_is_none_is_refused() -> None:
    class Strange:
        __array_interface__: Optional[str] = "strange"

    class Itself:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self

    refused(Strange(), ValueError, "expected a dict, got str")
    refused(Itself(), TypeError, "expected an array")


def test_memory_that_an_interface_is_of_stays_while_it_is_lent() -> None:
    data = bytearray(NUMBERS.tobytes())
    dataset = dataline.from_arrays({"x": Interface(shape=(12,), typestr="<i4", data=data)})
    with pytest.raises(BufferError):
        data += b"more"  # it cannot be moved
    assert [batch["x"].tolist() for batch in dataline.Loader(dataset)] == [NUMBERS.tolist()]
    dataset.close()
    data += b"more"


def test_arrays_of_ctypes_are_read() -> None:
    table = ((ctypes.c_float * 3) * 4)()
    table[2][1] = 5
    np.testing.assert_array_equal(rows(table), np.ctypeslib.as_array(table))
