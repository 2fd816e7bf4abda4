"""Files that pyarrow writes, read back value by value.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline

pa = pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)
feather = pytest.importorskip("pyarrow.feather", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)

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


def write(path: Path, table: Any, kind: str, rows: int) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=None, emit_dictionary_deltas=True, unify_dictionaries=kind == "file")
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("io", ["mmap", "pread", "memory"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_every_type_is_read_as_pyarrow_reads_it(tmp_path: Path, kind: str, io: Any) -> None:
    table = pa.table(columns(0.0)).slice(3, 380)
    check(dataline.open(f"arrow:{write(tmp_path / 'a.arrow', table, kind, 97)}", io=io), table, False)


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_nulls_are_filled_or_refused(tmp_path: Path, kind: str) -> None:
    for share in (0.02, 0.3):
        table = pa.table(columns(share)).slice(5, 90)
        path = write(tmp_path / f"{share}.arrow", table, kind, 32)
        names = [
            name
            for name in table.column_names
            if name not in ("label", "text", "large_text", "bytes", "image", "fixed")
        ]
        check(dataline.open(f"arrow:{path}?nulls=fill(1)&fields={','.join(names)}"), table.select(names), True)
        for name in table.column_names:
            check(dataline.open(f"arrow:{path}?fields={name}"), table.select([name]), False)


def test_deltas_and_replaced_dictionaries(tmp_path: Path) -> None:
    for deltas in (False, True):
        parts = [pa.array(part).dictionary_encode() for part in (["a", "b"], ["a", "b", "c"], ["z", "a"])]
        schema = pa.schema([("w", parts[0].type)])
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with pa.ipc.new_stream(str(tmp_path / "a.arrows"), schema, options=options) as writer:
            for part in parts:
                writer.write_batch(pa.record_batch([part], schema=schema))
        dataset = dataline.open(str(tmp_path / "a.arrows"))
        assert [bytes(sample["w"]) for sample in dataset] == [b"a", b"b", b"a", b"b", b"c", b"z", b"a"]


def test_tensors_have_their_shape(tmp_path: Path) -> None:
    values = ANY.random((20, 4, 5)).astype(np.float32)
    storage = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 20)
    kind = pa.fixed_shape_tensor(pa.float32(), (4, 5), dim_names=["H", "W"])
    table = pa.table({"x": pa.ExtensionArray.from_storage(kind, storage)})
    dataset = dataline.open(f"arrow:{write(tmp_path / 'a.arrow', table, 'file', 8)}")
    assert dataset.fields[0].shape == (4, 5)
    assert dataset.fields[0].axes == "HW"
    np.testing.assert_array_equal(np.stack([sample["x"] for sample in dataset]), values)


def test_a_folder_as_datasets_saves_it(tmp_path: Path) -> None:
    """datasets' save_to_disk: streams of batches, a struct of bytes and path, which is null; JSON beside them."""
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    for shard in range(3):
        rows = [{"bytes": bytes([shard, i]) * i, "path": None} for i in range(40)]
        table = pa.table(
            {
                "image": pa.array(rows, image),
                "input_ids": pa.array([[shard] * i for i in range(40)], pa.list_(pa.int32())),
            }
        )
        write(tmp_path / f"data-{shard:05}-of-00003.arrow", table, "stream", 16)
    (tmp_path / "state.json").write_text("{}")
    (tmp_path / "dataset_info.json").write_text("{}")
    dataset = dataline.open(f"arrow:{tmp_path}?fields=image/bytes,input_ids")
    assert len(dataset) == 120
    sample = dataset[57]
    assert bytes(sample["image/bytes"]) == bytes([1, 17]) * 17
    assert sample["input_ids"].tolist() == [1] * 17
    for batch in dataline.Loader(
        f"arrow:{tmp_path}?fields=input_ids&pack_length=64", batch_size=4, shuffle="full", seed=1
    ):
        assert batch["x"].shape[1] == 64


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_files_are_refused_with_the_cure(tmp_path: Path, codec: str) -> None:
    feather.write_feather(pa.table({"x": list(range(1000))}), str(tmp_path / "a.feather"), compression=codec)
    with pytest.raises(dataline.Error, match=r"compressed .*uncompressed"):
        dataline.open(str(tmp_path / "a.feather"))
    feather.write_feather(pa.table({"x": list(range(1000))}), str(tmp_path / "a.feather"), compression="uncompressed")
    assert sum(int(sample["x"]) for sample in dataline.open(str(tmp_path / "a.feather"))) == 499500


def test_feather_1_is_refused_by_name(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"x": [1, 2]}), str(tmp_path / "a.feather"), version=1)
    with pytest.raises(dataline.Error, match="Feather 1"):
        dataline.open(f"arrow:{tmp_path / 'a.feather'}")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([None, None]),
        pa.array([[["a"]], [[]]]),
        pa.array([1, 2], pa.decimal128(5)),
        pa.array(["x", "y"], pa.string_view()),
    ],
)
def test_what_is_not_read_is_left_out(tmp_path: Path, column: Any) -> None:
    table = pa.table({"other": column, "x": pa.array([1, 2], pa.int8())})
    path = write(tmp_path / "a.arrow", table, "file", 10)
    with pytest.raises(dataline.Error, match=r"column 'other' .*not read; fields=x leaves it out"):
        dataline.open(f"arrow:{path}")
    assert [int(sample["x"]) for sample in dataline.open(f"arrow:{path}?fields=x")] == [1, 2]


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
