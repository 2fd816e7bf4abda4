"""What writing a set costs beside loading it: `dataline convert` and the loader alone.

Rows: photographs decoded and resized to 256x256 (beside the same loader writing to /dev/null), the same photographs as they are
into tar (beside `tar cf` of the files), rows of 784 bytes into Arrow (beside `cat`). A ratio of 1: writing is free. Files go
into a folder of the system's temporary directory, and to its disk: each shard is synced.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import subprocess
import tempfile
import time

from turns import Group, each

PIXELS = ["--transform", "image: decode, resize(256), center_crop(256)"]


def seconds(command, folder):
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - begin}


def rows(shell, photos, mnist, folder):
    """Name: (what writes, what it is compared with). The folder is emptied before each."""
    out = folder / "out"
    loader = [shell, "cat", "-o", "/dev/null"]
    return {
        "photographs to 256x256 pixels, arrow": (
            [shell, "convert", f"folder:{photos}", f"arrow:{out}", *PIXELS],
            [*loader, f"folder:{photos}", "--field", "image", *PIXELS, "--max-bytes-per-sample", "64MiB", "--batch-size", "1",
             "--prefetch-depth", "8"]),
        "photographs as they are, tar": (
            [shell, "convert", f"folder:{photos}", f"tar:{out}"], ["tar", "cf", str(out), "-C", str(photos), "."]),
        "rows of 784 bytes, arrow": (
            [shell, "convert", f"mnist:{mnist}", f"arrow:{out}", "--batch-size", "256"],
            [*loader, f"mnist:{mnist}", "--field", "image", "--batch-size", "256"]),
    }


def arguments(parser):
    parser.add_argument("shell")
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("mnist", type=pathlib.Path)


def groups(asked):
    with tempfile.TemporaryDirectory(prefix="dataline-convert-") as name:
        folder = pathlib.Path(name)
        for row, (convert, beside) in rows(asked.shell, asked.photos, asked.mnist, folder).items():
            programs = {"convert": lambda command=convert: seconds(command, folder), "beside": lambda command=beside: seconds(command, folder)}
            yield Group(f"convert: {row}", each(programs), ratios=lambda samples: [("seconds", "beside", "convert")])
