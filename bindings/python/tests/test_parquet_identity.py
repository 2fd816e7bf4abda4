"""Which Parquet files are the same data: what a cache and a saved state notice of files that look alike.

All files of a test have one size, one time of modification, one schema and one count of rows. pyarrow writes them, and the
expected values are those that it wrote.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional

import pytest

import dataline
from parquet_files import pa, pq

ROWS = 40
TIME = 1_000_000_000


def write(path: Path, value: int, nulls: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    values: list[Optional[int]] = [None if row < nulls else value for row in range(ROWS)]
    made = path.with_suffix(".made")
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), made, compression="none", use_dictionary=False)
    os.utime(made, (TIME, TIME))
    return made.replace(path)


def values_of(uri: str, extensions: dataline.Extensions, **options: Any) -> tuple[list[int], int]:
    """The values of one epoch, and how many samples the cache had."""
    with dataline.Loader(uri, extensions=extensions, epochs=1, batch_size=8, **options) as loader:
        return [x for batch in loader for x in batch["x"].tolist()], loader.stats().cache_read


@pytest.mark.parametrize("folder", [False, True])
def test_a_cache_notices_a_file_in_the_place_of_another(
    tmp_path: Path, parquet: dataline.Extensions, folder: bool
) -> None:
    path = write(tmp_path / "set" / "a.parquet", 1)
    size = path.stat().st_size
    uri = f"parquet:{path.parent if folder else path}"
    cache = str(tmp_path / "cache")
    assert values_of(uri, parquet, cache=cache) == ([1] * ROWS, 0)
    assert values_of(uri, parquet, cache=cache) == ([1] * ROWS, ROWS)
    write(path, 2)
    assert path.stat().st_size == size
    assert values_of(uri, parquet, cache=cache) == ([2] * ROWS, 0)


def test_a_file_that_changed_costs_its_own_samples_alone(tmp_path: Path, parquet: dataline.Extensions) -> None:
    for name, value in (("a", 1), ("b", 2)):
        write(tmp_path / "set" / f"{name}.parquet", value)
    uri, cache = f"parquet:{tmp_path / 'set'}", str(tmp_path / "cache")
    assert values_of(uri, parquet, cache=cache)[0] == [1] * ROWS + [2] * ROWS
    write(tmp_path / "set" / "b.parquet", 3)
    assert values_of(uri, parquet, cache=cache) == ([1] * ROWS + [3] * ROWS, ROWS)


def test_directories_that_look_alike_share_no_samples(tmp_path: Path, parquet: dataline.Extensions) -> None:
    for name, value in (("train", 1), ("test", 2)):
        write(tmp_path / name / "a.parquet", value)
    cache = str(tmp_path / "cache")
    assert values_of(f"parquet:{tmp_path / 'train'}", parquet, cache=cache) == ([1] * ROWS, 0)
    assert values_of(f"parquet:{tmp_path / 'test'}", parquet, cache=cache) == ([2] * ROWS, 0)


def test_keys_that_change_values_share_no_cache(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path = write(tmp_path / "a.parquet", 7, nulls=ROWS // 2)
    cache = str(tmp_path / "cache")
    for fill in (0, 1, 0, 1):
        uri = f"parquet:{path}?nulls=fill({fill})"
        assert values_of(uri, parquet, cache=cache)[0] == [fill] * (ROWS // 2) + [7] * (ROWS // 2)
    assert values_of(f"parquet:{path}?nulls=fill(1)", parquet, cache=cache)[1] == ROWS


def test_a_state_of_another_file_of_the_same_shape_is_refused(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path = write(tmp_path / "a.parquet", 1)
    with dataline.Loader(f"parquet:{path}", extensions=parquet) as loader:
        state = loader.save_state()
    copy = tmp_path / "elsewhere" / "a.parquet"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    with dataline.Loader(f"parquet:{copy}", extensions=parquet) as loader:
        loader.load_state(state)  # a copy is the same data
    write(path, 2)
    with (
        dataline.Loader(f"parquet:{path}", extensions=parquet) as loader,
        pytest.raises(dataline.StateError, match="contents"),
    ):
        loader.load_state(state)


def test_the_identity_of_a_set_names_its_files(tmp_path: Path, parquet: dataline.Extensions) -> None:
    path = write(tmp_path / "a.parquet", 1)
    uri = f"parquet:{path}"
    first = dataline.open(uri, extensions=parquet).identity()
    assert "a.parquet" in first
    assert dataline.open(uri, extensions=parquet).identity() == first
    write(path, 2)
    assert dataline.open(uri, extensions=parquet).identity() != first


class Bucket:
    """Objects of the scheme ``bucket://``, whose fingerprint is their version; "" states none."""

    def __init__(self, parquet_plugin: Path) -> None:
        self.version = "v1"
        self.extensions = dataline.Extensions()
        self.extensions.load(parquet_plugin)
        self.extensions.add_storage("bucket", self.open)

    def open(self, request: dataline.StorageRequest) -> dataline.Stored:
        content, version = Path(request.path[len("bucket://") :]).read_bytes(), self.version

        class Object:
            size = len(content)
            fingerprint = version

            def read(self, offset: int, length: int) -> bytes:
                return content[offset : offset + length]

        return Object()


def test_objects_of_a_storage_are_compared_as_files_are(tmp_path: Path, parquet_plugin: Path) -> None:
    path, bucket, cache = write(tmp_path / "a.parquet", 1), Bucket(parquet_plugin), str(tmp_path / "cache")
    uri = f"parquet:bucket://{path}"
    identity = dataline.open(uri, extensions=bucket.extensions).identity()
    assert values_of(uri, bucket.extensions, cache=cache) == ([1] * ROWS, 0)
    assert values_of(uri, bucket.extensions, cache=cache) == ([1] * ROWS, ROWS)
    with dataline.Loader(uri, extensions=bucket.extensions) as loader:
        state = loader.save_state()
    with dataline.Loader(uri, extensions=bucket.extensions) as loader:
        loader.load_state(state)

    write(path, 2)
    bucket.version = "v2"
    assert dataline.open(uri, extensions=bucket.extensions).identity() != identity
    assert values_of(uri, bucket.extensions, cache=cache) == ([2] * ROWS, 0)
    with (
        dataline.Loader(uri, extensions=bucket.extensions) as loader,
        pytest.raises(dataline.StateError, match="contents"),
    ):
        loader.load_state(state)

    bucket.version = ""
    with pytest.raises(dataline.UnsupportedError, match="fingerprint"):
        dataline.open(uri, extensions=bucket.extensions).identity()
    with pytest.raises(dataline.UnsupportedError):
        dataline.Loader(uri, extensions=bucket.extensions, cache=cache)
