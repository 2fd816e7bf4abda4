"""The plug-in libdataline-parquet.so: footers and page headers, well formed, that say what is not so. Each error names the
file and what is wrong; none is a crash, and none takes more memory than the cache may.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataline
import thrift_compact as thrift
from parquet_files import at, one_page, pa, pq, put, refused, rows_of, with_footer, with_page, written

Change = Callable[[thrift.Struct], Any]
BIG = 1 << 62

# Of a footer: 2 is the schema, 3 the rows, 4 the row groups; of a row group 1 its columns, 3 its rows; of a column 3 its
# metadata: 1 type, 3 path, 4 codec, 5 values, 6 bytes inflated, 7 bytes stored, 9 first page, 11 dictionary.
COLUMN = (4, 1, 1, 0, 3)  # x in row group 1


def field(value: Any, *path: int) -> Change:
    return lambda footer: put(footer, value, *path)


def without(*path: int) -> Change:
    return lambda footer: at(footer, *path[:-1]).pop(path[-1])


def both(first: Change, second: Change) -> Change:
    return lambda footer: (first(footer), second(footer))


def elsewhere(footer: thrift.Struct) -> None:
    at(footer, 4, 1, 1, 0)[1] = [thrift.BINARY, b"b.parquet"]


def deep(footer: thrift.Struct) -> None:
    """A struct in a struct, 10,000 times."""
    schema = at(footer, 2)[1]
    schema[0][5][1] = 1
    schema[1:] = [{3: [5, 0], 4: [8, b"s"], 5: [5, 1]} for _ in range(10000)] + [schema[1]]


def more_groups(footer: thrift.Struct) -> None:
    groups = at(footer, 4)[1]
    groups += groups[:1] * 10000


def wide_rows(footer: thrift.Struct) -> None:
    """2^60 rows in row group 1, consistently."""
    put(footer, 1 << 60, 4, 1, 3)
    put(footer, (1 << 60) + 3000, 3)
    for column in (0, 1):
        put(footer, 1 << 60, 4, 1, 1, column, 3, 5)


FOOTERS: list[tuple[str, Change, str]] = [
    ("rows of the file +1", field(4001, 3), "the file has 4001 rows, its row groups 4000"),
    ("rows of the file -1", field(-1, 3), "the file has -1 rows"),
    ("rows of the file huge", field(BIG, 3), f"the file has {BIG} rows"),
    ("rows of a group +1", field(1001, 4, 1, 3), "row group 1: column 'x' has 1000 values, the row group 1001 rows"),
    ("rows of a group 0", field(0, 4, 1, 3), "row group 1: column 'x' has 1000 values, the row group 0 rows"),
    ("rows of a group negative", field(-5, 4, 1, 3), "row group 1 has -5 rows"),
    ("rows of a group huge", field(BIG, 4, 1, 3), "row group 1: column 'x' has 1000 values"),
    ("rows of two groups overflow", both(field(2**63 - 1, 4, 0, 3), field(2**63 - 1, 4, 1, 3)), "row group 0"),
    ("rows that no cache holds", wide_rows, "row group 1 of 1152921504606846976 rows takes 92"),
    ("no rows of the file", without(3), "the footer"),
    ("no schema", without(2), "the footer"),
    ("no row groups", without(4), "the footer"),
    ("fewer row groups", lambda f: at(f, 4)[1].pop(), "the file has 4000 rows, its row groups 3000"),
    ("the same row group 10,000 times", more_groups, "the file has 4000 rows, its row groups 10004000"),
    ("values negative", field(-1, *COLUMN, 5), "row group 1: column 'x' has -1 values"),
    ("values fewer", field(7, *COLUMN, 5), "row group 1: column 'x' has 7 values, the row group 1000 rows"),
    ("values huge", field(BIG, *COLUMN, 5), "row group 1: column 'x' has"),
    ("repetition unknown", field(9, 2, 1, 3), "row group 0: column 'x': an unknown repetition"),
    ("codec LZO", field(3, *COLUMN, 4), "row group 1: column 'x' is compressed with lzo"),
    ("codec of another column", field(1, *COLUMN, 4), "row group 1: column 'x'"),
    ("no codec", without(*COLUMN, 4), "the footer"),
    ("first page negative", field(-8, *COLUMN, 9), "row group 1: column 'x': its pages are at -8"),
    ("first page in the magic", field(1, *COLUMN, 9), "row group 1: column 'x': its pages are at 1"),
    ("first page beyond the file", field(1 << 40, *COLUMN, 9), f"row group 1: column 'x': its pages are at {1 << 40}"),
    ("first page within a page", lambda f: put(f, at(f, *COLUMN, 9) + 9, *COLUMN, 9), "row group 1: column 'x'"),
    ("stored bytes negative", field(-1, *COLUMN, 7), "row group 1: column 'x': its pages are at"),
    ("stored bytes beyond the footer", field(1 << 33, *COLUMN, 7), "row group 1: column 'x': its pages are at"),
    ("stored bytes overflow", field(2**63 - 1, *COLUMN, 7), "row group 1: column 'x': its pages are at"),
    ("stored bytes none", field(0, *COLUMN, 7), "row group 1: column 'x'"),
    ("stored bytes too few", field(40, *COLUMN, 7), "row group 1: column 'x'"),
    ("no metadata of a column", without(4, 1, 1, 0, 3), "a.parquet"),
    ("no first page", without(*COLUMN, 9), "a.parquet"),
    ("a column of another file", elsewhere, "its pages are in a file of another name, 'b.parquet'"),
    ("a column missing in a group", lambda f: at(f, 4, 1, 1)[1].pop(), "row group 1: column 't': missing"),
    ("no columns in a group", lambda f: at(f, 4, 1, 1)[1].clear(), "row group 1: column 'x': missing"),
    ("type unknown", field(77, 2, 1, 1), "a.parquet"),
    ("type text instead of number", field(6, 2, 1, 1), "column 'x'"),
    ("children more than there are", field(7, 2, 0, 5), "the footer"),
    ("children fewer than there are", field(1, 2, 0, 5), "a.parquet"),
    ("children negative", field(-3, 2, 0, 5), "a.parquet"),
    ("children 2^31 - 1", field(2**31 - 1, 2, 0, 5), "the footer"),
    ("structs 10,000 deep", deep, "a.parquet"),
    ("a name of two columns", field(b"x", 2, 2, 4), "2 columns are called 'x'"),
    ("a name that is no UTF-8", field(b"\xff\xfe", 2, 1, 4), r"a column is called '\xff\xfe'"),
    ("a name with a newline", field(b"a\nb", 2, 1, 4), r"a column is called 'a\nb'"),
    ("no name", field(b"", 2, 1, 4), "a column is called ''"),
    ("a name of 64 KiB", field(b"n" * 65536, 2, 1, 4), "a column is called 'nnn"),
]


# Arrow takes an unknown codec for none, and a type that a file says twice from the schema: the rows come back as they are.
UNUSED: list[tuple[str, Change]] = [
    ("codec unknown of pages without one", field(99, *COLUMN, 4)),
    ("type of a chunk unlike the schema", field(6, *COLUMN, 1)),
]


@pytest.mark.parametrize("change", [case[1] for case in UNUSED], ids=[case[0] for case in UNUSED])
def test_footers_whose_lie_is_not_used(tmp_path: Path, parquet: dataline.Extensions, change: Change) -> None:
    path, whole = written(tmp_path, store_schema=False)
    path.write_bytes(with_footer(whole, change))
    assert [int(row["x"]) for row in rows_of(f"parquet:{path}?fields=x", parquet)] == list(range(4000))


@pytest.mark.parametrize(("change", "says"), [case[1:] for case in FOOTERS], ids=[case[0] for case in FOOTERS])
def test_footers_that_lie(tmp_path: Path, parquet: dataline.Extensions, change: Change, says: str) -> None:
    path, whole = written(tmp_path, store_schema=False)
    path.write_bytes(with_footer(whole, change))
    refused(path, parquet, says, key="?cache_bytes=4MiB")


# Of a page header: 2 is its bytes inflated, 3 as stored, 5 what a data page has (1 values, 2 encoding, 3 and 4 of the
# levels), 7 what a dictionary has.
PLAIN = pa.array(range(1000), pa.int64())
PAGES: list[tuple[str, Any, dict[str, Any], Change]] = [
    ("type unknown", PLAIN, {}, field(9, 1)),
    ("type dictionary", PLAIN, {}, field(2, 1)),
    ("inflated bytes negative", PLAIN, {}, field(-1, 2)),
    ("inflated bytes fewer", PLAIN, {}, field(16, 2)),
    ("stored bytes negative", PLAIN, {}, field(-1, 3)),
    ("stored bytes beyond the file", PLAIN, {}, field(2**31 - 1, 3)),
    ("stored bytes fewer", PLAIN, {}, field(10, 3)),
    ("a bomb of 2 GB", PLAIN, {"compression": "zstd"}, field(2**31 - 1, 2)),
    ("a bomb of 2 GB in snappy", PLAIN, {"compression": "snappy"}, field(2**31 - 1, 2)),
    ("inflated bytes more", PLAIN, {"compression": "zstd"}, field(8800, 2)),
    ("inflated bytes fewer in zstd", PLAIN, {"compression": "zstd"}, field(800, 2)),
    ("inflated bytes fewer in gzip", PLAIN, {"compression": "gzip"}, field(800, 2)),
    ("inflated bytes fewer in brotli", PLAIN, {"compression": "brotli"}, field(800, 2)),
    ("inflated bytes fewer in lz4", PLAIN, {"compression": "lz4"}, field(800, 2)),
    ("values negative", PLAIN, {}, field(-1, 5, 1)),
    ("values more", PLAIN, {}, field(2000, 5, 1)),
    ("values fewer", PLAIN, {}, field(500, 5, 1)),
    ("values 2^31 - 1", PLAIN, {}, field(2**31 - 1, 5, 1)),
    ("encoding unknown", PLAIN, {}, field(42, 5, 2)),
    ("encoding dictionary without one", PLAIN, {}, field(8, 5, 2)),
    ("encoding delta of plain values", PLAIN, {}, field(5, 5, 2)),
    ("encoding byte stream split of integers", PLAIN, {"version": "1.0"}, field(7, 5, 2)),
    ("no data page header", PLAIN, {}, without(5)),
    ("no stored bytes", PLAIN, {}, without(3)),
    ("dictionary shorter than its indices", PLAIN, {"use_dictionary": True}, field(3, 7, 1)),
    ("dictionary empty", PLAIN, {"use_dictionary": True}, field(0, 7, 1)),
    ("dictionary negative", PLAIN, {"use_dictionary": True}, field(-4, 7, 1)),
    ("dictionary larger than its bytes", PLAIN, {"use_dictionary": True}, field(99999, 7, 1)),
    ("dictionary of unknown encoding", PLAIN, {"use_dictionary": True}, field(9, 7, 2)),
    ("text dictionary larger", pa.array(["ab", "c"] * 50), {"use_dictionary": True}, field(77, 7, 1)),
    ("text values more", pa.array(["ab", "c"] * 50), {}, field(101, 5, 1)),
    ("list values more", pa.array([[1, 2], [3]] * 50), {}, field(500, 5, 1)),
    ("list values fewer", pa.array([[1, 2], [3]] * 50), {}, field(5, 5, 1)),
    ("v2: nulls more than values", pa.array([1, None] * 50), {"data_page_version": "2.0"}, field(1000, 8, 2)),
    ("v2: rows more", PLAIN, {"data_page_version": "2.0"}, field(5000, 8, 3)),
    ("v2: levels longer than the page", pa.array([1, None] * 50), {"data_page_version": "2.0"}, field(90000, 8, 5)),
    ("v2: levels negative", pa.array([1, None] * 50), {"data_page_version": "2.0"}, field(-1, 8, 5)),
]

# What Arrow takes at the word of its other numbers, and reads rightly.
HARMLESS = {"v2: rows more", "inflated bytes fewer", "v2: nulls more than values"}


@pytest.mark.parametrize(
    ("name", "values", "options", "change"), PAGES, ids=[case[0].replace(" ", "-") for case in PAGES]
)
def test_page_headers_that_lie(
    tmp_path: Path, parquet: dataline.Extensions, name: str, values: Any, options: dict[str, Any], change: Change
) -> None:
    path, whole = one_page(tmp_path, values, **options)
    path.write_bytes(with_page(whole, change))
    key = "?cache_bytes=4MiB&nulls=fill(0)"
    if name not in HARMLESS:
        refused(path, parquet, "a.parquet: row group 0", "column 'x'", key=key)
        return
    assert [int(row["x"]) for row in rows_of(f"parquet:{path}{key}", parquet)] == values.fill_null(0).to_pylist()


def test_a_codec_of_the_future_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path, whole = one_page(tmp_path, PLAIN, compression="zstd")
    path.write_bytes(with_footer(whole, field(99, 4, 0, 1, 0, 3, 4)))
    refused(path, parquet, "row group 0: column 'x'", "a codec that this build of Arrow does not know")


def test_a_dictionary_index_out_of_range_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path, whole = one_page(tmp_path, pa.array([7, 8, 9, 7] * 250, pa.int64()), use_dictionary=True)
    chunk = pq.read_metadata(path).row_group(0).column(0)
    end = chunk.dictionary_page_offset + chunk.total_compressed_size
    damaged = bytearray(whole)
    damaged[end - 100 : end] = b"\xff" * 100
    path.write_bytes(damaged)
    refused(path, parquet, "a.parquet: row group 0: column 'x'")


def test_the_samples_of_sound_row_groups_are_delivered(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path, whole = written(tmp_path, store_schema=False)
    path.write_bytes(with_footer(whole, lambda f: put(f, at(f, *COLUMN, 9) + 9, *COLUMN, 9)))
    got = rows_of(f"parquet:{path}", parquet, on_error="replace")
    assert {int(row["x"]) // 1000 for row in got} == {0, 2, 3}
