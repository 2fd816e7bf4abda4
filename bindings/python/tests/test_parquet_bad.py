"""The plug-in libdataline-parquet.so: files that are damaged, and keys that are wrong. Each error names the file and what is
wrong.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import decimal
import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from parquet_files import pa, pq, refused, rows_of, written

HEADS: list[tuple[str, Any, str]] = [
    ("empty", lambda b: b"", "the file is empty"),
    ("one byte", lambda b: b[:1], "at least 12"),
    ("a magic alone", lambda b: b[:4], "at least 12"),
    ("eleven bytes", lambda b: b[:11], "at least 12"),
    ("two magics", lambda b: b"PAR1" + b"\0\0\0\0" + b"PAR1", "a footer of 0 bytes"),
    ("wrong magic", lambda b: b"PARX" + b[4:], "expected PAR1, got 'PARX'"),
    ("no magic", lambda b: b"\0\1\2\3" + b[4:], r"expected PAR1, got '\x00\x01\x02\x03'"),
    ("wrong tail", lambda b: b[:-4] + b"XXXX", "expected the closing PAR1"),
    ("encrypted head", lambda b: b"PARE" + b[4:], "encrypted"),
    ("encrypted tail", lambda b: b[:-4] + b"PARE", "encrypted"),
    ("footer of nothing", lambda b: b[:-8] + struct.pack("<I", 0) + b"PAR1", "a footer of 0 bytes"),
    ("footer of all", lambda b: b[:-8] + struct.pack("<I", len(b)) + b"PAR1", "expected 1 to"),
    ("footer of 4 GB", lambda b: b[:-8] + b"\xff\xff\xff\xff" + b"PAR1", "a footer of 4294967295 bytes"),
    ("footer of 2 GB", lambda b: b[:-8] + b"\xff\xff\xff\x7f" + b"PAR1", "a footer of 2147483647 bytes"),
    ("footer too short", lambda b: b[:-8] + struct.pack("<I", 20) + b"PAR1", "the footer"),
    ("footer too long", lambda b: b[:-8] + struct.pack("<I", len(b) - 12) + b"PAR1", "the footer"),
    ("footer of zeros", lambda b: b[:-400] + bytes(392) + b[-8:], "the footer"),
    ("footer of ones", lambda b: b[:-400] + b"\xff" * 392 + b[-8:], "the footer"),
]


@pytest.mark.parametrize(("change", "says"), [case[1:] for case in HEADS], ids=[case[0] for case in HEADS])
def test_bad_ends(tmp_path: Path, parquet: dataline.Extensions, change: Any, says: str) -> None:
    path, whole = written(tmp_path)
    path.write_bytes(change(whole))
    refused(path, parquet, says)


@pytest.mark.parametrize("part", range(1, 20))
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, parquet: dataline.Extensions, part: int) -> None:
    path, whole = written(tmp_path)
    path.write_bytes(whole[: len(whole) * part // 20])
    refused(path, parquet, "PAR1")


@pytest.mark.parametrize("group", range(4))
@pytest.mark.parametrize("column", ["x", "t"])
def test_a_damaged_page_is_named(tmp_path: Path, parquet: dataline.Extensions, group: int, column: str) -> None:
    path, whole = written(tmp_path, write_page_checksum=True)
    chunk = pq.read_metadata(path).row_group(group).column(0 if column == "x" else 1)
    damaged = bytearray(whole)
    damaged[chunk.data_page_offset + chunk.total_compressed_size - 9] ^= 0x40
    path.write_bytes(damaged)
    refused(path, parquet, f"row group {group}: column '{column}'", "CRC")
    got = rows_of(f"parquet:{path}", parquet, on_error="replace")
    assert len(got) == 4000
    assert {int(row["x"]) // 1000 for row in got} == {0, 1, 2, 3} - {group}


@pytest.mark.parametrize("group", range(4))
def test_a_damaged_page_header_is_named(tmp_path: Path, parquet: dataline.Extensions, group: int) -> None:
    path, whole = written(tmp_path)
    start = pq.read_metadata(path).row_group(group).column(0).data_page_offset
    damaged = bytearray(whole)
    damaged[start : start + 16] = b"\xff" * 16
    path.write_bytes(damaged)
    refused(path, parquet, f"row group {group}: column 'x'")


def test_every_byte_of_a_footer_may_be_wrong(tmp_path: Path, parquet: dataline.Extensions) -> None:
    """Whatever is read, nothing crashes: an error of the library, or rows."""
    path = tmp_path / "a.parquet"
    table = pa.table({"x": pa.array(range(8), pa.int64()), "l": pa.array([[1, 2]] * 8)})
    pq.write_table(table, path, store_schema=False)
    whole = path.read_bytes()
    footer = struct.unpack("<I", whole[-8:-4])[0]
    texts = []
    for at in range(len(whole) - 8 - footer, len(whole) - 8):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF if at % 2 else 0x15
        path.write_bytes(damaged)
        try:
            rows_of(f"parquet:{path}?cache_bytes=1MiB", parquet, num_workers=0)
        except dataline.Error as error:
            texts.append(str(error))
    assert texts
    assert [text for text in texts if "a.parquet" not in text] == []


def test_a_row_group_over_the_cache_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path, _ = written(tmp_path)
    says = "row group 0 of 1000 rows takes 14929 bytes when decoded, more than cache_bytes=4096; raise"
    with pytest.raises(dataline.Error, match=says):
        dataline.open(f"parquet:{path}?cache_bytes=4KiB", extensions=parquet)
    assert len(rows_of(f"parquet:{path}?cache_bytes=64KiB", parquet)) == 4000


def test_a_row_group_whose_dictionary_hides_its_size_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"t": ["long" * 2500] * 1000, "x": range(1000)}), path, store_schema=False)
    assert path.stat().st_size < 100000
    key = "?cache_bytes=1MiB"
    refused(path, parquet, "row group 0: column 't': decoding needs more than cache_bytes=1048576", "fields=", key=key)
    assert len(rows_of(f"parquet:{path}{key}&fields=x", parquet)) == 1000
    assert len(rows_of(f"parquet:{path}?fields=t", parquet)) == 1000


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("fields=y", "no column 'y'; it has 'x', 't'"),
        ("fields=x,x", "'x' is named twice"),
        ("fields=x,,t", "an empty name"),
        ("nulls=fill(a)", "expected error, fill(NUMBER) or mask"),
        ("nulls=skip", "expected error, fill(NUMBER) or mask"),
        ("nulls=fill(0.5)", "field 'x' is i64, which cannot hold 0.5"),
        ("nulls=fill(1e999)", "expected error, fill(NUMBER) or mask"),
        ("cache_bytes=0", "expected a size above 0"),
        ("cache_bytes=-1", "expected a size above 0"),
        ("cache_bytes=many", "expected a size above 0"),
        ("cache_bytes=9999999999GiB", "expected a size above 0"),
        ("feilds=x", "fields"),
    ],
)
def test_bad_keys(tmp_path: Path, parquet: dataline.Extensions, key: str, says: str) -> None:
    path, _ = written(tmp_path)
    with pytest.raises(dataline.Error) as caught:
        dataline.open(f"parquet:{path}?{key}", extensions=parquet)
    assert says in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (pa.array([[[1]]], pa.list_(pa.list_(pa.int32()))), "list<"),
        (pa.array([["a"]], pa.list_(pa.string())), "list<"),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())), "map<"),
        (pa.array([decimal.Decimal("1.5")]), "decimal128"),
        (pa.array([None], pa.null()), "null"),
        (pa.array([[{"a": 1}]]), "list<"),
    ],
    ids=["list of lists", "list of text", "map", "decimal", "null", "list of structs"],
)
def test_types_that_are_not_read(tmp_path: Path, parquet: dataline.Extensions, values: Any, says: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"bad": values, "good": pa.array([1])}), path)
    refused(path, parquet, f"column 'bad' is {says}", "which is not supported; fields=good leaves it out")
    assert int(rows_of(f"parquet:{path}?fields=good", parquet)[0]["good"]) == 1


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"x": pa.array([1], pa.int32())}, "column 'x' is i32, expected 'x' of i64"),
        ({"y": pa.array([1], pa.int64())}, "column 'y' is i64, expected 'x' of i64"),
        ({"x": pa.array([1], pa.int64()), "y": pa.array([1])}, "2 fields, expected the 1 of"),
    ],
)
def test_files_that_differ(tmp_path: Path, parquet: dataline.Extensions, other: Any, says: str) -> None:
    pq.write_table(pa.table({"x": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    with pytest.raises(dataline.Error) as caught:
        dataline.open(f"parquet:{tmp_path}", extensions=parquet)
    assert "b.parquet" in str(caught.value)
    assert says in str(caught.value)


def test_a_directory_without_files_of_it_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    with pytest.raises(dataline.Error, match="no parquet files"):
        dataline.open(f"parquet:{tmp_path}", extensions=parquet)


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path, whole = written(tmp_path)
    dataset = dataline.open(f"parquet:{path}", extensions=parquet)
    os.truncate(path, len(whole) // 2)
    with pytest.raises(dataline.Error, match=r"a\.parquet"):
        for _ in dataline.Loader(dataset, batch_size=7, epochs=1):
            pass


def test_an_encrypted_file_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    encryption = pytest.importorskip("pyarrow.parquet.encryption", reason="this pyarrow cannot encrypt")

    class Keys(encryption.KmsClient):  # type: ignore[misc, name-defined, unused-ignore]
        def wrap_key(self, key: bytes, name: str) -> bytes:
            return key.hex().encode()

        def unwrap_key(self, wrapped: bytes, name: str) -> bytes:
            return bytes.fromhex(wrapped.decode())

    for plain_footer in (False, True):
        path = tmp_path / f"{plain_footer}.parquet"
        config = encryption.EncryptionConfiguration(
            footer_key="f", column_keys={"k": ["x"]}, plaintext_footer=plain_footer
        )
        factory = encryption.CryptoFactory(lambda _: Keys())
        made = factory.file_encryption_properties(encryption.KmsConnectionConfig(), config)
        table = pa.table({"x": pa.array([1, 2])})
        with pq.ParquetWriter(path, table.schema, encryption_properties=made) as writer:
            writer.write_table(table)
        refused(path, parquet, "encrypted")


def test_a_refused_decoding_tells_what_it_held_and_what_more_it_wanted(
    tmp_path: Path, parquet: dataline.Extensions
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"t": [np.arange(1000, dtype=np.uint16)] * 1000}), path)
    with pytest.raises(dataline.Error) as caught:
        rows_of(f"parquet:{path}?cache_bytes=6MiB", parquet)
    told = re.search(r"\((\d+) bytes more than the (\d+) in use\)", str(caught.value))
    assert told is not None, caught.value
    wanted, beside = map(int, told.groups())
    assert beside > 0
    assert wanted + beside > 6 << 20
