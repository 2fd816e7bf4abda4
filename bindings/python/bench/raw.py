"""The C loop of raw.c, compiled and called from here.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import dataline

HERE = Path(__file__).parent


class RawLoop:
    """A loader made and emptied by C alone, on the library that the package brought."""

    def __init__(self, rows: Any, **options: Any) -> None:
        libraries = Path(dataline.__file__).parent / "lib"
        library = next(libraries.glob("libdataline.so.*"))
        with tempfile.TemporaryDirectory() as folder:
            built = Path(folder) / "raw.so"
            include = HERE.parents[2] / "capi"
            command = [
                "cc",
                "-O2",
                "-std=c11",
                "-shared",
                "-fPIC",
                f"-I{include}",
                HERE / "raw.c",
                library,
                "-o",
                built,
            ]
            subprocess.run([*map(str, command), f"-Wl,--disable-new-dtags,-rpath,{libraries}"], check=True)
            self._lib = ctypes.CDLL(str(built))
        self._lib.raw_loader.restype = ctypes.c_void_p
        self._lib.raw_batches.restype = ctypes.c_int64
        texts = [str(text).encode() for pair in options.items() for text in pair]
        address, (count, row_bytes) = rows.ctypes.data, rows.shape
        self._loader = ctypes.c_void_p(
            self._lib.raw_loader(
                ctypes.c_void_p(address),
                ctypes.c_int64(count),
                ctypes.c_int64(row_bytes),
                (ctypes.c_char_p * (len(texts) + 1))(*texts, None),
            )
        )
        if not self._loader.value:
            raise RuntimeError("the C loop has no loader")

    def batches(self, count: int = -1) -> None:
        """So many batches, or the rest of an epoch."""
        if self._lib.raw_batches(self._loader, ctypes.c_int64(count)) < 0:
            raise RuntimeError("the C loop failed")
