"""The plug-in libdataline-parquet.so: files that pyarrow writes, value by value.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import base64
import datetime
import decimal
from pathlib import Path

import numpy as np
import pytest

import dataline
from parquet_files import pa, pq, rows_of, same, table_of

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", CODECS)
def test_all_types_come_back_equal(tmp_path: Path, parquet: dataline.Extensions, codec: str, version: str) -> None:
    table = table_of()
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression=codec, data_page_version=version, row_group_size=17)
    same(rows_of(f"parquet:{path}", parquet), table)
    same(rows_of(str(path), parquet, num_workers=0), table)  # found by its magic


@pytest.mark.parametrize(
    ("column", "encoding"),
    [
        ("int64", "DELTA_BINARY_PACKED"),
        ("int32", "DELTA_BINARY_PACKED"),
        ("text", "DELTA_BYTE_ARRAY"),
        ("raw", "DELTA_LENGTH_BYTE_ARRAY"),
        ("f32", "BYTE_STREAM_SPLIT"),
        ("flag", "RLE"),
        ("int64", "PLAIN"),
        ("text", "PLAIN"),
    ],
)
def test_encodings(tmp_path: Path, parquet: dataline.Extensions, column: str, encoding: str) -> None:
    table = table_of(300).select([column])
    path = tmp_path / "a.parquet"
    options = {} if encoding != "RLE" else {"data_page_version": "2.0"}
    pq.write_table(table, path, use_dictionary=False, column_encoding={column: encoding}, **options)
    same(rows_of(f"parquet:{path}", parquet), table)


def test_page_checksums_and_indices(tmp_path: Path, parquet: dataline.Extensions) -> None:
    table = table_of(500)
    path = tmp_path / "a.parquet"
    pq.write_table(
        table, path, write_page_checksum=True, write_page_index=True, data_page_size=256, use_dictionary=False
    )
    same(rows_of(f"parquet:{path}", parquet), table)


def test_times_are_their_integers(tmp_path: Path, parquet: dataline.Extensions) -> None:
    when = datetime.datetime(2024, 5, 6, 7, 8, 9, 123456)
    table = pa.table(
        {
            "day": pa.array([when.date()], pa.date32()),
            "ms": pa.array([when.time()], pa.time32("ms")),
            "us": pa.array([when.time()], pa.time64("us")),
            "at": pa.array([when], pa.timestamp("us", "UTC")),
            "ns": pa.array([when], pa.timestamp("ns")),
            "took": pa.array([datetime.timedelta(seconds=5)], pa.duration("ms")),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    (row,) = rows_of(f"parquet:{path}", parquet)
    read = pq.read_table(path)
    for name in read.column_names:
        wide = pa.int32() if name in ("day", "ms") else pa.int64()
        assert int(row[name]) == read[name].cast(wide).to_pylist()[0], name


def test_structs_fields_and_order(tmp_path: Path, parquet: dataline.Extensions) -> None:
    n = 40
    image = pa.array(
        [{"bytes": bytes([i]) * i, "size": {"h": i, "w": 2 * i}, "skip": decimal.Decimal(i)} for i in range(n)]
    )
    table = pa.table({"image": image, "label": pa.array(range(n)), "cost": pa.array([decimal.Decimal(1)] * n)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=9)
    dataset = dataline.open(f"parquet:{path}?fields=label,image/size,image/bytes", extensions=parquet)
    assert [field.name for field in dataset.fields] == ["label", "image/size/h", "image/size/w", "image/bytes"]
    for i, row in enumerate(rows_of(f"parquet:{path}?fields=label,image/size/w,image/bytes", parquet)):
        assert (int(row["label"]), int(row["image/size/w"]), bytes(row["image/bytes"])) == (i, 2 * i, bytes([i]) * i)
    with pytest.raises(dataline.Error, match=r"column 'image/skip' is decimal.*not supported; fields="):
        dataline.open(f"parquet:{path}", extensions=parquet)


def test_masks_say_what_is_null(tmp_path: Path, parquet: dataline.Extensions) -> None:
    n = range(50)
    columns = {
        "x": pa.array([None if i % 3 == 0 else i for i in n], pa.int32()),
        "t": pa.array([None if i % 4 == 0 else "" if i % 4 == 1 else str(i) for i in n]),
        "word": pa.array([None if i % 5 == 0 else f"w{i % 2}" for i in n]).dictionary_encode(),
        "tokens": pa.array([None if i % 7 == 0 else list(range(i % 4)) for i in n], pa.list_(pa.int64())),
        "box": pa.array([[i, i + 1] for i in n], pa.list_(pa.float32(), 2)),
        "s": pa.array([None if i % 2 == 0 else {"y": None if i % 3 == 0 else i} for i in n]),
        "full": pa.array(list(n), pa.int64()),
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=9)
    names = ["x", "t", "word", "tokens", "box", "s/y", "full"]
    rows = rows_of(f"parquet:{tmp_path / 'a.parquet'}?nulls=mask", parquet)
    assert list(rows[0]) == [*names, *(f"{name}/valid" for name in names)]
    for i, row in enumerate(rows):
        for name in names:
            value = table[name.split("/")[0]][i].as_py()
            value = value["y"] if name == "s/y" and value is not None else value
            assert bool(row[f"{name}/valid"]) == (value is not None), (name, i)
            if value is None:
                assert not np.asarray(row[name]).any(), (name, i)
    chosen = rows_of(f"parquet:{tmp_path / 'a.parquet'}?fields=t,x&nulls=mask", parquet, shuffle="window", seed=1)
    assert list(chosen[0]) == ["t", "x", "t/valid", "x/valid"]
    assert sum(bool(row["x/valid"]) for row in chosen) == sum(i % 3 != 0 for i in n)


def test_a_null_inside_a_value_has_no_mask(tmp_path: Path, parquet: dataline.Extensions) -> None:
    table = pa.table({"tokens": pa.array([[1, 2], [3, None], None], pa.list_(pa.int64()))})
    pq.write_table(table, tmp_path / "a.parquet")
    dataset = dataline.open(f"parquet:{tmp_path / 'a.parquet'}?nulls=mask", extensions=parquet)
    assert dataset[0]["tokens"].tolist() == [1, 2]
    with pytest.raises(dataline.Error, match="its value 1 is null"):
        dataset[1]
    assert not dataset[2]["tokens/valid"]


def test_row_groups_without_rows_are_nothing(tmp_path: Path, parquet: dataline.Extensions) -> None:
    """Streaming writers leave them; Arrow writes no data page then, and 0 as its offset."""
    table = table_of(20)
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, table.schema) as writer:
        for part in (table.slice(0, 0), table.slice(0, 11), table.slice(0, 0), table.slice(11), table.slice(0, 0)):
            writer.write_table(part)
    assert pq.ParquetFile(path).metadata.num_row_groups == 5
    for shuffle in ("none", "full", "window"):
        rows = rows_of(f"parquet:{path}", parquet, shuffle=shuffle, seed=1)
        assert sorted(int(row["int64"]) for row in rows) == list(range(20))
    same(rows_of(f"parquet:{path}", parquet), table)


def test_tensors_have_their_shape(tmp_path: Path, parquet: dataline.Extensions) -> None:
    values = np.arange(5 * 6, dtype=np.float32).reshape(5, 2, 3)
    kind = pa.fixed_shape_tensor(pa.float32(), (2, 3), dim_names=["H", "W"])
    storage = pa.array(values.reshape(5, 6).tolist(), pa.list_(pa.float32(), 6))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": pa.ExtensionArray.from_storage(kind, storage)}), path)
    dataset = dataline.open(f"parquet:{path}", extensions=parquet)
    assert tuple(dataset.fields[0].shape) == (2, 3)
    got = rows_of(f"parquet:{path}", parquet)
    np.testing.assert_array_equal(np.stack([row["x"] for row in got]), values)


def test_nulls(tmp_path: Path, parquet: dataline.Extensions) -> None:
    table = pa.table(
        {
            "a": pa.array([1, None, 3, 4], pa.int32()),
            "t": pa.array(["x", "yy", None, "z"]),
            "l": pa.array([[1.0], [None, 2.0], None, []], pa.list_(pa.float32())),
            "s": pa.array([{"v": 1}, None, {"v": None}, {"v": 4}]),
            "d": pa.array(["p", None, "p", "q"]).dictionary_encode(),
            "b": pa.array([True, None, False, None]),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    got = rows_of(f"parquet:{path}?nulls=fill(0)", parquet)
    assert [int(row["a"]) for row in got] == [1, 0, 3, 4]
    assert [bytes(row["t"]) for row in got] == [b"x", b"yy", b"", b"z"]
    assert [list(map(float, row["l"])) for row in got] == [[1], [0, 2], [], []]
    assert [int(row["s/v"]) for row in got] == [1, 0, 0, 4]
    assert [bytes(row["d"]) for row in got] == [b"p", b"", b"p", b"q"]
    assert [bool(row["b"]) for row in got] == [True, False, False, False]
    for column, where in [("a", 1), ("t", 2), ("s", 1), ("d", 1), ("b", 1)]:
        with pytest.raises(dataline.Error, match=rf"a.parquet: row group 0: row {where}: column '{column}.*': a null"):
            rows_of(f"parquet:{path}?fields={column}", parquet)
    with pytest.raises(dataline.Error, match="its value 0 is null"):
        rows_of(f"parquet:{path}?fields=l", parquet)
    kept = rows_of(f"parquet:{path}?fields=a", parquet, on_error="replace")
    assert len(kept) == 4
    assert 0 not in [int(row["a"]) for row in kept]


def test_nulls_in_fixed_size_lists(tmp_path: Path, parquet: dataline.Extensions) -> None:
    vectors = [[1, 2, 3], [None, None, None], [4, None, 6], [7, 8, 9]]
    pairs = [[[1, 2], [3, 4]], [[1, 2], [3, None]]] * 2
    ragged = [[[1, 2], [None, 3]], None, [], [[3, 4]]]
    columns = {
        "v": pa.array(vectors, pa.list_(pa.float32(), 3)),
        "p": pa.array(pairs, pa.list_(pa.list_(pa.int32(), 2), 2)),
        "r": pa.array(ragged, pa.list_(pa.list_(pa.int16(), 2))),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    got = rows_of(f"parquet:{path}?nulls=fill(-1)", parquet)
    assert [row["v"].tolist() for row in got] == [[1, 2, 3], [-1, -1, -1], [4, -1, 6], [7, 8, 9]]
    assert [row["p"].tolist() for row in got] == [[[1, 2], [3, 4]], [[1, 2], [3, -1]]] * 2
    assert [np.asarray(row["r"]).tolist() for row in got] == [[[1, 2], [-1, 3]], [], [], [[3, 4]]]
    one = "one of its values"
    for column, row, value in (("v", 1, one), ("v", 2, one), ("p", 1, one), ("r", 0, "its value 1")):
        says = rf"row group 0: row {row}: column '{column}': {value} is null"
        with pytest.raises(dataline.Error, match=says):
            rows_of(f"parquet:{path}?fields={column}", parquet, batch_size=1, sample_indices=np.array([row]))


def test_null_rows_of_fixed_size_lists_are_read_or_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    """pyarrow cannot write them, nor read them before a release after 17: a list in the file, said to be of a fixed size."""
    lists = pa.table({"v": pa.array([[1, 2, 3], None, [4, 5, 6]], pa.list_(pa.float32()))})
    said = pa.schema([pa.field("v", pa.list_(pa.float32(), 3))])
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, lists.schema, store_schema=False) as writer:
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(said.serialize().to_pybytes()).decode()})
        writer.write_table(lists)
    said = "row group 0: column 'v': a null among fixed-size lists, which Arrow|row 1: column 'v': a null"
    with pytest.raises(dataline.Error, match=said) as caught:
        rows_of(f"parquet:{path}", parquet)
    if "which Arrow" not in str(caught.value):
        got = rows_of(f"parquet:{path}?nulls=fill(0)", parquet)
        assert [row["v"].tolist() for row in got] == [[1, 2, 3], [0, 0, 0], [4, 5, 6]]


def directory_of(tmp_path: Path, files: int = 11, rows: int = 30) -> Path:
    folder = tmp_path / "set"
    folder.mkdir()
    for f in range(files):
        x = range(f * rows, (f + 1) * rows)
        table = pa.table({"x": pa.array(x, pa.int64()), "t": pa.array([str(i) * 3 for i in x])})
        pq.write_table(table, folder / f"part-{f}.parquet", row_group_size=8)
    (folder / ".hidden.parquet").write_bytes(b"no")
    (folder / "_SUCCESS").write_bytes(b"")
    return folder


def test_a_directory_follows_the_rule_of_all_formats(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = directory_of(tmp_path, files=1, rows=2)
    pq.write_table(pa.table({"x": pa.array([2], pa.int64()), "t": pa.array(["2"])}), folder / "PART-7.PARQUET")
    (folder / "__MACOSX").mkdir()
    (folder / "README").write_bytes(b"x")
    dataset = dataline.open(f"parquet:{folder}", extensions=parquet)
    assert len(dataset) == 3
    assert [note for note in dataset.notes if "left out" in note] == [
        f"{folder}: left out: 2 files of other kinds (README, _SUCCESS), 1 hidden name (.hidden.parquet)"
    ]


def test_a_directory_is_its_files_in_natural_order(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = directory_of(tmp_path)
    assert [int(row["x"]) for row in rows_of(f"parquet:{folder}", parquet)] == list(range(330))
    both = f"parquet:{folder}/part-1.parquet,{folder}/part-0.parquet"
    assert [int(row["x"]) for row in rows_of(both, parquet)] == [*range(30, 60), *range(30)]


@pytest.mark.parametrize("shuffle", ["none", "full", "window"])
def test_order_does_not_depend_on_workers_or_the_cache(
    tmp_path: Path, parquet: dataline.Extensions, shuffle: str
) -> None:
    folder = directory_of(tmp_path)
    orders = []
    for workers in range(5):
        for cache in ("256MiB", "40KiB"):
            uri = f"parquet:{folder}?cache_bytes={cache}"
            got = rows_of(uri, parquet, shuffle=shuffle, seed=5, num_workers=workers)
            assert all(bytes(row["t"]) == str(int(row["x"])).encode() * 3 for row in got)
            orders.append([int(row["x"]) for row in got])
    assert all(order == orders[0] for order in orders)
    assert sorted(orders[0]) == list(range(330))


@pytest.mark.parametrize("workers", range(5))
def test_a_saved_state_resumes(tmp_path: Path, parquet: dataline.Extensions, workers: int) -> None:
    folder = directory_of(tmp_path)

    def loader() -> dataline.Loader:
        return dataline.Loader(
            f"parquet:{folder}",
            extensions=parquet,
            batch_size=7,
            shuffle=True,
            seed=3,
            num_workers=workers,
            epochs=1,
        )

    whole = [batch["x"].tolist() for batch in loader()]
    first = loader()
    steps = iter(first)
    head = [next(steps)["x"].tolist() for _ in range(9)]
    state = first.state_dict()
    second = loader()
    second.load_state_dict(state)
    assert head + [batch["x"].tolist() for batch in second] == whole
