"""Arrow tables in memory: in as datasets, out as batches, beside pyarrow and whatever else has tables.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from arrow_tables import ANY, check, columns, words

pa = pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)
feather = pytest.importorskip("pyarrow.feather", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)


def chunked(table: Any, rows: int) -> Any:
    return pa.Table.from_batches(table.to_batches(max_chunksize=rows))


def test_every_type_of_a_table_is_what_pyarrow_has() -> None:
    table = pa.table(columns(0.0))
    check(dataline.from_arrow(chunked(table, 97)), table, False)


@pytest.mark.parametrize("first", [1, 3, 8, 13])
def test_a_slice_has_its_own_rows_where_bits_do_not_begin_a_byte(first: int) -> None:
    table = pa.table(columns(0.3)).slice(first, 200)
    check(dataline.from_arrow(chunked(table, 61), nulls="fill(1)"), table, True)


def test_nulls_are_bad_samples_by_name_unless_filled() -> None:
    table = pa.table(columns(0.04)).slice(5, 300)
    check(dataline.from_arrow(table), table, False)
    check(dataline.from_arrow(table, nulls="fill(1)"), table, True)


def test_fields_are_chosen_in_order_and_leaves_of_structs_are_named() -> None:
    data = dataline.from_arrow(pa.table(columns(0.0)), fields=["image/bytes", "int8"])
    assert [field.name for field in data.fields] == ["image/bytes", "int8"]
    with pytest.raises(dataline.NoSuchFieldError, match="no column 'imgae'"):
        dataline.from_arrow(pa.table(columns(0.0)), fields=["imgae"])


def test_values_are_delivered_from_where_the_table_has_them() -> None:
    values = np.arange(1 << 20, dtype=np.int64)
    table = pa.table({"x": pa.array(values)})
    data = dataline.from_arrow(table)
    del table
    gc.collect()
    before = pa.total_allocated_bytes()
    loader = dataline.Loader(data, batch_size=4096, shuffle="full", seed=3)
    assert sum(int(batch["x"].sum()) for batch in loader) == int(values.sum())
    assert pa.total_allocated_bytes() == before


def test_a_table_lives_as_long_as_what_was_made_of_it() -> None:
    before = pa.total_allocated_bytes()
    table = pa.table({"x": pa.array(list(range(5000)), pa.int64()), "t": pa.array(words(5000), pa.string())})
    held = pa.total_allocated_bytes() - before
    assert held > 5000 * 8
    part = dataline.from_arrow(chunked(table, 100)).subset(np.array([4999, 0], np.int64))
    text = table["t"][4999].as_py()
    del table
    gc.collect()
    assert bytes(np.asarray(part[0]["t"])).decode() == text
    part.close()
    del part
    gc.collect()
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_the_order_is_that_of_the_same_table_in_a_file(tmp_path: Path, workers: int) -> None:
    table = pa.table({"x": pa.array(np.arange(1000)), "t": pa.array(words(1000), pa.string())})
    feather.write_feather(table, str(tmp_path / "a.arrow"), compression="uncompressed", chunksize=64)
    job: Any = {"batch_size": 32, "shuffle": "full", "seed": 5, "num_workers": workers}
    in_file = dataline.Loader(f"arrow:{tmp_path / 'a.arrow'}", **job)
    in_memory = dataline.Loader(dataline.from_arrow(chunked(table, 64)), **job)
    for one, other in zip(in_file, in_memory):
        np.testing.assert_array_equal(one["x"], other["x"])
        there: Any = one["t"]
        here: Any = other["t"]
        np.testing.assert_array_equal(there.data, here.data)


def test_a_stream_an_array_and_a_column_alone_will_do() -> None:
    table = chunked(pa.table({"x": pa.array([1, 2, 3])}), 2)
    assert [int(s["x"]) for s in dataline.from_arrow(table.to_reader())] == [1, 2, 3]
    assert [int(s["x"]) for s in dataline.from_arrow(table.to_batches()[0])] == [1, 2]
    assert [int(s["data"]) for s in dataline.from_arrow(pa.array([4, 5]))] == [4, 5]
    assert [int(s["data"]) for s in dataline.from_arrow(pa.chunked_array([[6], [7, 8]]))] == [6, 7, 8]


def test_what_is_no_table_and_types_that_are_not_read_are_named() -> None:
    with pytest.raises(TypeError, match=r"__arrow_c_stream__.*got dict"):
        dataline.from_arrow({"x": [1]})
    with pytest.raises(dataline.UnsupportedError, match="column 'd' is decimal128"):
        dataline.from_arrow(pa.table({"d": pa.array([None], pa.decimal128(9, 2)), "x": [1]}))
    with pytest.raises(dataline.CallError, match="nulls='none'"):
        dataline.from_arrow(pa.table({"x": [1]}), nulls="none")


def test_a_stream_that_fails_says_why_and_what_was_read_is_let_go() -> None:
    before = pa.total_allocated_bytes()

    def batches() -> Any:
        yield pa.record_batch({"x": pa.array(range(1000), pa.int64())})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(dataline.Error, match=r"get_next failed: .*the disk is gone"):
        dataline.from_arrow(reader)
    del reader
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_a_capsule_is_taken_once() -> None:
    class Once:
        capsule = pa.table({"x": [1]}).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.capsule

    table = Once()
    assert len(dataline.from_arrow(table)) == 1
    with pytest.raises(dataline.CallError, match="already released"):
        dataline.from_arrow(table)


def test_a_table_given_as_a_uri_is_told_what_takes_it() -> None:
    with pytest.raises(TypeError, match=r"got Table; use dataline\.from_arrow"):
        dataline.Loader(pa.table({"x": [1]}))


def test_a_hugging_face_dataset_is_read_in_its_own_order() -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets (pip install datasets)", exc_type=ImportError)
    whole = datasets.Dataset.from_dict({"x": list(range(100)), "t": ["a" * (i % 7) for i in range(100)]})
    some = whole.shuffle(seed=1).select(range(40))
    data = dataline.from_huggingface(some, fields=["x"])
    assert [int(sample["x"]) for sample in data] == list(some["x"])
    assert len(dataline.from_huggingface(whole)) == 100
    with pytest.raises(TypeError, match=r"got DatasetDict; pass one split"):
        dataline.from_huggingface(datasets.DatasetDict({"train": whole}))


def test_documents_of_a_table_are_packed() -> None:
    table = pa.table({"tokens": pa.array([[1, 2, 3], [4], [5, 6, 7, 8]], pa.list_(pa.int32()))})
    rows = dataline.from_arrow(table, pack_length=3)
    assert len(rows) >= 2


def test_a_batch_is_a_record_batch_that_pyarrow_takes_without_a_copy(tmp_path: Path) -> None:
    rows = 10
    table = pa.table(
        {
            "number": pa.array(np.arange(rows, dtype=np.int32)),
            "half": pa.array(np.arange(rows, dtype=np.float16)),
            "flag": pa.array([i % 3 == 0 for i in range(rows)]),
            "matrix": pa.array(ANY.random((rows, 2, 3)).tolist(), pa.list_(pa.list_(pa.float64(), 3), 2)),
            "items": pa.array([list(range(i % 4)) for i in range(rows)], pa.large_list(pa.int64())),
            "text": pa.array([b"x" * i for i in range(rows)], pa.large_binary()),
        }
    )
    path = tmp_path / "table.arrow"
    feather.write_feather(table, str(path), compression="uncompressed")
    back = []
    for batch in dataline.Loader(f"arrow:{path}", batch_size=4, shuffle="none"):
        taken = pa.record_batch(batch)
        taken.validate(full=True)
        assert taken.column("number").buffers()[1].address == batch["number"].__array_interface__["data"][0]
        items: Any = batch["items"]
        assert taken.column("items").buffers()[1].address == items.offsets.__array_interface__["data"][0]
        back.append(taken)
    assert pa.Table.from_batches(back).combine_chunks().equals(table.combine_chunks())


def test_a_record_batch_outlives_the_batch_and_the_loader() -> None:
    data = dataline.from_arrays({"x": np.arange(12, dtype=np.int64).reshape(4, 3)})
    loader = dataline.Loader(data, batch_size=4, shuffle="none")
    with next(iter(loader)) as batch:
        taken = pa.record_batch(batch)
        capsules = batch.__arrow_c_array__()  # which nobody takes: they release what they hold
    del capsules
    loader.close()
    data.close()
    assert taken.column("x").to_pylist() == np.arange(12).reshape(4, 3).tolist()
    with pytest.raises(dataline.Error, match="was released"):
        batch.__arrow_c_array__()


def test_a_field_that_arrow_cannot_have_is_named() -> None:
    data = dataline.from_arrays({"x": np.ones((2, 2), np.complex64)})
    for batch in dataline.Loader(data, batch_size=2):
        with pytest.raises(dataline.Error, match="'x' is c64"):
            pa.record_batch(batch)
