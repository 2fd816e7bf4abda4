"""The plug-in libdataline-parquet.so: files that Polars, DuckDB and fastparquet write, where they are installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from parquet_files import plain, rows_of

ROWS = 1000
COLUMNS: dict[str, list[Any]] = {
    "i": list(range(ROWS)),
    "f": [i / 7 for i in range(ROWS)],
    "b": [i % 3 == 0 for i in range(ROWS)],
    "s": [f"Zeile {i % 13} ä" for i in range(ROWS)],
    "l": [list(range(i % 5)) for i in range(ROWS)],
}


def check(path: Path, parquet: dataline.Extensions, names: str = "ifbsl", **options: Any) -> None:
    got = rows_of(f"parquet:{path}?fields={','.join(names)}", parquet, **options)
    assert len(got) == ROWS
    for row in got:
        i = int(row["i"])
        for name in names:
            np.testing.assert_array_equal(np.asarray(row[name]), np.asarray(plain(COLUMNS[name][i])), f"{name}[{i}]")
    assert sorted(int(row["i"]) for row in got) == COLUMNS["i"]


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_polars(tmp_path: Path, parquet: dataline.Extensions, codec: Any) -> None:
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    path = tmp_path / "a.parquet"
    frame = polars.DataFrame({**COLUMNS, "c": polars.Series(COLUMNS["s"], dtype=polars.Categorical)})
    frame.write_parquet(path, compression=codec, row_group_size=300, data_page_size=1000)
    check(path, parquet)
    check(path, parquet, shuffle="window", seed=2)
    words = [bytes(row["c"]).decode() for row in rows_of(f"parquet:{path}?fields=c", parquet)]
    assert words == frame["c"].to_list()


@pytest.mark.parametrize("version", ["V1", "V2"])
@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_duckdb(tmp_path: Path, parquet: dataline.Extensions, codec: str, version: str) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    path = tmp_path / "a.parquet"
    made = duckdb.connect()
    made.execute(
        "create table t as select i, i / 7.0::double as f, i % 3 = 0 as b, 'Zeile ' || (i % 13) || ' ä' as s, "
        "range(i % 5) as l, {'w': i * 2, 'd': date '2024-01-01' + i::int} as z "
        f"from range({ROWS}) r(i)"
    )
    made.execute(
        f"copy t to '{path}' (format parquet, codec '{codec}', row_group_size 2048, parquet_version '{version}')"
    )
    check(path, parquet)
    check(path, parquet, shuffle=True, seed=2, num_workers=3)
    got = rows_of(f"parquet:{path}?fields=z", parquet)
    assert [int(row["z/w"]) for row in got] == [2 * i for i in range(ROWS)]
    assert int(got[3]["z/d"]) == 19723 + 3


@pytest.mark.parametrize("codec", ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4_RAW", "ZSTD"])
def test_fastparquet(tmp_path: Path, parquet: dataline.Extensions, codec: str) -> None:
    fastparquet = pytest.importorskip("fastparquet", reason="fastparquet is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    path = tmp_path / "a.parquet"
    frame = pandas.DataFrame({name: COLUMNS[name] for name in "ifbs"})
    fastparquet.write(path, frame, compression=codec, row_group_offsets=300, write_index=False, has_nulls=False)
    check(path, parquet, "ifbs")
