"""Parquet sets that writers write, value by value: by pyarrow, the plug-in, and DuckDB and Polars where they are installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from parquet_files import pa, pq, rows_of

ipc = pytest.importorskip("pyarrow.ipc", reason="needs pyarrow (pip install pyarrow)")
SCALARS = ("bool", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")


def ragged(draw: Any, kind: str, rows: int, most: int, item: tuple[int, ...] = ()) -> Any:
    lengths = draw.integers(0, most + 1, rows) * draw.integers(0, 2, rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return dataline.Ragged(numbers(draw, kind, (int(offsets[-1]), *item)), offsets)


def numbers(draw: Any, kind: str, shape: tuple[int, ...]) -> Any:
    """Any bits: of floats not-a-numbers and negative zeros too."""
    if kind == "bool":
        return draw.integers(0, 2, shape).astype(bool)
    size = np.dtype(kind).itemsize
    return draw.integers(0, 256, (*shape, size), dtype=np.uint8).view(kind)[..., 0]


def every_kind(rows: int, seed: int) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for kind in SCALARS:
        columns[kind] = numbers(draw, kind, (rows,))
        columns[f"{kind} row"] = numbers(draw, kind, (rows, 5))
        columns[f"{kind} list"] = ragged(draw, kind, rows, 20, () if kind != "u1" else (1,))
    columns["matrix"] = numbers(draw, "f4", (rows, 3, 2))
    columns["cube"] = numbers(draw, "u1", (rows, 2, 3, 2))
    columns["image"] = numbers(draw, "u1", (rows, 4, 5, 3))
    columns["halves"] = numbers(draw, "f2", (rows, 2, 2))
    columns["boxes"] = ragged(draw, "f4", rows, 4, (2, 2))
    columns["nothing"] = ragged(draw, "i1", rows, 0)
    columns["one"] = numbers(draw, "i2", (rows, 1, 1))
    for name in ("a/b", "a.b", "list", "element", "ä, ö"):
        columns[name] = numbers(draw, "i4", (rows, 2))
    columns["text"] = ["ä" * int(n) for n in draw.integers(0, 4, rows)]
    columns["bytes"] = [draw.bytes(int(n)) for n in draw.integers(0, 300, rows)]
    return columns


def write(uri: str, columns: dict[str, Any], rows: int, step: int) -> None:
    def part(value: Any, first: int, end: int) -> Any:
        if not isinstance(value, dataline.Ragged):
            return value[first:end]
        offsets = value.offsets[first : end + 1]
        return dataline.Ragged(value.data[offsets[0] : offsets[-1]], offsets - offsets[0])

    axes = {name: letters for name, letters in {"image": "HWC", "halves": "HW"}.items() if name in columns}
    with dataline.Writer(uri, {name: part(value, 0, 0) for name, value in columns.items()}, axes=axes) as writer:
        for first in range(0, rows, step):
            end = min(first + step, rows)
            writer.append({name: part(value, first, end) for name, value in columns.items()})


def leaf(column: Any) -> Any:
    """The values of a column, all lists taken off, and the types on the way."""
    array = column.combine_chunks()
    types: list[Any] = []
    while True:
        if isinstance(array, pa.ExtensionArray):
            types.append(str(array.type))
            array = array.storage
        if pa.types.is_fixed_size_list(array.type):
            types.append(f"{array.type.list_size} of")
        elif pa.types.is_large_list(array.type):
            types.append(("lengths", np.diff(array.offsets.to_numpy()).tolist()))
        else:
            return array, [*types, str(array.type)]
        array = array.flatten()


def bits(array: Any) -> Any:
    if pa.types.is_boolean(array.type) or pa.types.is_large_binary(array.type):
        return array.to_pylist()
    return array.to_numpy(zero_copy_only=False).tobytes()


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
@pytest.mark.parametrize(("rows", "step"), [(1, 1), (7, 3), (300, 300), (3000, 64)])
def test_pyarrow_reads_what_it_reads_of_an_arrow_set(tmp_path: Path, rows: int, step: int, codec: str) -> None:
    columns = every_kind(rows, rows)
    tables = []
    for form in ("arrow", "parquet"):
        write(f"{form}:{tmp_path}/{form}?codec={codec}", columns, rows, step)
        path = tmp_path / form / f"part-00000.{form}"
        if form == "arrow":
            with pa.memory_map(str(path)) as source:
                tables.append(ipc.open_file(source).read_all())
        else:
            tables.append(pq.ParquetFile(path, page_checksum_verification=True).read())
    arrow, parquet = tables
    parquet.validate(full=True)
    assert parquet.column_names == arrow.column_names == list(columns)
    for name in columns:
        expected, got = leaf(arrow[name]), leaf(parquet[name])
        assert got[1] == expected[1], name
        assert bits(got[0]) == bits(expected[0]), name
        assert parquet[name].null_count == 0, name
    shape = pa.fixed_shape_tensor(pa.uint8(), [4, 5, 3], dim_names=["H", "W", "C"])
    assert parquet.schema.field("image").type == shape


@pytest.mark.parametrize("rows", [1, 50, 2000])
def test_the_plug_in_delivers_what_an_arrow_set_delivers(
    tmp_path: Path, parquet: dataline.Extensions, rows: int
) -> None:
    columns = every_kind(rows, rows)
    for form in ("arrow", "parquet"):
        write(f"{form}:{tmp_path}/{form}?shard_bytes=200KiB", columns, rows, 100)
    fields = [
        [(field.name, field.dtype, field.shape, field.ragged, field.axes) for field in opened.fields]
        for opened in (
            dataline.open(f"arrow:{tmp_path}/arrow"),
            dataline.open(f"parquet:{tmp_path}/parquet", extensions=parquet),
        )
    ]
    assert fields[0] == fields[1]
    for options in ({}, {"shuffle": "full", "seed": 3, "num_workers": 2}):
        expected = rows_of(f"arrow:{tmp_path}/arrow", parquet, **options)
        got = rows_of(f"parquet:{tmp_path}/parquet", parquet, **options)
        assert len(got) == len(expected) == rows
        for row, other in zip(got, expected):
            assert all(np.asarray(row[name]).tobytes() == np.asarray(other[name]).tobytes() for name in columns)


def test_row_groups_are_blocks_of_windows_and_rows_may_be_larger(tmp_path: Path, parquet: dataline.Extensions) -> None:
    rows, draw = 400, np.random.default_rng(1)
    columns: dict[str, Any] = {
        "x": np.arange(rows),
        "image": draw.integers(0, 256, (rows, 300, 400, 1), dtype=np.uint8),
        "bytes": [draw.bytes(9 << 20 if i == 77 else i) for i in range(rows)],
    }
    write(f"parquet:{tmp_path}/set", columns, rows, 48)
    groups = pq.ParquetFile(tmp_path / "set/part-00000.parquet").metadata
    sizes = [groups.row_group(g).num_rows for g in range(groups.num_row_groups)]
    assert (sum(sizes), len(sizes), max(sizes)) == (rows, 7, 70)
    options = {"shuffle": "window", "seed": 2, "max_bytes_per_sample": "16MiB", "batch_size": 4}
    got = rows_of(f"parquet:{tmp_path}/set", parquet, **options)
    assert sorted(int(row["x"]) for row in got) == list(range(rows))
    for row in got:
        i = int(row["x"])
        np.testing.assert_array_equal(row["image"], columns["image"][i])
        assert bytes(row["bytes"]) == columns["bytes"][i]


def test_every_changed_byte_of_a_page_is_found(tmp_path: Path, parquet: dataline.Extensions) -> None:
    columns = {"ids": ragged(np.random.default_rng(5), "i4", 40, 3), "u8": np.arange(80, dtype=np.uint8).reshape(40, 2)}
    write(f"parquet:{tmp_path}/set", columns, 40, 40)
    path = tmp_path / "set/part-00000.parquet"
    whole = path.read_bytes()
    chunks = [pq.ParquetFile(path).metadata.row_group(0).column(c) for c in range(2)]
    for name, chunk in zip(columns, chunks):
        end = chunk.data_page_offset + chunk.total_compressed_size
        if chunk.has_dictionary_page:
            end = chunk.dictionary_page_offset + chunk.total_compressed_size
        for place in range(chunk.data_page_offset + 40, end, 3):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
            with pytest.raises(dataline.Error, match=f"row group 0: column '{name}'.*CRC"):
                rows_of(f"parquet:{path}", parquet)


def test_row_groups_say_their_range(tmp_path: Path) -> None:
    columns = {
        "x": np.arange(3_000_000) - 1_500_000,
        "f": np.arange(3_000_000) / 7,
        "u": np.arange(3_000_000, dtype=np.uint64) + 2**63,
    }
    write(f"parquet:{tmp_path}/set", columns, 3_000_000, 100_000)
    groups = pq.ParquetFile(tmp_path / "set/part-00000.parquet").metadata
    first = 0
    for number in range(groups.num_row_groups):
        group = groups.row_group(number)
        end = first + group.num_rows
        ranges = [group.column(c).statistics for c in range(3)]
        assert (ranges[0].min, ranges[0].max) == (first - 1_500_000, end - 1 - 1_500_000)
        assert (ranges[2].min, ranges[2].max) == (first + 2**63, end - 1 + 2**63)
        assert not ranges[1].has_min_max
        assert ranges[1].null_count == 0
        first = end
    assert groups.num_row_groups == 9
    assert pq.read_table(tmp_path / "set/part-00000.parquet", filters=[("x", ">", 1_400_000)]).num_rows == 99_999


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_duckdb(tmp_path: Path, codec: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    columns = every_kind(500, 9)
    write(f"parquet:{tmp_path}/set?shard_bytes=100KiB&codec={codec}", columns, 500, 50)
    read = duckdb.connect().execute(f"select * from '{tmp_path}/set/*.parquet'")
    names = [name for name, *_ in read.description]
    same_values(dict(zip(names, zip(*read.fetchall()))), columns)


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_polars(tmp_path: Path, codec: str) -> None:
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    columns = every_kind(500, 10)
    write(f"parquet:{tmp_path}/set?shard_bytes=100KiB&codec={codec}", columns, 500, 50)
    same_values(polars.read_parquet(f"{tmp_path}/set/*.parquet").to_dict(as_series=False), columns)


def same_values(read: dict[str, Any], columns: dict[str, Any]) -> None:
    """As numbers: of lists in lists all values, and of ragged ones where rows end."""
    for name, written in columns.items():
        got = read[name]
        if isinstance(written, list):
            assert [bytes(value) for value in got] == [
                value.encode() if isinstance(value, str) else value for value in written
            ], name
            continue
        data = written.data if isinstance(written, dataline.Ragged) else written
        if isinstance(written, dataline.Ragged):
            assert [len(value) for value in got] == np.diff(written.offsets).tolist(), name
            got = [item for value in got for item in value]
        assert np.array_equal(np.array(got, data.dtype).reshape(data.shape), data, equal_nan=data.dtype.kind == "f"), (
            name
        )
