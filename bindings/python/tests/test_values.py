"""Values that a reader's code returns and arrays that are lent: delivered as they are, or refused by name, never changed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest

import dataline

masked: Any = np.ma.masked_array
MASKED = masked([1.0, 2.0], mask=[True, False])
DAY, SPAN = np.datetime64("2020-01-01"), np.timedelta64(3, "s")


def delivered(*values: Any, **more: Any) -> Any:
    """A batch of samples with these values."""
    dataset = dataline.from_reader([{"x": value} for value in values], **more)
    (batch,) = dataline.Loader(dataset, batch_size=len(values), epochs=1, num_workers=0)
    return batch["x"]


@pytest.mark.parametrize(
    "values",
    [
        (True, False, np.bool_(True)),
        (1, -(2**63), 2**63 - 1),
        (0.5, 2, 2**53, -0.0, math.inf, 1e400),
        (np.float32(0.5), 3, 0.1, math.inf),
        (np.uint8(3), 255, 0),
        (np.int8(3), -128, 127),
        (np.float16(1), 65504.0),
        (1j, 2, 0.5, 2**53),
        (5, np.array(7), np.int64(9)),
        (np.array(5), 7),
        (np.arange(3), np.arange(6)[::-2], np.arange(6).reshape(3, 2).T[0]),
        (np.ones((2, 3)), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
        (np.zeros(2), masked([1.0, 2.0]), masked([1.0, 2.0], mask=[False, False])),
    ],
)
def test_values_that_the_type_of_the_first_one_holds_are_delivered_as_numpy_stores_them(values: Any) -> None:
    first = np.asarray(values[0])
    wanted = np.zeros((len(values), *first.shape), first.dtype)
    for at, value in enumerate(values):
        wanted[at] = value
    found = delivered(*values)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("first", "later", "text"),
    [
        (True, 2, r"expected bool, got 2 \(int\)"),
        (True, 0.5, r"expected bool, got 0\.5 \(float\)"),
        (True, 1, r"expected bool, got 1 \(int\)"),
        (1, True, r"expected i64, got True \(bool\)"),
        (1, 1.5, r"expected i64, got 1\.5 \(float\)"),
        (1, 2.0, r"expected i64, got 2\.0 \(float\)"),
        (1, math.nan, r"expected i64, got nan \(float\)"),
        (1, 2**63, "9223372036854775808 does not fit i64"),
        (1, -(2**63) - 1, "-9223372036854775809 does not fit i64"),
        (1, 1j, r"expected i64, got 1j \(complex\)"),
        (0.5, True, r"expected f64, got True \(bool\)"),
        (0.5, 2**53 + 1, "9007199254740993 does not fit f64"),
        (0.5, 10**400, r"1000.*\.\.\. does not fit f64"),
        (0.5, 1j, r"expected f64, got 1j \(complex\)"),
        (1j, 10**400, "does not fit c128"),
        (1j, True, "expected c128, got True"),
        (np.uint8(3), 300, "300 does not fit u8"),
        (np.uint8(3), -1, "-1 does not fit u8"),
        (np.uint64(3), 2**64, "18446744073709551616 does not fit u64"),
        (np.float32(3), 16777217, "16777217 does not fit f32"),
        (np.float32(3), 1e300, r"1e\+300 does not fit f32"),
        (np.float16(3), 1e6, "1000000.0 does not fit f16"),
        (5, np.array(7.5), r"expected i64, got f64 7\.5"),
        (5, np.int32(7), "expected i64, got i32 7"),
        (5, np.zeros(2), "expected i64, got f64"),
        (5, np.zeros(2, np.int64), r"expected shape \(\), got \(2,\)"),
        (np.zeros(2), 5, r"expected an array of f64 and shape \(2,\), got 5 \(int\)"),
        (np.zeros(2), np.zeros(3), r"expected shape \(2,\), got \(3,\)"),
        (np.zeros(2), np.zeros(2, np.float32), "expected f64, got f32"),
        (np.zeros(2), [0.0, 1.0], "got list"),
        (1, None, "got NoneType"),
        (1, decimal.Decimal(1), "got Decimal"),
        (1, fractions.Fraction(1, 2), "got Fraction"),
        (1, datetime.date(2020, 1, 1), "got date"),
        (1, DAY, r"got items of type datetime64\[D\].*astype"),
        (1, SPAN, r"got items of type timedelta64\[s\].*astype"),
        (np.zeros(8, np.uint8), DAY, r"got items of type datetime64\[D\]"),
        (np.zeros(2), np.array(["2020", "2021"], "M8[D]"), r"got items of type datetime64\[D\]"),
        (np.zeros(2), MASKED, r"1 masked items; fill them with x\.filled"),
        (5, np.ma.masked, "masked items"),
        (np.zeros(2), np.array([None, 1]), "items of type object"),
        (np.zeros(2), np.zeros(2, [("a", "f4"), ("b", "f4")]), "separate fields"),
        (np.zeros(2), np.zeros(2, ">f8"), "byte order"),
        (np.zeros(2, bool), np.array([2, 1], np.uint8), "expected bool, got u8"),
        ("a", b"b", r"expected str, got b'b' \(bytes\)"),
        (b"a", "b", r"expected bytes, got 'b' \(str\)"),
        ("a", 1, "got 1"),
        ("a", "\ud800", "UTF-8"),
        (1, "a", r"expected i64, got 'a' \(str\)"),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_later_value_of_another_type_makes_its_sample_bad(first: Any, later: Any, text: str, workers: int) -> None:
    dataset = dataline.from_reader([{"x": first}, {"x": later}, {"x": first}])
    loader = dataline.Loader(dataset, batch_size=3, epochs=1, num_workers=workers)
    with pytest.raises(dataline.DataError, match=rf"(?s)sample 1.*field 'x'.*{text}") as caught:
        loader.next()
    for raw in ("struct.error", "OverflowError", "BufferError", "UnicodeEncodeError", "AttributeError"):
        assert raw not in str(caught.value)
    assert caught.value.sample_index == 1
    (good,) = loader
    assert len(good) == 1
    assert good.info.samples == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (DAY, r"datetime64\[D\]; x.astype\('i8'\)"),
        (SPAN, r"timedelta64\[s\]; x.astype\('i8'\)"),
        (np.array(["2020"], "M8[ns]"), r"datetime64\[ns\]"),
        (np.array([1, None]), "object"),
        (np.array(["a"]), "<U1"),
        (np.array([b"a"]), r"\|S1"),
        (np.zeros(2, [("a", "f4")]), "separate fields"),
        (np.void(b"abc"), r"\|V3"),
        (MASKED, "masked"),
        (datetime.datetime(2020, 1, 1), "got datetime"),
        (None, "got NoneType"),
    ],
)
def test_a_first_value_that_is_no_number_is_refused_by_name(value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=f"field 'x': .*{text}"):
        dataline.from_reader([{"x": value}])
    if getattr(value, "shape", ()):
        with pytest.raises(TypeError, match=f"field 'x': .*{text}"):
            dataline.from_arrays({"x": value})
        with pytest.raises(TypeError, match=f"field 'x': .*{text}"):
            dataline.from_arrays({"x": dataline.Ragged(value, [0, len(value)])})


def test_a_field_that_is_declared_takes_text_and_bytes() -> None:
    fields = [dataline.Field("x", "u8", (-1,), ragged=True)]
    found = delivered("a", b"bc", np.bytes_(b"d"), bytearray(b"e"), np.frombuffer(b"f", np.uint8), fields=fields)
    assert [bytes(text) for text in found] == [b"a", b"bc", b"d", b"e", b"f"]
    fields = [dataline.Field("x", "u16")]
    assert delivered(1, 65535, fields=fields).tolist() == [1, 65535]
    with pytest.raises(dataline.DataError, match=r"sample 1.*65536 does not fit u16"):
        delivered(1, 65536, fields=fields)


class Missing:
    """As Arrow's and Polars' arrays are: a number of nulls, and an array that has NaN or anything in their place."""

    def __init__(self, count: Any) -> None:
        self.null_count = count

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1.0, np.nan])


def test_missing_values_are_refused() -> None:
    for count in (1, lambda: 1):
        with pytest.raises(TypeError, match=r"field 'x': .*missing values, got Missing with 1"):
            dataline.from_arrays({"x": Missing(count)})
    assert len(dataline.from_arrays({"x": Missing(0)})) == 2
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="missing values"):
        dataline.from_arrays({"x": pyarrow.array([1, None, 3])})
    assert len(dataline.from_arrays({"x": pyarrow.array([1, 2, 3])})) == 3


def test_tensors_that_cannot_be_lent_say_why() -> None:
    torch = pytest.importorskip("torch")
    for tensor, text in (
        (torch.zeros(2).to_sparse(), "dense"),
        (torch.zeros(2, requires_grad=True), "grad"),
        (torch.zeros(2, device="meta"), "host memory"),
    ):
        with pytest.raises(TypeError, match=f"field 'x': .*{text}"):
            dataline.from_arrays({"x": tensor})
        with pytest.raises(dataline.DataError, match=f"sample 1: .*field 'x': .*{text}"):
            delivered(np.zeros(2, np.float32), tensor)
    np.testing.assert_array_equal(delivered(np.zeros(2), torch.ones(2, dtype=torch.float64))[1], [1, 1])
    with pytest.raises(dataline.DataError, match="expected f64, got bf16"):
        delivered(np.zeros(2), torch.ones(2, dtype=torch.bfloat16))


def test_a_writer_refuses_masks_and_dates(tmp_path: Any) -> None:
    with dataline.Writer(f"arrow:{tmp_path}/set", {"x": np.zeros(2)}) as writer:
        for value in (MASKED, np.array(["2020", "2021"], "M8[D]")):
            with pytest.raises(TypeError, match="field 'x'"):
                writer.append({"x": value})
        writer.append({"x": np.ones(2)})
    assert len(dataline.open(f"arrow:{tmp_path}/set")) == 2
