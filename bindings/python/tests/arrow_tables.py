"""Arrow tables of every type that is read, and what a dataset of one should deliver.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dataline

pa = pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)

ROWS = 400
ANY = np.random.default_rng(7)


def nulls(share: float) -> np.ndarray[Any, Any]:
    return ANY.random(ROWS) < share


def words(rows: int = ROWS) -> list[str]:
    return ["".join(map(chr, ANY.integers(97, 123, ANY.integers(0, 9)))) for _ in range(rows)]


def columns(share: float) -> dict[str, Any]:
    """A column of each type that is read, with that share of nulls."""
    out: dict[str, Any] = {}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        out[name] = pa.array(ANY.integers(0, 100, ROWS).astype(name), mask=nulls(share))
    for name in ("float16", "float32", "float64"):
        out[name] = pa.array(ANY.random(ROWS).astype(name), mask=nulls(share))
    out["bool"] = pa.array(ANY.random(ROWS) < 0.5, mask=nulls(share))
    out["fixed"] = pa.array(
        [bytes(ANY.integers(0, 256, 5, dtype=np.uint8)) for _ in range(ROWS)], pa.binary(5), mask=nulls(share)
    )
    for name, kind in {"text": pa.string(), "large_text": pa.large_string(), "bytes": pa.binary()}.items():
        out[name] = pa.array(words(), kind, mask=nulls(share))
    for name, kind in {"text_view": pa.string_view(), "bytes_view": pa.binary_view()}.items():
        long = [word * 3 if i % 2 else word for i, word in enumerate(words())]
        out[name] = pa.array([None if none else word for word, none in zip(long, nulls(share))], kind)
    rows = [list(map(int, ANY.integers(0, 1000, ANY.integers(0, 6)))) for _ in range(ROWS)]
    out["list"] = pa.array(rows, pa.list_(pa.int32()), mask=nulls(share))
    out["large_list"] = pa.array(rows, pa.large_list(pa.int64()), mask=nulls(share))
    items = [[int(i) if ANY.random() >= share else None for i in row] for row in rows]
    out["items"] = pa.array(items, pa.list_(pa.int16()))
    out["bools"] = pa.array([[i % 2 == 0 for i in row] for row in rows], pa.list_(pa.bool_()), mask=nulls(share))
    matrix = ANY.random((ROWS, 2, 3)).astype(np.float32).tolist()
    out["matrix"] = pa.array(matrix, pa.list_(pa.list_(pa.float32(), 3), 2), mask=nulls(share))
    boxes = [ANY.random((ANY.integers(0, 4), 4)).tolist() for _ in range(ROWS)]
    out["boxes"] = pa.array(boxes, pa.list_(pa.list_(pa.float64(), 4)), mask=nulls(share))
    labels = pa.array(ANY.choice(["cat", "dog", "bird"], ROWS), mask=nulls(share))
    out["label"] = labels.dictionary_encode()
    out["code"] = pa.array(ANY.integers(0, 9, ROWS).astype(np.int64), mask=nulls(share)).dictionary_encode()
    out["when"] = pa.array(ANY.integers(0, 10**12, ROWS), pa.timestamp("us", "UTC"), mask=nulls(share))
    out["image"] = pa.StructArray.from_arrays(
        [pa.array(words(), pa.binary(), mask=nulls(share)), pa.array(words(), pa.string(), mask=nulls(share))],
        ["bytes", "path"],
        mask=pa.array(nulls(share)),
    )
    return out


def leaves(name: str, array: Any) -> dict[str, list[Any]]:
    if pa.types.is_struct(array.type):
        rows = array.to_pylist()
        inner = [array.type.field(i).name for i in range(array.type.num_fields)]
        return {f"{name}/{leaf}": [None if row is None else row[leaf] for row in rows] for leaf in inner}
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    return {name: array.to_pylist()}


def has_null(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(has_null(item) for item in value))


def filled(value: Any, ragged: bool) -> Any:
    if value is None:
        return [] if ragged else 1
    return [filled(item, False) for item in value] if isinstance(value, list) else value


def check(dataset: dataline.Dataset, table: Any, fill: bool) -> None:
    wanted: dict[str, list[Any]] = {}
    for name in table.column_names:
        wanted.update(
            leaves(name, table[name].combine_chunks() if table[name].num_chunks != 1 else table[name].chunk(0))
        )
    assert [field.name for field in dataset.fields] == list(wanted)
    assert len(dataset) == table.num_rows
    ragged = {field.name: len(field.shape) > 0 and field.shape[0] == -1 for field in dataset.fields}
    bad = 0
    for i in range(len(dataset)):
        if not fill and any(has_null(wanted[name][i]) for name in wanted):
            bad += 1
            with pytest.raises(dataline.Error, match="null"):
                dataset[i]
            continue
        sample = dataset[i]
        for name, values in wanted.items():
            got, value = np.asarray(sample[name]), filled(values[i], ragged[name])
            if isinstance(value, (bytes, str)):
                assert got.tobytes() == (value.encode() if isinstance(value, str) else value), (name, i)
            elif got.size == 0:
                assert value == [], (name, i)
            else:
                expected = np.broadcast_to(np.asarray(value, got.dtype), got.shape)
                np.testing.assert_array_equal(got, expected, f"{name} {i}")
    assert fill or bad == sum(any(has_null(wanted[name][i]) for name in wanted) for i in range(len(dataset)))
