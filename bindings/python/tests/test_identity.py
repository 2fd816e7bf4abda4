"""Which data a dataset holds: its identity, and the files and fingerprints that readers and storages state.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional

import pytest

import dataline


def exchange(path: Path, content: bytes) -> None:
    """Another file of the same size and time of modification at the same path."""
    before = path.stat()
    other = path.with_suffix(".other")
    other.write_bytes(content)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    assert path.stat().st_size == before.st_size


def job(dataset: dataline.Dataset, **options: Any) -> tuple[bytes, str, int]:
    """The values of one epoch, the state before it, and how many samples the cache had."""
    with dataline.Loader(dataset, epochs=1, **options) as loader:
        state = loader.save_state()
        values = b"".join(bytes(batch["x"].tobytes()) for batch in loader)
        return values, state, loader.stats().cache_read


class Rows:
    """Rows of four bytes of files, opened for each row; two rows a file."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files

    def __len__(self) -> int:
        return 2 * len(self.files)

    def __getitem__(self, index: int) -> dict[str, memoryview]:
        return {"x": memoryview(self.files[index // 2].read_bytes())[index % 2 * 4 :][:4]}


def test_the_identity_of_a_file_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.bin"
    path.write_bytes(b"aaaaaaaa")
    first = dataline.open(f"raw:{path}?dtype=u8&shape=4").identity()
    assert dataline.open(f"raw:{path}?dtype=u8&shape=4").identity() == first
    assert str(path) not in first
    exchange(path, b"bbbbbbbb")
    assert dataline.open(f"raw:{path}?dtype=u8&shape=4").identity() != first


def test_data_in_memory_has_no_identity() -> None:
    pytest.importorskip("numpy")
    dataset = dataline.from_arrays({"x": memoryview(b"abc")})
    with pytest.raises(dataline.UnsupportedError, match="data in memory"):
        dataset.identity()
    dataset.close()
    with pytest.raises(ValueError, match="closed"):
        dataset.identity()


@pytest.mark.parametrize("ends", [None, [2, 4]])
def test_a_file_that_a_reader_states_is_noticed_by_caches_and_states(tmp_path: Path, ends: Optional[list[int]]) -> None:
    pytest.importorskip("numpy")
    files = [tmp_path / "a", tmp_path / "b"]
    files[0].write_bytes(b"aaaaaaaa")
    files[1].write_bytes(b"bbbbbbbb")

    def opened() -> dataline.Dataset:
        return dataline.from_reader(Rows(files), files=files, file_ends=ends)

    cache = str(tmp_path / "cache")
    values, state, _ = job(opened(), cache=cache)
    assert values == b"aaaaaaaabbbbbbbb"
    assert job(opened(), cache=cache)[2] == 4
    exchange(files[1], b"cccccccc")
    values, _, kept = job(opened(), cache=cache)
    assert values == b"aaaaaaaacccccccc"
    assert kept == (0 if ends is None else 2), "with file_ends the rows of the other file stay"
    with dataline.Loader(opened()) as loader, pytest.raises(dataline.StateError, match="contents"):
        loader.load_state(state)


def test_files_and_file_ends_that_do_not_fit_are_refused() -> None:
    rows = [{"x": 1}] * 4

    def opened(files: Any, ends: Any = None) -> None:
        dataline.from_reader(rows, files=files, file_ends=ends)

    for ends, says in (
        ([4], "1 file_ends for 2 files"),
        ([3, 2], r"file_ends\[1\] is 2, expected 3 to 4"),
        ([2, 3], "file_ends end at 3"),
        ([2, 5], r"file_ends\[1\] is 5, expected 2 to 4"),
    ):
        with pytest.raises(dataline.CallError, match=says):
            opened(["a", "b"], ends)
    with pytest.raises(ValueError, match="null"):
        opened(["a\0b"])
    with pytest.raises(TypeError, match="got one path"):
        opened("rows.bin")


class Stored:
    """Eight bytes, with a version or without."""

    size = 8

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, offset: int, length: int) -> bytes:
        return self.content[offset : offset + length]


def test_an_object_is_the_same_by_its_fingerprint(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    now: dict[str, Any] = {"content": b"aaaaaaaa", "version": "v1"}

    def stored(request: dataline.StorageRequest) -> Stored:
        made = Stored(now["content"])
        if now["version"] is not None:
            made.fingerprint = now["version"]  # type: ignore[attr-defined]
        return made

    extensions = dataline.Extensions()
    extensions.add_storage("mem", stored)
    cache = str(tmp_path / "cache")

    def opened() -> dataline.Dataset:
        return dataline.open("raw:x=mem://x?dtype=u8&shape=4", extensions=extensions)

    first = opened().identity()
    assert opened().identity() == first
    assert job(opened(), cache=cache)[0] == b"aaaaaaaa"
    assert job(opened(), cache=cache)[2] == 2
    now.update(content=b"bbbbbbbb", version="v2")
    assert opened().identity() != first
    assert job(opened(), cache=cache)[0] == b"bbbbbbbb"
    now.update(version=None)
    with pytest.raises(dataline.UnsupportedError, match="fingerprint"):
        opened().identity()
    with pytest.raises(dataline.UnsupportedError):
        dataline.Loader(opened(), cache=cache)
    now.update(version=7)
    with pytest.raises(dataline.DataError, match="str"):
        opened()
