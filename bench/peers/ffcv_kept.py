"""FFCV on what `cache=DIR` keeps: photographs whose shorter side is 256, as raw pixels or as JPEG, read with OrderOption.RANDOM from the
page cache by one thread; RandomResizedCrop's decoder and flip; then bytes, NHWC, or normalised, f32, NCHW. bench/compare.py cache runs it.

  ffcv_kept.py PHOTOS FOLDER raw|90 bytes|normalised EPOCHS      90: of JPEG. FOLDER keeps the file for the next run

Prints images, seconds, CPU seconds.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import sys
import time

from PIL import Image

from ffcv_photos import Pictures, beton, loader_of

SHORTER, BATCH_SIZE = 256, 50


def resized(path):
    image = Image.open(path).convert("RGB")
    scale = SHORTER / min(image.size)
    return image.resize([max(SHORTER, round(side * scale)) for side in image.size], Image.Resampling.BILINEAR)


def main():
    photos, folder, quality, pixels, epochs = sys.argv[1:]
    paths = sorted(path for path in pathlib.Path(photos).rglob("*") if path.is_file())
    how = {"write_mode": "raw"} if quality == "raw" else {"write_mode": "jpg", "jpeg_quality": int(quality)}
    path = beton(os.path.join(folder, f"{quality}.beton"), Pictures(lambda at: resized(paths[at]), [0] * len(paths)), **how)
    loader = loader_of(path, 1, BATCH_SIZE, pixels == "normalised")
    images = sum(len(batch[0]) for batch in loader)  # compiled, and in memory
    assert images == len(paths), (images, len(paths))
    begin, cpu = time.perf_counter(), time.process_time()
    images = sum(len(batch[0]) for _ in range(int(epochs)) for batch in loader)
    print(images, time.perf_counter() - begin, time.process_time() - cpu, flush=True)


main()
os._exit(0)  # after a file was written on one core, FFCV's threads do not let the interpreter end
