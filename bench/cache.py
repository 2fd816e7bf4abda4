#!/usr/bin/env python3
"""What `cache=DIR` costs while it fills, and what it saves when it is full: photographs at 256 pixels, cropped at random to 224.

  bench/cache.py SHELL PHOTOS [--rounds N] [--epochs N] [--normalised] [--ffcv PYTHON]

Per round, in turns: without a cache, with one that fills (one epoch, into an empty directory), and with one that is full; with
cache_quality=90 again; and FFCV on the same photographs at 256 pixels in a file of its own, as raw pixels and as JPEG of quality 90. One
core: the process is held on it. What starting costs is taken off, by a run of one image; FFCV's own epochs are timed after one of
compiling. CPU seconds are the process's own. Our pixels are the same in the first three; that is tested
(tests/loader/images/cache_test.cpp), not here. PYTHON: that of build/peers/ffcv (bench/peers/setup.sh torch ffcv).

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

BYTES = "image: decode, resize(256), random_resized_crop(224), hflip"
NORMALISED = BYTES + ", normalize(imagenet), chw"


def job(shell, photos, transform, *more):
    return [
        shell,
        "cat",
        f"folder:{photos}",
        "--field",
        "image",
        "-o",
        "/dev/null",
        "--transform",
        transform,
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


def peer(python, photos, folder, quality, pixels, epochs):
    """FFCV's images per second, by the clock and by the CPU."""
    program = pathlib.Path(__file__).parent / "peers" / "ffcv_kept.py"
    told = subprocess.run([python, program, photos, folder, quality, pixels, str(epochs)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    images, wall, cpu = map(float, told.stdout.split())
    return [images / wall, images / cpu]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shell")
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=8, help="of the runs without a cache and with a full one")
    parser.add_argument("--normalised", action="store_true", help="f32, NCHW, where else it is bytes, NHWC")
    parser.add_argument("--ffcv", metavar="PYTHON", help="with FFCV beside it, of this Python")
    given = parser.parse_args()
    transform, pixels = (NORMALISED, "normalised") if given.normalised else (BYTES, "bytes")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    count = sum(1 for path in given.photos.rglob("*") if path.is_file())
    found = {"without": [], "fills": [], "full": [], "fills, quality 90": [], "full, quality 90": []}
    if given.ffcv:
        found |= {"FFCV, raw": [], "FFCV, quality 90": []}
    kept = {}
    with tempfile.TemporaryDirectory(prefix="dataline-cache-") as scratch:
        for _ in range(given.rounds):
            start = run(job(given.shell, given.photos, transform, "--batches", 1, "--batch-size", 1, "--prefetch-depth", 1))
            found["without"].append(per_second(count * given.epochs - 1, run(job(given.shell, given.photos, transform, "--epochs", given.epochs)), start))
            for words, more in (("", ()), (", quality 90", ("--cache-quality", 90))):
                directory = pathlib.Path(scratch, "cache")
                shutil.rmtree(directory, ignore_errors=True)
                cache = ("--cache", directory, *more)
                found["fills" + words].append(per_second(count - 1, run(job(given.shell, given.photos, transform, *cache)), start))
                found["full" + words].append(
                    per_second(count * given.epochs - 1, run(job(given.shell, given.photos, transform, "--epochs", given.epochs, *cache)), start)
                )
                kept["full" + words] = sum(path.stat().st_size for path in directory.rglob("*.samples"))
            for name, quality in (("FFCV, raw", "raw"), ("FFCV, quality 90", "90")) if given.ffcv else ():
                found[name].append(peer(given.ffcv, given.photos, scratch, quality, pixels, given.epochs))
                kept[name] = pathlib.Path(scratch, f"{quality}.beton").stat().st_size
    stored = sum(path.stat().st_size for path in given.photos.rglob("*") if path.is_file())
    print(f"{count} photographs, {stored / count / 1000:.0f} kB each; {transform}; medians of {given.rounds}")
    base = [statistics.median(side) for side in zip(*found["without"])]
    for name, rounds in found.items():
        wall, cpu = (statistics.median(side) for side in zip(*rounds))
        print(
            f"{name:18} {wall:8.0f} images/s   {cpu:8.0f} per CPU second   {cpu / base[1]:5.2f} times without, by CPU"
            + (f"   {kept[name] / count / 1000:4.0f} kB each" if name in kept else ""),
            flush=True,
        )
    for ours, theirs in (("full", "FFCV, raw"), ("full, quality 90", "FFCV, quality 90")) if given.ffcv else ():
        ratios = sorted(a[0] / b[0] for a, b in zip(found[ours], found[theirs]))
        print(f"{ours} over {theirs}: {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
