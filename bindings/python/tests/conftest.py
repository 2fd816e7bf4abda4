"""What the tests share.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline
from consumer import Driver, library

Shell = Callable[..., bytes]


def program() -> Optional[str]:
    return os.environ.get("DATALINE_BIN") or shutil.which("dataline")


@pytest.fixture
def shell() -> Shell:
    """What the program ``dataline`` writes on standard output."""
    found = program()
    if found is None:
        pytest.skip("there is no program dataline (DATALINE_BIN)")

    def run(*arguments: object) -> bytes:
        return subprocess.run([found, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout

    return run


@pytest.fixture(scope="session")
def parquet_plugin() -> Path:
    """The plug-in for Parquet."""
    root = Path(__file__).parents[3]
    folders = [os.environ.get("DATALINE_LIB_DIR", ""), str(root / "build" / "release" / "lib")]
    named = os.environ.get("DATALINE_PARQUET_PLUGIN", "")
    places = [Path(named)] if named else [Path(folder) / "libdataline-parquet.so" for folder in folders if folder]
    found = next((path for path in places if path.exists()), None)
    if found is None:
        pytest.skip("libdataline-parquet.so was not built (DATALINE_PARQUET_PLUGIN, DATALINE_LIB_DIR)")
    return found


@pytest.fixture(scope="session")
def parquet(parquet_plugin: Path) -> dataline.Extensions:
    made = dataline.Extensions()
    made.load(parquet_plugin)
    return made


def numbers(count: int) -> dataline.Dataset:
    """``x``: the index of each sample."""
    return dataline.from_arrays({"x": np.arange(count, dtype=np.int64)})


def loader_of(count: int = 10, **options: Any) -> dataline.Loader:
    return dataline.Loader(numbers(count), **options)


def epoch_of(loader: dataline.Loader) -> list[list[int]]:
    """All ``x`` of an epoch, batch by batch."""
    return [batch["x"].tolist() for batch in loader]


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """An RGB image as a file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def records(tmp_path: Path) -> str:
    """The URI of 1000 records of 16 bytes, no two alike."""
    path = tmp_path / "records.raw"
    values = np.arange(1000, dtype=np.uint64)
    np.stack([values, values * np.uint64(0x9E3779B97F4A7C15)], axis=1).tofile(path)
    return f"raw:{path}?dtype=u8&shape=16"


@pytest.fixture
def driver() -> Iterator[Driver]:
    path = library()
    if path is None:
        pytest.skip(
            "there is no CUDA driver to test with: libfake_cuda.so was not built (DATALINE_CUDA_LIBRARY names another)"
        )
    gc.collect()  # no loader of an earlier test
    made = Driver(path)
    yield made
    gc.collect()
    misuses = made.misuses()
    made.close()
    assert misuses == []


@pytest.fixture
def fake(driver: Driver) -> Driver:
    if not driver.is_fake:
        pytest.skip("needs the fake driver's controls")
    return driver
