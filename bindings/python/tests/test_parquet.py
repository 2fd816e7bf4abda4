"""The plug-in libdataline-parquet.so: files that pyarrow writes, value by value, and files that are damaged.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import decimal
import os
import struct
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline

pa = pytest.importorskip("pyarrow", reason="pyarrow, which writes the files, is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="this pyarrow has no Parquet")


def plugin() -> Optional[Path]:
    root = Path(__file__).parents[3]
    named = os.environ.get("DATALINE_PARQUET_PLUGIN")
    folders = [os.environ.get("DATALINE_LIB_DIR", ""), str(root / "build" / "release" / "lib")]
    found = [Path(named)] if named else [Path(folder) / "libdataline-parquet.so" for folder in folders if folder]
    return next((path for path in found if path.exists()), None)


@pytest.fixture(scope="module")
def extensions() -> dataline.Extensions:
    path = plugin()
    if path is None:
        pytest.skip("libdataline-parquet.so was not built (DATALINE_LIB_DIR, DATALINE_PARQUET_PLUGIN)")
    made = dataline.Extensions()
    made.load(path)
    return made


def rows_of(uri: str, extensions: dataline.Extensions, **options: Any) -> list[dict[str, Any]]:
    out = []
    for batch in dataline.Loader(uri, extensions=extensions, batch_size=7, epochs=1, **options):
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


CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", CODECS)
def test_all_types_come_back_equal(tmp_path: Path, extensions: dataline.Extensions, codec: str, version: str) -> None:
    table = table_of()
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression=codec, data_page_version=version, row_group_size=17)
    same(rows_of(f"parquet:{path}", extensions), table)
    same(rows_of(str(path), extensions, num_workers=0), table)  # found by its magic


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
def test_encodings(tmp_path: Path, extensions: dataline.Extensions, column: str, encoding: str) -> None:
    table = table_of(300).select([column])
    path = tmp_path / "a.parquet"
    options = {} if encoding != "RLE" else {"data_page_version": "2.0"}
    pq.write_table(table, path, use_dictionary=False, column_encoding={column: encoding}, **options)
    same(rows_of(f"parquet:{path}", extensions), table)


def test_page_checksums_and_indices(tmp_path: Path, extensions: dataline.Extensions) -> None:
    table = table_of(500)
    path = tmp_path / "a.parquet"
    pq.write_table(
        table, path, write_page_checksum=True, write_page_index=True, data_page_size=256, use_dictionary=False
    )
    same(rows_of(f"parquet:{path}", extensions), table)


def test_times_are_their_integers(tmp_path: Path, extensions: dataline.Extensions) -> None:
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
    (row,) = rows_of(f"parquet:{path}", extensions)
    read = pq.read_table(path)
    for name in read.column_names:
        wide = pa.int32() if name in ("day", "ms") else pa.int64()
        assert int(row[name]) == read[name].cast(wide).to_pylist()[0], name


def test_structs_fields_and_order(tmp_path: Path, extensions: dataline.Extensions) -> None:
    n = 40
    image = pa.array(
        [{"bytes": bytes([i]) * i, "size": {"h": i, "w": 2 * i}, "skip": decimal.Decimal(i)} for i in range(n)]
    )
    table = pa.table({"image": image, "label": pa.array(range(n)), "cost": pa.array([decimal.Decimal(1)] * n)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=9)
    dataset = dataline.open(f"parquet:{path}?fields=label,image/size,image/bytes", extensions=extensions)
    assert [field.name for field in dataset.fields] == ["label", "image/size/h", "image/size/w", "image/bytes"]
    for i, row in enumerate(rows_of(f"parquet:{path}?fields=label,image/size/w,image/bytes", extensions)):
        assert (int(row["label"]), int(row["image/size/w"]), bytes(row["image/bytes"])) == (i, 2 * i, bytes([i]) * i)
    with pytest.raises(dataline.Error, match=r"column 'image/skip' is decimal.*not read; fields="):
        dataline.open(f"parquet:{path}", extensions=extensions)


def test_tensors_have_their_shape(tmp_path: Path, extensions: dataline.Extensions) -> None:
    values = np.arange(5 * 6, dtype=np.float32).reshape(5, 2, 3)
    kind = pa.fixed_shape_tensor(pa.float32(), (2, 3), dim_names=["H", "W"])
    storage = pa.array(values.reshape(5, 6).tolist(), pa.list_(pa.float32(), 6))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": pa.ExtensionArray.from_storage(kind, storage)}), path)
    dataset = dataline.open(f"parquet:{path}", extensions=extensions)
    assert tuple(dataset.fields[0].shape) == (2, 3)
    got = rows_of(f"parquet:{path}", extensions)
    np.testing.assert_array_equal(np.stack([row["x"] for row in got]), values)


def test_nulls(tmp_path: Path, extensions: dataline.Extensions) -> None:
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
    got = rows_of(f"parquet:{path}?nulls=fill(0)", extensions)
    assert [int(row["a"]) for row in got] == [1, 0, 3, 4]
    assert [bytes(row["t"]) for row in got] == [b"x", b"yy", b"", b"z"]
    assert [list(map(float, row["l"])) for row in got] == [[1], [0, 2], [], []]
    assert [int(row["s/v"]) for row in got] == [1, 0, 0, 4]
    assert [bytes(row["d"]) for row in got] == [b"p", b"", b"p", b"q"]
    assert [bool(row["b"]) for row in got] == [True, False, False, False]
    for column, where in [("a", 1), ("t", 2), ("s", 1), ("d", 1), ("b", 1)]:
        with pytest.raises(dataline.Error, match=rf"a.parquet: row group 0: row {where}: column '{column}.*': a null"):
            rows_of(f"parquet:{path}?fields={column}", extensions)
    with pytest.raises(dataline.Error, match="its value 0 is null"):
        rows_of(f"parquet:{path}?fields=l", extensions)
    kept = rows_of(f"parquet:{path}?fields=a", extensions, on_error="replace")
    assert len(kept) == 4
    assert 0 not in [int(row["a"]) for row in kept]


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


def test_a_directory_is_its_files_in_natural_order(tmp_path: Path, extensions: dataline.Extensions) -> None:
    folder = directory_of(tmp_path)
    assert [int(row["x"]) for row in rows_of(f"parquet:{folder}", extensions)] == list(range(330))
    both = f"parquet:{folder}/part-1.parquet,{folder}/part-0.parquet"
    assert [int(row["x"]) for row in rows_of(both, extensions)] == [*range(30, 60), *range(30)]


@pytest.mark.parametrize("shuffle", ["none", "full", "window"])
def test_order_does_not_depend_on_workers_or_the_cache(
    tmp_path: Path, extensions: dataline.Extensions, shuffle: str
) -> None:
    folder = directory_of(tmp_path)
    orders = []
    for workers in range(5):
        for cache in ("256MiB", "40KiB"):
            uri = f"parquet:{folder}?cache_bytes={cache}"
            got = rows_of(uri, extensions, shuffle=shuffle, seed=5, num_workers=workers)
            assert all(bytes(row["t"]) == str(int(row["x"])).encode() * 3 for row in got)
            orders.append([int(row["x"]) for row in got])
    assert all(order == orders[0] for order in orders)
    assert sorted(orders[0]) == list(range(330))


@pytest.mark.parametrize("workers", range(5))
def test_a_saved_state_resumes(tmp_path: Path, extensions: dataline.Extensions, workers: int) -> None:
    folder = directory_of(tmp_path)

    def loader() -> dataline.Loader:
        return dataline.Loader(
            f"parquet:{folder}",
            extensions=extensions,
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


# ---- Bad input ----


def written(tmp_path: Path, **options: Any) -> tuple[Path, bytes]:
    path = tmp_path / "a.parquet"
    table = pa.table({"x": pa.array(range(4000), pa.int64()), "t": pa.array([str(i) for i in range(4000)])})
    pq.write_table(table, path, row_group_size=1000, use_dictionary=False, compression="none", **options)
    return path, path.read_bytes()


def refused(path: Path, extensions: dataline.Extensions, *parts: str, key: str = "") -> None:
    with pytest.raises(dataline.Error) as caught:
        rows_of(f"parquet:{path}{key}", extensions)
    for part in (path.name, *parts):
        assert part in str(caught.value), caught.value


HEADS: list[tuple[str, Any, str]] = [
    ("empty", lambda b: b"", "the file is empty"),
    ("one byte", lambda b: b[:1], "at least 12"),
    ("a magic alone", lambda b: b[:4], "at least 12"),
    ("eleven bytes", lambda b: b[:11], "at least 12"),
    ("two magics", lambda b: b"PAR1" + b"\0\0\0\0" + b"PAR1", "a footer of 0 bytes"),
    ("wrong magic", lambda b: b"PARX" + b[4:], "expected PAR1, got 'PARX'"),
    ("no magic", lambda b: b"\0\1\2\3" + b[4:], "expected PAR1, got '????'"),
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
def test_bad_ends(tmp_path: Path, extensions: dataline.Extensions, change: Any, says: str) -> None:
    path, whole = written(tmp_path)
    path.write_bytes(change(whole))
    refused(path, extensions, says)


@pytest.mark.parametrize("part", range(1, 20))
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, extensions: dataline.Extensions, part: int) -> None:
    path, whole = written(tmp_path)
    path.write_bytes(whole[: len(whole) * part // 20])
    refused(path, extensions, "PAR1")


@pytest.mark.parametrize("group", range(4))
@pytest.mark.parametrize("column", ["x", "t"])
def test_a_damaged_page_is_named(tmp_path: Path, extensions: dataline.Extensions, group: int, column: str) -> None:
    path, whole = written(tmp_path, write_page_checksum=True)
    chunk = pq.read_metadata(path).row_group(group).column(0 if column == "x" else 1)
    damaged = bytearray(whole)
    damaged[chunk.data_page_offset + chunk.total_compressed_size - 9] ^= 0x40
    path.write_bytes(damaged)
    refused(path, extensions, f"row group {group}: column '{column}'", "CRC")
    got = rows_of(f"parquet:{path}", extensions, on_error="replace")
    assert len(got) == 4000
    assert {int(row["x"]) // 1000 for row in got} == {0, 1, 2, 3} - {group}


@pytest.mark.parametrize("group", range(4))
def test_a_damaged_page_header_is_named(tmp_path: Path, extensions: dataline.Extensions, group: int) -> None:
    path, whole = written(tmp_path)
    start = pq.read_metadata(path).row_group(group).column(0).data_page_offset
    damaged = bytearray(whole)
    damaged[start : start + 16] = b"\xff" * 16
    path.write_bytes(damaged)
    refused(path, extensions, f"row group {group}: column 'x'")


def test_every_byte_of_a_footer_may_be_wrong(tmp_path: Path, extensions: dataline.Extensions) -> None:
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
            rows_of(f"parquet:{path}?cache_bytes=1MiB", extensions, num_workers=0)
        except dataline.Error as error:
            texts.append(str(error))
    assert texts
    assert [text for text in texts if "a.parquet" not in text] == []


def test_a_row_group_over_the_cache_is_refused(tmp_path: Path, extensions: dataline.Extensions) -> None:
    path, _ = written(tmp_path)
    refused(
        path, extensions, "row group 0: column 'x'", "more than cache_bytes=4096", "fields=", key="?cache_bytes=4KiB"
    )


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("fields=y", "no column 'y'; it has 'x', 't'"),
        ("fields=x,x", "'x' is named twice"),
        ("fields=x,,t", "an empty name"),
        ("nulls=fill(a)", "expected error, or fill(NUMBER)"),
        ("nulls=skip", "expected error, or fill(NUMBER)"),
        ("nulls=fill(0.5)", "field 'x' is i64, which cannot be 0.5"),
        ("nulls=fill(1e999)", "expected error, or fill(NUMBER)"),
        ("cache_bytes=0", "expected a size above 0"),
        ("cache_bytes=-1", "expected a size above 0"),
        ("cache_bytes=many", "expected a size above 0"),
        ("cache_bytes=9999999999GiB", "expected a size above 0"),
        ("feilds=x", "fields"),
    ],
)
def test_bad_keys(tmp_path: Path, extensions: dataline.Extensions, key: str, says: str) -> None:
    path, _ = written(tmp_path)
    with pytest.raises(dataline.Error) as caught:
        dataline.open(f"parquet:{path}?{key}", extensions=extensions)
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
def test_types_that_are_not_read(tmp_path: Path, extensions: dataline.Extensions, values: Any, says: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"bad": values, "good": pa.array([1])}), path)
    refused(path, extensions, f"column 'bad' is {says}", "not read; fields=good leaves it out")
    assert int(rows_of(f"parquet:{path}?fields=good", extensions)[0]["good"]) == 1


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"x": pa.array([1], pa.int32())}, "column 'x' is i32, expected 'x' of i64"),
        ({"y": pa.array([1], pa.int64())}, "column 'y' is i64, expected 'x' of i64"),
        ({"x": pa.array([1], pa.int64()), "y": pa.array([1])}, "2 fields, expected the 1 of"),
    ],
)
def test_files_that_differ(tmp_path: Path, extensions: dataline.Extensions, other: Any, says: str) -> None:
    pq.write_table(pa.table({"x": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    with pytest.raises(dataline.Error) as caught:
        dataline.open(f"parquet:{tmp_path}", extensions=extensions)
    assert "b.parquet" in str(caught.value)
    assert says in str(caught.value)


def test_a_directory_without_files_of_it_is_refused(tmp_path: Path, extensions: dataline.Extensions) -> None:
    with pytest.raises(dataline.Error, match="no parquet files"):
        dataline.open(f"parquet:{tmp_path}", extensions=extensions)


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, extensions: dataline.Extensions) -> None:
    path, whole = written(tmp_path)
    dataset = dataline.open(f"parquet:{path}", extensions=extensions)
    os.truncate(path, len(whole) // 2)
    with pytest.raises(dataline.Error, match=r"a\.parquet"):
        for _ in dataline.Loader(dataset, batch_size=7, epochs=1):
            pass


def test_an_encrypted_file_is_refused(tmp_path: Path, extensions: dataline.Extensions) -> None:
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
        refused(path, extensions, "encrypted")
