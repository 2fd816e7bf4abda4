"""What the tests of Parquet share: rows, and files that are written well and then spoiled.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
import thrift_compact as thrift

pa = pytest.importorskip("pyarrow", reason="pyarrow, which writes the files, is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="this pyarrow has no Parquet")


def rows_of(uri: str, extensions: dataline.Extensions, **options: Any) -> list[dict[str, Any]]:
    out = []
    for batch in dataline.Loader(uri, extensions=extensions, **{"batch_size": 7, "epochs": 1, **options}):
        columns = {name: batch[name] for name in batch}
        out += [{name: column[i] for name, column in columns.items()} for i in range(batch.info.samples)]
    return out


def plain(value: Any) -> Any:
    if isinstance(value, str):
        return list(value.encode())
    if isinstance(value, bytes):
        return list(value)
    return value


def same(got: list[dict[str, Any]], table: Any) -> None:
    expected = {name: table[name].to_pylist() for name in table.column_names}
    assert len(got) == table.num_rows
    for i, row in enumerate(got):
        for name, values in expected.items():
            np.testing.assert_array_equal(np.asarray(row[name]), np.asarray(plain(values[i])), f"{name}[{i}]")


def table_of(rows: int = 100) -> Any:
    n = range(rows)
    columns: dict[str, Any] = {}
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        columns[kind] = pa.array([i % 100 for i in n], getattr(pa, kind)())
    columns["f32"] = pa.array([i / 3 for i in n], pa.float32())
    columns["f64"] = pa.array([i / 7 for i in n], pa.float64())
    columns["flag"] = pa.array([i % 3 == 0 for i in n], pa.bool_())
    columns["text"] = pa.array(["ü" * (i % 5) + str(i) for i in n])
    columns["raw"] = pa.array([bytes([i % 256]) * (i % 9) for i in n], pa.binary())
    columns["large"] = pa.array([str(i) for i in n], pa.large_string())
    columns["id"] = pa.array([struct.pack("<q", i) for i in n], pa.binary(8))
    columns["tokens"] = pa.array([list(range(i % 6)) for i in n], pa.list_(pa.int32()))
    columns["flags"] = pa.array([[True, False][: i % 3] for i in n], pa.list_(pa.bool_()))
    columns["vector"] = pa.array([[i, i + 1, i + 2] for i in n], pa.list_(pa.float32(), 3))
    columns["word"] = pa.array([f"w{i % 4}" for i in n]).dictionary_encode()
    return pa.table(columns)


def written(tmp_path: Path, **options: Any) -> tuple[Path, bytes]:
    """4 row groups of 1000 rows: x, an int64, and t, a text."""
    path = tmp_path / "a.parquet"
    table = pa.table({"x": pa.array(range(4000), pa.int64()), "t": pa.array([str(i) for i in range(4000)])})
    pq.write_table(table, path, row_group_size=1000, use_dictionary=False, compression="none", **options)
    return path, path.read_bytes()


def refused(path: Path, extensions: dataline.Extensions, *parts: str, key: str = "") -> None:
    with pytest.raises(dataline.Error) as caught:
        rows_of(f"parquet:{path}{key}", extensions)
    for part in (path.name, *parts):
        assert part in str(caught.value), caught.value


def with_footer(whole: bytes, change: Callable[[thrift.Struct], None]) -> bytes:
    """The file with its footer changed."""
    length = struct.unpack("<I", whole[-8:-4])[0]
    footer, _ = thrift.decode(whole, len(whole) - 8 - length)
    change(footer)
    made = thrift.encode(thrift.STRUCT, footer)
    return whole[: len(whole) - 8 - length] + made + struct.pack("<I", len(made)) + b"PAR1"


def at(footer: thrift.Struct, *path: int) -> Any:
    """What is at a path of fields' numbers; of a list, of indices."""
    value: Any = footer
    for step in path:
        value = value[step][1] if isinstance(value, dict) else value[1][step]
    return value


def put(footer: thrift.Struct, value: Any, *path: int) -> None:
    at(footer, *path[:-1])[path[-1]][1] = value


def one_page(tmp_path: Path, values: Any, **options: Any) -> tuple[Path, bytes]:
    """A file of one column, one row group and one page, after that of its dictionary if it has one."""
    path = tmp_path / "a.parquet"
    settings = {"compression": "none", "use_dictionary": False, "write_statistics": False, **options}
    pq.write_table(pa.table({"x": values}), path, **settings)
    return path, path.read_bytes()


def with_page(whole: bytes, change: Callable[[thrift.Struct], None]) -> bytes:
    """A file of one_page with the header of its first page changed; what comes after it moves along."""
    header, end = thrift.decode(whole, 4)
    change(header)
    made = thrift.encode(thrift.STRUCT, header)
    grown = len(made) - (end - 4)

    def move(footer: thrift.Struct) -> None:
        chunk = at(footer, 4, 0, 1, 0, 3)
        chunk[6][1] += grown
        chunk[7][1] += grown
        if 11 in chunk:
            chunk[9][1] += grown

    return with_footer(whole[:4] + made + whole[end:], move)
