#!/usr/bin/env python3
"""What `cache=DIR` costs while it fills, and what it saves when it is full: photographs at 256 pixels, cropped at random to 224.

  bench/cache.py SHELL PHOTOS [--rounds N] [--epochs N]

Per round, in turns: without a cache, with one that fills (one epoch, into an empty directory), and with one that is full; with
cache_quality=90 again. One core: the
process is held on it. What starting costs is taken off, by a run of one image. CPU seconds are the process's own. Pixels are the same
in the first three; that is tested (tests/loader/images/cache_test.cpp), not here.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

TRANSFORM = "image: decode, resize(256), random_resized_crop(224), hflip"


def job(shell, photos, *more):
    return [
        shell,
        "cat",
        f"folder:{photos}",
        "--field",
        "image",
        "-o",
        "/dev/null",
        "--transform",
        TRANSFORM,
        "--shuffle",
        "full",
        "--seed",
        "1",
        "--num-workers",
        "1",
        *(("--batch-size", "50") if "--batch-size" not in more else ()),
        *map(str, more),
    ]


def run(command):
    """Seconds by the clock, and of the CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def per_second(images, whole, start):
    return [images / (a - b) for a, b in zip(whole, start)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shell")
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=8, help="of the runs without a cache and with a full one")
    given = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    count = sum(1 for path in given.photos.rglob("*") if path.is_file())
    found = {"without": [], "fills": [], "full": [], "fills, quality 90": [], "full, quality 90": []}
    kept = {}
    with tempfile.TemporaryDirectory(prefix="dataline-cache-") as name:
        for _ in range(given.rounds):
            start = run(job(given.shell, given.photos, "--batches", 1, "--batch-size", 1, "--prefetch-depth", 1))
            found["without"].append(per_second(count * given.epochs - 1, run(job(given.shell, given.photos, "--epochs", given.epochs)), start))
            for words, more in (("", ()), (", quality 90", ("--cache-quality", 90))):
                directory = pathlib.Path(name, "cache")
                shutil.rmtree(directory, ignore_errors=True)
                cache = ("--cache", directory, *more)
                found["fills" + words].append(per_second(count - 1, run(job(given.shell, given.photos, *cache)), start))
                found["full" + words].append(
                    per_second(count * given.epochs - 1, run(job(given.shell, given.photos, "--epochs", given.epochs, *cache)), start)
                )
                kept["full" + words] = sum(path.stat().st_size for path in directory.rglob("*.samples"))
    stored = sum(path.stat().st_size for path in given.photos.rglob("*") if path.is_file())
    print(f"{count} photographs, {stored / count / 1000:.0f} kB each; {TRANSFORM}; medians of {given.rounds}")
    base = [statistics.median(side) for side in zip(*found["without"])]
    for name, rounds in found.items():
        wall, cpu = (statistics.median(side) for side in zip(*rounds))
        print(
            f"{name:18} {wall:8.0f} images/s   {cpu:8.0f} per CPU second   {cpu / base[1]:5.2f} times without, by CPU"
            + (f"   {kept[name] / count / 1000:4.0f} kB each" if name in kept else ""),
            flush=True,
        )


if __name__ == "__main__":
    main()
