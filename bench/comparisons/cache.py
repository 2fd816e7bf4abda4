"""What `cache=DIR` costs while it fills, and what it saves when it is full: photographs at 256 pixels, cropped at random to 224.

Per round: without a cache, with one that fills (one epoch, into an empty directory), and with one that is full; with
cache_quality=90 again; and FFCV on the same photographs at 256 pixels in a file of its own, as raw pixels and as JPEG of quality 90. One
core: the process is held on it. What starting costs is taken off, by a run of one image; FFCV's own epochs are timed after one of
compiling. CPU seconds are the process's own. Our pixels are the same in the first three; that is tested
(tests/loader/images/cache_test.cpp), not here. PYTHON: that of build/peers/ffcv (bench/peers/setup.sh torch ffcv).

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

from turns import Group

BYTES = "image: decode, resize(256), random_resized_crop(224), hflip"
NORMALISED = BYTES + ", normalize(imagenet), chw"


def job(shell, photos, transform, *more):
    batches = ("--batch-size", "50") if "--batch-size" not in more else ()
    return [shell, "cat", f"folder:{photos}", "--field", "image", "-o", "/dev/null", "--transform", transform, "--shuffle", "full", "--seed", "1",
            "--num-workers", "1", *batches, *map(str, more)]


def run(command):
    """Seconds by the clock, and of the CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def rates(images, whole, start=(0, 0)):
    wall, cpu = (a - b for a, b in zip(whole, start))
    return {"images_per_s": images / wall, "images_per_cpu_s": images / cpu}


def ours(asked, transform, count, directory):
    """Without a cache, and with one that fills and then is full; with cache_quality=90 again."""

    def job_of(*more):
        return run(job(asked.shell, asked.photos, transform, *more))

    start = job_of("--batches", 1, "--batch-size", 1, "--prefetch-depth", 1)
    found = {"without": rates(count * asked.epochs - 1, job_of("--epochs", asked.epochs), start)}
    for words, more in (("", ()), (", quality 90", ("--cache-quality", 90))):
        shutil.rmtree(directory, ignore_errors=True)
        cache = ("--cache", directory, *more)
        found["fills" + words] = rates(count - 1, job_of(*cache), start)
        full = rates(count * asked.epochs - 1, job_of("--epochs", asked.epochs, *cache), start)
        found["full" + words] = full | kept(directory.rglob("*.samples"), count)
    return found


def kept(files, count):
    return {"kept_kb_per_image": sum(path.stat().st_size for path in files) / count / 1000}


def ffcv(asked, folder, quality, pixels, count):
    program = pathlib.Path(__file__).parents[1] / "peers" / "ffcv_kept.py"
    told = subprocess.run([asked.ffcv, program, asked.photos, folder, quality, pixels, str(asked.epochs)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    images, wall, cpu = map(float, told.stdout.split())
    return rates(images, (wall, cpu)) | kept([pathlib.Path(folder, f"{quality}.beton")], count)


FFCV = {"FFCV, raw": "raw", "FFCV, quality 90": "90"}


def ratios(samples):
    pairs = [("images_per_cpu_s", variant, "without") for variant in samples if variant != "without"]
    return pairs + [("images_per_s", mine, peer) for mine, peer in zip(("full", "full, quality 90"), FFCV) if peer in samples]


def arguments(parser):
    parser.add_argument("shell")
    parser.add_argument("photos", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=8, help="of the runs without a cache and with a full one")
    parser.add_argument("--normalised", action="store_true", help="f32, NCHW, where else it is bytes, NHWC")
    parser.add_argument("--ffcv", metavar="PYTHON", help="with FFCV beside it, of this Python")


def groups(asked):
    transform, pixels = (NORMALISED, "normalised") if asked.normalised else (BYTES, "bytes")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    files = [path for path in asked.photos.rglob("*") if path.is_file()]
    count = len(files)
    with tempfile.TemporaryDirectory(prefix="dataline-cache-") as scratch:
        turns = [lambda: ours(asked, transform, count, pathlib.Path(scratch, "cache"))]
        turns += [lambda name=name, quality=quality: {name: ffcv(asked, scratch, quality, pixels, count)}
                  for name, quality in FFCV.items() if asked.ffcv]
        note = f"{count} photographs, {kept(files, count)['kept_kb_per_image']:.0f} kB each; {transform}"
        yield Group(f"cache: {pixels}", turns, ratios=ratios, notes=[note])
