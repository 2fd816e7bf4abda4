"""Directories of Parquet files in subdirectories, compared with pyarrow: which files are read, in what order, and KEY=VALUE
as fields.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from parquet_files import pa, plain, pq, rows_of

ds = pytest.importorskip("pyarrow.dataset", reason="this pyarrow has no datasets")


def write(folder: Path, name: str, x: list[int]) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"x": pa.array(x, pa.int64())}), folder / name)


def nested(tmp_path: Path) -> Path:
    folder = tmp_path / "hive"
    write(folder, "year=2024/month=10/part-0.parquet", [5, 6])
    write(folder, "year=2024/month=2/part-10.parquet", [4])
    write(folder, "year=2024/month=2/part-2.parquet", [3])
    write(folder, "year=2023/month=1/part-0.parquet", [1, 2])
    return folder


def by_x(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["x"]))


def assert_same_as_pyarrow(folder: Path, parquet: dataline.Extensions) -> None:
    """Names, order of names, integer or text, and all values."""
    table = ds.dataset(folder, format="parquet", partitioning="hive").to_table()
    expected = by_x(table.to_pylist())
    got = by_x(rows_of(f"parquet:{folder}", parquet))
    assert [list(row) for row in got] == [table.column_names] * len(expected)
    for mine, theirs in zip(got, expected):
        for name, value in theirs.items():
            np.testing.assert_array_equal(np.asarray(mine[name]), np.asarray(plain(value)), name)
            if isinstance(value, int) and name != "x":
                assert np.asarray(mine[name]).dtype == np.int32


def test_values_of_directories_stay_with_their_files_beside_a_file_of_0_bytes(
    tmp_path: Path, parquet: dataline.Extensions
) -> None:
    folder = nested(tmp_path)
    (folder / "year=2023" / "month=7").mkdir()
    (folder / "year=2023" / "month=7" / "part-0.parquet").write_bytes(b"")
    rows = rows_of(f"parquet:{folder}", parquet)
    assert [(int(row["x"]), int(row["year"]), int(row["month"])) for row in rows] == [
        (1, 2023, 1), (2, 2023, 1), (3, 2024, 2), (4, 2024, 2), (5, 2024, 10), (6, 2024, 10),
    ]  # fmt: skip


def test_subdirectories_are_entered_in_natural_order_of_the_names(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = nested(tmp_path)
    for uri in (f"parquet:{folder}", str(folder)):  # with the scheme and without it
        rows = rows_of(uri, parquet)
        assert [int(row["x"]) for row in rows] == [1, 2, 3, 4, 5, 6]
        assert [(int(row["year"]), int(row["month"])) for row in rows] == [
            (2023, 1), (2023, 1), (2024, 2), (2024, 2), (2024, 10), (2024, 10),
        ]  # fmt: skip
    assert not [note for note in dataline.open(f"parquet:{folder}", extensions=parquet).notes if "left out" in note]
    assert_same_as_pyarrow(folder, parquet)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2"], ["01", "12"], ["-3", "4"], ["a", "1"], ["2147483647", "0"], ["2147483648", "0"], ["1.5", "2"],
        ["a%20b", "c%2Fd"], ["ü", "%C3%BC"], ["true", "false"], ["2024-01-01", "2024-02-01"],
    ],
)  # fmt: skip
def test_values_are_typed_and_decoded_as_pyarrow_does(
    tmp_path: Path, parquet: dataline.Extensions, values: list[str]
) -> None:
    for i, value in enumerate(values):
        write(tmp_path / "set", f"k={value}/a.parquet", [2 * i, 2 * i + 1])
    assert_same_as_pyarrow(tmp_path / "set", parquet)


def test_names_with_a_dot_or_an_underscore_are_left_out_at_any_depth(
    tmp_path: Path, parquet: dataline.Extensions
) -> None:
    folder = nested(tmp_path)
    for name in ("_temporary/a.parquet", "year=2024/.tmp/a.parquet", "year=2024/_a.parquet", "_b.parquet"):
        write(folder, name, [99])
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "year=2024" / "README").write_bytes(b"x")
    (folder / "empty").mkdir()
    dataset = dataline.open(f"parquet:{folder}", extensions=parquet)
    assert len(dataset) == 6
    assert [note for note in dataset.notes if "left out" in note] == [
        f"{folder}: left out: 1 file of another kind (_SUCCESS), 1 hidden name (_b.parquet), "
        "2 subdirectories (_temporary, empty)"
    ]
    (folder / "year=2024" / "README").unlink()  # pyarrow reads all names without a prefix
    assert_same_as_pyarrow(folder, parquet)


def test_a_null_partition_follows_the_key_nulls(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = tmp_path / "set"
    write(folder, "a=1/b=x/f.parquet", [0])
    write(folder, "a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__/f.parquet", [1])
    with pytest.raises(dataline.Error, match=r"column '[ab]': a null \(nulls=fill"):
        rows_of(f"parquet:{folder}", parquet)
    rows = by_x(rows_of(f"parquet:{folder}?nulls=fill(-7)", parquet))
    assert [(int(row["a"]), bytes(row["b"])) for row in rows] == [(1, b"x"), (-7, b"")]
    rows = by_x(rows_of(f"parquet:{folder}?nulls=mask", parquet))
    assert list(rows[0]) == ["x", "a", "b", "x/valid", "a/valid", "b/valid"]
    assert [(bool(row["a/valid"]), bool(row["b/valid"]), int(row["a"])) for row in rows] == [
        (True, True, 1), (False, False, 0),
    ]  # fmt: skip


def test_fields_selects_keys_too(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = nested(tmp_path)
    rows = rows_of(f"parquet:{folder}?fields=month,x", parquet)
    assert [list(row) for row in rows] == [["month", "x"]] * 6
    assert [int(row["month"]) for row in rows] == [1, 1, 2, 2, 10, 10]
    rows = rows_of(f"parquet:{folder}?fields=year", parquet)
    assert [{name: int(row[name]) for name in row} for row in rows] == [{"year": y} for y in [2023] * 2 + [2024] * 4]
    assert list(rows_of(f"parquet:{folder}?fields=x", parquet)[0]) == ["x"]
    with pytest.raises(dataline.Error, match="no column 'day'"):
        rows_of(f"parquet:{folder}?fields=day", parquet)


@pytest.mark.parametrize("shuffle", ["none", "full", "window"])
def test_the_value_of_a_directory_is_delivered_in_place_of_a_column_of_its_name(
    tmp_path: Path, parquet: dataline.Extensions, shuffle: str
) -> None:
    folder = tmp_path / "set"
    for k in (3, 4):
        (folder / f"k={k}").mkdir(parents=True)
        pq.write_table(pa.table({"k": [0, 0], "x": [k, k]}), folder / f"k={k}" / "a.parquet")
    rows = rows_of(f"parquet:{folder}", parquet, shuffle=shuffle, seed=1)
    assert sorted((int(row["k"]), int(row["x"])) for row in rows) == [(3, 3), (3, 3), (4, 4), (4, 4)]


@pytest.mark.parametrize("name", ["a.parquet", "a.parq", "A.PQ"])
def test_without_the_plugin_every_path_names_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "set"
    write(folder, f"year=2024/month=1/{name}", [1])
    write(tmp_path / "flat", name, [1])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data").write_bytes((tmp_path / "flat" / name).read_bytes())  # by its content
    suffix = name.split(".")[1]
    for path in (
        tmp_path / "flat" / name, tmp_path / "flat", folder, folder / "year=2024", tmp_path / "other",
        tmp_path / "other" / "data", tmp_path / "flat" / f"*.{suffix}", tmp_path / "flat" / f"{{0..3}}.{suffix}",
        f"parquet:{folder}", f"parquet:{folder}/*.{suffix}",
    ):  # fmt: skip
        with pytest.raises(dataline.Error) as caught:
            dataline.open(str(path))
        for part in ("libdataline-parquet.so", "--plugin", "Extensions.load()", "dl_extensions_load()"):
            assert part in str(caught.value), (path, caught.value)


def test_without_the_plugin_a_written_set_names_it(tmp_path: Path) -> None:
    with dataline.Writer(f"parquet:{tmp_path}/set", {"x": np.arange(3)}) as writer:
        writer.append({"x": np.arange(3)})
    with pytest.raises(dataline.Error, match=r"libdataline-parquet\.so reads it, but is not loaded"):
        dataline.open(f"{tmp_path}/set")
