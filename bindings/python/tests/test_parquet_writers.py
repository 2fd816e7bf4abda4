"""The plug-in libdataline-parquet.so: files that Polars, DuckDB, fastparquet and Spark write, where they are installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date, datetime, timezone
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


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    quiet = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.host": "127.0.0.1"}
    builder = sql.SparkSession.builder.master("local[2]").appName("dataline")
    for key, value in quiet.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def spark_rows() -> list[tuple[Any, ...]]:
    day = date(2024, 1, 1).toordinal()
    return [
        (
            *(COLUMNS[name][i] for name in "ifbsl"),
            {"w": i * 2, "t": str(i)},
            date.fromordinal(day + i),
            datetime.fromtimestamp(1_700_000_000 + i, tz=timezone.utc),
            bytes([i % 256]) * (i % 4),
            None if i % 10 == 3 else i,
            [[1.5, i / 2], [i * 1.0]][: i % 3],
        )
        for i in range(ROWS)
    ]


# Its lists have two forms, and its times three: the INT96 of old is what it writes unless it is told otherwise.
@pytest.mark.parametrize("legacy", ["false", "true"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4_raw"])
def test_spark(tmp_path: Path, parquet: dataline.Extensions, spark: Any, codec: str, legacy: str) -> None:
    schema = (
        "i bigint, f double, b boolean, s string, l array<bigint>, z struct<w: bigint, t: string>, "
        "d date, t timestamp, raw binary, gap int, m array<array<double>>"
    )
    times = "INT96" if legacy == "true" else "TIMESTAMP_MICROS"
    spark.conf.set("spark.sql.parquet.writeLegacyFormat", legacy)
    spark.conf.set("spark.sql.parquet.outputTimestampType", times)
    folder = tmp_path / "set"
    frame = spark.createDataFrame(spark_rows(), schema).repartition(3).sortWithinPartitions("i")
    frame.write.option("compression", codec).option("parquet.block.size", 16384).parquet(str(folder))
    assert (folder / "_SUCCESS").exists()
    assert len(list(folder.glob("part-*.parquet"))) == 3
    check(folder, parquet)
    check(folder, parquet, shuffle="window", seed=2, num_workers=2)
    second = 1_000_000_000 if legacy == "true" else 1_000_000  # INT96 counts nanoseconds
    for row in rows_of(f"parquet:{folder}?fields=i,z/w,z/t,d,t,raw", parquet):
        i = int(row["i"])
        assert (int(row["z/w"]), bytes(row["z/t"]), int(row["d"])) == (2 * i, str(i).encode(), 19723 + i)
        assert bytes(row["raw"]) == bytes([i % 256]) * (i % 4)
        assert int(row["t"]) == (1_700_000_000 + i) * second
    for row in rows_of(f"parquet:{folder}?fields=i,gap&nulls=mask", parquet):
        i = int(row["i"])
        assert (int(row["gap"]), bool(row["gap/valid"])) == ((0, False) if i % 10 == 3 else (i, True))


def test_spark_reads_what_is_written(tmp_path: Path, spark: Any) -> None:
    columns = {
        "i": np.arange(ROWS),
        "f": np.arange(ROWS) / 7,
        "b": np.arange(ROWS) % 3 == 0,
        "s": COLUMNS["s"],
        "l": dataline.Ragged(np.concatenate([np.arange(i % 5) for i in range(ROWS)]), ragged_offsets()),
        "row": np.arange(3 * ROWS, dtype=np.float32).reshape(ROWS, 3),
    }
    folder = tmp_path / "set"
    empty: dict[str, Any] = {name: value[:0] for name, value in columns.items() if name != "l"}
    empty["l"] = dataline.Ragged(np.arange(0), np.zeros(1, np.int64))
    with dataline.Writer(f"parquet:{folder}", empty) as writer:
        writer.append(columns)
    got = spark.read.parquet(*[str(path) for path in sorted(folder.glob("*.parquet"))]).orderBy("i").collect()
    assert len(got) == ROWS
    for i, row in enumerate(got):
        for name in "ifbl":
            assert row[name] == COLUMNS[name][i]
        assert (row["s"] if isinstance(row["s"], str) else bytes(row["s"]).decode()) == COLUMNS["s"][i]
        assert list(row["row"]) == [3.0 * i, 3.0 * i + 1, 3.0 * i + 2]


def ragged_offsets() -> Any:
    return np.concatenate([[0], np.cumsum([i % 5 for i in range(ROWS)])]).astype(np.int64)
