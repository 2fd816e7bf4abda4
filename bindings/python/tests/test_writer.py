"""Sets that Python code writes: read back, by pyarrow and tarfile too; gone on with; refused.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import pickle
import tarfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline


def rows(first: int, count: int) -> dict[str, Any]:
    numbers = np.arange(first, first + count)
    return {
        "image": (numbers[:, None, None, None] * np.ones((1, 2, 3, 3))).astype(np.uint8),
        "score": numbers.astype(np.float32) / 2,
        "flag": numbers % 3 == 0,
        "tokens": dataline.Ragged(np.arange(count * 2, dtype=np.int32), np.arange(0, 2 * count + 1, 2)),
        "text": [f"row {number}" * (number % 3) for number in numbers],
    }


def delivered(uri: str) -> list[dict[str, Any]]:
    out = []
    with dataline.Loader(
        dataline.open(uri), batch_size=1, num_workers=0, epochs=1, max_bytes_per_sample="1MiB"
    ) as loader:
        for batch in loader:
            sample = {}
            for name in batch:
                value = batch[name]
                sample[name] = np.array(value.data if isinstance(value, dataline.Ragged) else value[0])
            out.append(sample)
    return out


def test_numpy_reads_what_is_written_for_it(tmp_path: Path) -> None:
    kinds = ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16")
    for kind in kinds:
        values = (np.arange(60) % 7).reshape(10, 2, 3).astype(kind)
        with dataline.Writer(f"npy:{tmp_path}/{kind}?shard_bytes=400", {"x": values[:0]}) as writer:
            for first in range(0, 10, 3):
                writer.append({"x": values[first : first + 3]})
        parts = [np.load(path, mmap_mode="r") for path in sorted((tmp_path / kind).glob("*.npy"))]
        np.testing.assert_array_equal(np.concatenate(parts), values)
        assert all(part.dtype == values.dtype and part.offset % 64 == 0 for part in parts)
    ids = dataline.Ragged(np.arange(12, dtype=np.uint16), np.array([0, 3, 3, 12]))
    with dataline.Writer(f"tokens:{tmp_path}/tokens", {"ids": ids}) as writer:
        writer.append({"ids": ids})
        writer.append({"ids": ids})
    np.testing.assert_array_equal(np.load(tmp_path / "tokens" / "part-00000.npy"), np.tile(np.arange(12), 2))


def test_arrays_ragged_and_texts_come_back(tmp_path: Path) -> None:
    with dataline.Writer(f"arrow:{tmp_path}/set?shard_bytes=1", rows(0, 0), axes={"image": "HWC"}) as writer:
        writer.append(rows(0, 4))
        writer.append(rows(4, 3))
        assert writer.info()[:3] == (7, 0, 2)
        assert not (tmp_path / "set").exists()
    got = delivered(f"arrow:{tmp_path}/set")
    assert len(got) == 7
    expected = [(rows(0, 4), i) for i in range(4)] + [(rows(4, 3), i) for i in range(3)]
    for sample, (block, i) in zip(got, expected):
        for name in ("image", "score", "flag"):
            np.testing.assert_array_equal(sample[name], block[name][i])
        np.testing.assert_array_equal(sample["tokens"], block["tokens"][i])
        assert sample["text"].tobytes().decode() == block["text"][i]
    assert dataline.open(f"arrow:{tmp_path}/set").fields[0].axes == "HWC"


def test_pyarrow_reads_what_is_written(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)
    ipc = pytest.importorskip("pyarrow.ipc", reason="needs pyarrow (pip install pyarrow)", exc_type=ImportError)
    with dataline.Writer(f"arrow:{tmp_path}/set", rows(0, 0), axes={"image": "HWC"}) as writer:
        writer.append(rows(0, 9))
    with pa.memory_map(str(tmp_path / "set/part-00000.arrow")) as source:
        table = ipc.open_file(source).read_all()
        table.validate(full=True)
        written = rows(0, 9)
        assert table.column("score").to_pylist() == written["score"].tolist()
        assert table.column("flag").to_pylist() == written["flag"].tolist()
        assert table.column("text").to_pylist() == [text.encode() for text in written["text"]]
        assert table.column("tokens").to_pylist() == [item.tolist() for item in written["tokens"]]
        image = table.column("image").combine_chunks()
        storage = image.storage if hasattr(image, "storage") else image
        assert storage.flatten().to_pylist() == written["image"].ravel().tolist()
    stream = dataline.from_arrow(table)
    assert [field.name for field in stream.fields] == list(written)


def test_tarfile_reads_what_is_written(tmp_path: Path) -> None:
    with dataline.Writer(f"tar:{tmp_path}/set", {"txt": ["x"], "label": np.zeros(0, np.int16), "key": ["x"]}) as writer:
        writer.append({"key": ["a", "b/c"], "label": np.array([3, -4], np.int16), "txt": ["one", b"\0two"]})
    with tarfile.open(tmp_path / "set/part-00000.tar") as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    assert members == {"a.txt": b"one", "a.cls": b"3", "b/c.txt": b"\0two", "b/c.cls": b"-4"}


def test_batches_of_a_loader_are_appended(tmp_path: Path) -> None:
    data = np.arange(40, dtype=np.int64).reshape(20, 2)
    source = dataline.from_arrays({"x": data})
    with (
        dataline.Loader(source, batch_size=6, shuffle=True, seed=3, epochs=1) as loader,
        dataline.Writer(f"arrow:{tmp_path}/set", source.fields) as writer,
    ):
        order = []
        for batch in loader:
            writer.append(batch)
            order += list(batch.info.indices)
    got = [sample["x"].tolist() for sample in delivered(f"arrow:{tmp_path}/set")]
    assert got == data[order].tolist()


def test_a_writer_goes_on_where_an_exception_ended_the_last(tmp_path: Path) -> None:
    uri = f"arrow:{tmp_path}/set?shard_bytes=1"

    def write_a_part() -> None:
        with dataline.Writer(uri, {"x": np.zeros(0)}, job="numbers") as writer:
            writer.append({"x": np.arange(3.0)}, position="3")
            raise KeyError("the program's own")

    with pytest.raises(KeyError):
        write_a_part()
    assert not (tmp_path / "set").exists()
    with pytest.raises(dataline.StateError, match="it was started with 'numbers', now it is 'others'"):
        dataline.Writer(uri, {"x": np.zeros(0)}, job="others")
    with dataline.Writer(uri, {"x": np.zeros(0)}, job="numbers") as writer:
        assert (writer.position, writer.info().resumed_samples) == ("3", 3)
        writer.append({"x": np.arange(3.0, 5.0)})
    assert [float(sample["x"]) for sample in delivered(f"arrow:{tmp_path}/set")] == [0, 1, 2, 3, 4]
    with (tmp_path / "set/dataline.manifest").open() as file:
        lines = [json.loads(line) for line in file]
    assert [line.get("position") for line in lines] == [None, "3", "", None]


def test_what_cannot_be_stored_is_refused_and_the_writer_goes_on(tmp_path: Path) -> None:
    writer = dataline.Writer(f"tfrecord:{tmp_path}/set", {"x": np.zeros((0, 2), np.uint64)})
    for wrong, error, text in (
        (
            {"x": np.zeros((3, 2), np.int64)},
            dataline.DataError,
            r"expected field 'x' \(u64\[2\]\), got 'x' \(i64\[2\]\)",
        ),
        ({"x": np.zeros(3, np.uint64)}, dataline.DataError, "got 'x' .u64"),
        ({"y": np.zeros((3, 2), np.uint64)}, ValueError, r"expected the fields \['x'\], got \['y'\]"),
        ({"x": np.array([[1, 2**63]], np.uint64)}, dataline.DataError, "row 0: field 'x' has 9223372036854775808"),
        ({"x": 7}, TypeError, "expected an array"),
    ):
        with pytest.raises(error, match=text):
            writer.append(wrong)
    with pytest.raises(dataline.DataError, match="no row was appended"):
        writer.finish()
    writer.append({"x": np.ones((2, 2), np.uint64)})
    writer.finish()
    with pytest.raises(dataline.WrongStateError, match="the set is finished"):
        writer.append({"x": np.ones((2, 2), np.uint64)})
    writer.close()
    writer.close()
    with pytest.raises(dataline.WrongStateError, match="the writer is closed"):
        writer.info()


def test_targets_that_are_none_are_refused(tmp_path: Path) -> None:
    fields = {"x": np.zeros(0)}
    with pytest.raises(
        dataline.CallError, match="'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens"
    ) as caught:
        dataline.Writer(f"idx:{tmp_path}/set", fields)
    assert caught.value.column == 1
    with pytest.raises(dataline.UnsupportedError, match="add the transform cast\\(f32\\), or write arrow"):
        dataline.Writer(f"tfrecord:{tmp_path}/set", fields)
    with pytest.raises(ValueError, match="first dim is the sample count"):
        dataline.Writer(f"arrow:{tmp_path}/set", {"x": np.float64(1)})
    with pytest.raises(ValueError, match="axes: no field"):
        dataline.Writer(f"arrow:{tmp_path}/set", fields, axes={"image": "HWC"})
    (tmp_path / "set").mkdir()
    with pytest.raises(dataline.WrongStateError, match="set: exists"):
        dataline.Writer(f"arrow:{tmp_path}/set", fields)
    with dataline.Writer(f"arrow:{tmp_path}/other", fields) as writer:
        with pytest.raises(dataline.WrongStateError, match="another process is writing this set"):
            dataline.Writer(f"arrow:{tmp_path}/other", fields)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(writer)
        writer.append({"x": np.zeros(1)})


def test_several_threads_append_while_one_closes(tmp_path: Path) -> None:
    writer = dataline.Writer(f"arrow:{tmp_path}/set?shard_bytes=1KiB", {"x": np.zeros((0, 8))})
    ended = []

    def work() -> None:
        try:
            while True:
                writer.append({"x": np.ones((4, 8))})
        except dataline.WrongStateError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while writer.info().shards < 5:
        pass
    writer.close()
    for thread in threads:
        thread.join()
    assert ended == ["the writer is closed"] * 3
