#!/usr/bin/env python3
"""What writing a set costs beside loading it: `dataline convert` and the loader alone, in turns.

  bench/convert.py SHELL PHOTOS MNIST [--rounds N]

Rows: photographs decoded and resized to 256x256 (beside the same loader writing to /dev/null), the same photographs as they are
into tar (beside `tar cf` of the files), rows of 784 bytes into Arrow (beside `cat`). A ratio of 1: writing is free. Files go
into a folder of the system's temporary directory, and to its disk: each shard is synced.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

PIXELS = ["--transform", "image: decode, resize(256), center_crop(256)"]


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def rows(shell, photos, mnist, folder):
    """Name: (what writes, what it is held against). `out` is removed before each."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shell")
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("mnist", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dataline-convert-") as name:
        folder = pathlib.Path(name)
        for row, commands in rows(given.shell, given.photos, given.mnist, folder).items():
            times = ([], [])
            for _ in range(given.rounds):
                for side, command in enumerate(commands):
                    for path in folder.iterdir():
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    times[side].append(seconds(command))
            medians = [statistics.median(side) for side in times]
            print(f"{row:40} convert {medians[0]:7.3f} s   beside {medians[1]:7.3f} s   ratio {medians[1] / medians[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
