"""The plug-in libdataline-parquet.so: row groups are the blocks of shuffle=window, each read and decoded once an epoch; many
files.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import itertools
import re
import resource
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import dataline
from parquet_files import pa, pq, rows_of


class Counted:
    """A file that notes what is read of it."""

    def __init__(self, file: dataline.File, reads: list[tuple[int, int]], lock: threading.Lock) -> None:
        self.file, self.size, self.reads, self.lock = file, file.size, reads, lock

    def read(self, offset: int, length: int) -> bytes:
        with self.lock:
            self.reads.append((offset, length))
        return self.file.read(offset, length)


GROUPS, ROWS, WIDTH = 48, 500, 2000


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 row groups of 500 rows of 2,000 bytes, 1 MB each, and a number."""
    path = tmp_path_factory.mktemp("windows") / "a.parquet"
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, GROUPS * ROWS * WIDTH, np.uint8)
    image = pa.FixedSizeBinaryArray.from_buffers(pa.binary(WIDTH), GROUPS * ROWS, [None, pa.py_buffer(pixels)])
    table = pa.table({"x": pa.array(range(GROUPS * ROWS)), "image": image})
    pq.write_table(table, path, row_group_size=ROWS, use_dictionary=False, compression="none")
    return path


@pytest.fixture
def reads() -> list[tuple[int, int]]:
    """Offsets and lengths of what was read of files of the storage `counted`."""
    return []


@pytest.fixture
def counting(parquet_plugin: Path, reads: list[tuple[int, int]]) -> dataline.Extensions:
    lock = threading.Lock()
    made = dataline.Extensions()
    made.load(parquet_plugin)
    made.add_storage("counted", lambda request: Counted(request.file(request.path[len("counted://") :]), reads, lock))
    return made


def stored_bytes(path: Path) -> int:
    """Of all columns of all row groups."""
    footer = pq.read_metadata(path)
    groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
    return sum(group.column(c).total_compressed_size for group in groups for c in range(group.num_columns))


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_window_shuffle_reads_a_row_group_once(
    counted: Path, counting: dataline.Extensions, reads: list[tuple[int, int]], workers: int
) -> None:
    """With shuffle_blocks as it is by default, far more than a cache of a third of the file has room for."""
    dataset = dataline.open(f"parquet:counted://{counted}?cache_bytes=16MiB", extensions=counting)
    reads.clear()
    loader = dataline.Loader(dataset, shuffle="window", batch_size=64, seed=4, epochs=1, num_workers=workers)
    order = np.concatenate([np.array(batch["x"]) for batch in loader])
    assert sum(length for _, length in reads) == stored_bytes(counted)
    assert len(reads) == len({offset for offset, _ in reads})
    assert sorted(order) == list(range(GROUPS * ROWS))
    # 16 MiB hold 16 row groups, of which about 4 are open: neighbours come from several.
    assert len({int(x) // ROWS for x in order[:64]}) >= 3


def test_full_shuffle_beyond_the_cache_reads_row_groups_again(
    counted: Path, counting: dataline.Extensions, reads: list[tuple[int, int]]
) -> None:
    dataset = dataline.open(f"parquet:counted://{counted}?cache_bytes=16MiB", extensions=counting)
    loader = dataline.Loader(dataset, shuffle="full", batch_size=64, epochs=1)
    for _ in itertools.islice(loader, 20):
        pass
    assert sum(length for _, length in reads) > 4 * stored_bytes(counted)


def test_the_order_stays_within_the_open_row_groups(counted: Path, parquet: dataline.Extensions) -> None:
    """cache_bytes says how many row groups are mixed; shuffle_blocks can only lower that."""
    spreads = []
    for cache, blocks in (("4MiB", 512), ("64MiB", 512), ("64MiB", 2)):
        uri = f"parquet:{counted}?cache_bytes={cache}&fields=x,image"
        loader = dataline.Loader(
            uri, extensions=parquet, shuffle="window", shuffle_blocks=blocks, seed=1, batch_size=256, epochs=1
        )
        spreads.append(np.mean([len(set(np.array(batch["x"]) // ROWS)) for batch in loader]))
    assert spreads[0] < 4 < spreads[1]
    assert spreads[2] < 6


def many(folder: Path, files: int) -> Path:
    folder.mkdir()
    for f in range(files):
        pq.write_table(pa.table({"x": pa.array(range(f * 3, f * 3 + 3), pa.int64())}), folder / f"{f}.parquet")
    return folder


def test_more_files_than_may_be_open(tmp_path: Path, parquet: dataline.Extensions) -> None:
    """Of many files none stays open: this process may have 60 more."""
    folder = many(tmp_path / "set", 200)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 60, before[1]))
    try:
        for options in ({}, {"shuffle": "window", "seed": 3}, {"shuffle": True, "seed": 3, "num_workers": 4}):
            got = [int(row["x"]) for row in rows_of(f"parquet:{folder}", parquet, **options)]
            assert sorted(got) == list(range(600))
            assert (got == sorted(got)) == (not options)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("change", ["size", "footer"])
def test_of_many_files_one_that_changes_is_named(tmp_path: Path, parquet: dataline.Extensions, change: str) -> None:
    folder = many(tmp_path / "set", 150)
    dataset = dataline.open(f"parquet:{folder}", extensions=parquet)
    path = folder / "77.parquet"
    before = path.stat().st_size
    name = "x" if change == "size" else "y"
    rows = [1] * 300 if change == "size" else range(77 * 3, 77 * 3 + 3)
    pq.write_table(pa.table({name: pa.array(rows, pa.int64())}), path)
    assert (path.stat().st_size == before) == (change == "footer")
    with pytest.raises(dataline.Error, match=r"77\.parquet: .*(when the dataset was opened)"):
        for _ in dataline.Loader(dataset, batch_size=7, epochs=1):
            pass


def test_opening_says_how_many_files_are_open(tmp_path: Path, parquet: dataline.Extensions) -> None:
    folder = many(tmp_path / "set", 300)
    lines: list[str] = []
    dataline.open(f"parquet:{folder}", extensions=parquet, log=lambda level, text: lines.append(text))
    for _ in range(1000):
        if any(re.fullmatch(rf"opening {folder}: \d+ of 300 files", line) for line in lines):
            break
        time.sleep(0.01)
    else:
        pytest.fail(f"no line of progress: {lines}")
