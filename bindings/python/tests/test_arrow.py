"""Files that pyarrow writes, read back value by value.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from arrow_tables import ANY, check, columns

pa = pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)
feather = pytest.importorskip("pyarrow.feather", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)


def write(path: Path, table: Any, kind: str, rows: int, codec: str | None = None) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=True, unify_dictionaries=kind == "file")
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


@pytest.mark.parametrize("memory", [False, True])
def test_masks_say_what_is_null(tmp_path: Path, memory: bool) -> None:
    table = pa.table(columns(0.2)).slice(5, 90)
    names = [name for name in table.column_names if name not in ("items", "image")]
    table = table.select(names)
    if memory:
        dataset = dataline.from_arrow(table, nulls="mask")
    else:
        dataset = dataline.open(f"arrow:{write(tmp_path / 'a.arrow', table, 'file', 32)}?nulls=mask")
    assert [field.name for field in dataset.fields] == [*names, *(f"{name}/valid" for name in names)]
    for i in range(len(dataset)):
        sample = dataset[i]
        for name in names:
            value = table[name][i]
            assert bool(sample[f"{name}/valid"]) == value.is_valid, (name, i)
            if not value.is_valid:
                assert not np.asarray(sample[name]).any(), (name, i)
    batch = next(iter(dataline.Loader(dataset, batch_size=90, transform="int32: cast(f32)")))
    assert batch["int32/valid"].dtype == np.bool_
    assert batch["int32/valid"].tolist() == [value.is_valid for value in table["int32"]]


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
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_compressed_files_are_read_as_pyarrow_reads_them(tmp_path: Path, kind: str, codec: str) -> None:
    if f"lib{codec}" not in dataline.build_info():
        pytest.skip(f"a build without {codec}")
    table = pa.table(columns(0.0)).slice(3, 380)
    path = write(tmp_path / "a.arrow", table, kind, 97, codec)
    dataset = dataline.open(f"arrow:{path}")
    check(dataset, table, False)
    assert any("decompressed into memory" in note for note in dataset.notes)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_feather_as_it_is_written_by_default_is_read(tmp_path: Path, codec: str) -> None:
    if f"lib{codec}" not in dataline.build_info():
        pytest.skip(f"a build without {codec}")
    values = ANY.integers(0, 100, 300_000)
    table = pa.table({"x": values, "text": [str(i) * (i % 5) for i in range(300_000)]})
    feather.write_feather(table, str(tmp_path / "a.feather"), compression=codec)
    dataset = dataline.open(str(tmp_path / "a.feather"))
    for index in (0, 1, 65_535, 65_536, 299_999):
        assert int(dataset[index]["x"]) == values[index]
        assert bytes(dataset[index]["text"]) == str(index).encode() * (index % 5)
    loader = dataline.Loader(f"arrow:{dataset.uri}?fields=x", batch_size=1000, shuffle="full", epochs=1)
    assert sum(int(batch["x"].sum()) for batch in loader) == values.sum()


@pytest.mark.filterwarnings("ignore:Feather V1:DeprecationWarning")
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
        pa.array([[1], [2]], pa.list_view(pa.int8())),
    ],
)
def test_what_is_not_read_is_left_out(tmp_path: Path, column: Any) -> None:
    table = pa.table({"other": column, "x": pa.array([1, 2], pa.int8())})
    path = write(tmp_path / "a.arrow", table, "file", 10)
    with pytest.raises(dataline.Error, match=r"column 'other' .*not supported; fields=x leaves it out"):
        dataline.open(f"arrow:{path}")
    assert [int(sample["x"]) for sample in dataline.open(f"arrow:{path}?fields=x")] == [1, 2]
