"""FFCV on what `cache=DIR` keeps: photographs whose shorter side is 256, as raw pixels or as JPEG, read with OrderOption.RANDOM from the
page cache by one thread; RandomResizedCrop's decoder and flip; then bytes, NHWC, or normalised, f32, NCHW. bench/cache.py runs it.

  ffcv_kept.py PHOTOS FOLDER raw|90 bytes|normalised EPOCHS      90: of JPEG. FOLDER keeps the file for the next run

Prints images, seconds, CPU seconds.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

from photos import DEVIATION, MEAN

SHORTER, SIDE, BATCH_SIZE = 256, 224, 50

torch.set_num_threads(1)


class Photos:
    def __init__(self, folder):
        self.paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        image = Image.open(self.paths[at]).convert("RGB")
        scale = SHORTER / min(image.size)
        return image.resize([max(SHORTER, round(side * scale)) for side in image.size], Image.Resampling.BILINEAR), at


def write(photos, path, quality):
    how = {"write_mode": "raw"} if quality == "raw" else {"write_mode": "jpg", "jpeg_quality": int(quality)}
    draft = path.with_suffix(".draft")
    DatasetWriter(str(draft), {"image": RGBImageField(**how), "label": IntField()}, num_workers=1).from_indexed_dataset(photos, chunksize=50)
    draft.rename(path)


def main():
    folder, quality, epochs = pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[5])
    photos, path = Photos(sys.argv[1]), folder / f"{quality}.beton"
    if not path.exists():
        write(photos, path, quality)
    image = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip()]
    if sys.argv[4] == "normalised":
        mean, deviation = (255 * np.array(values, np.float32) for values in (MEAN, DEVIATION))
        image += [NormalizeImage(mean, deviation, np.float32), ToTensor(), ToTorchImage(channels_last=False)]
    loader = Loader(str(path), batch_size=BATCH_SIZE, num_workers=1, os_cache=True, drop_last=False, batches_ahead=4, order=OrderOption.RANDOM,
                    seed=1, pipelines={"image": image, "label": [IntDecoder()]})
    images = sum(len(batch[0]) for batch in loader)  # compiled, and in memory
    assert images == len(photos), (images, len(photos))
    begin, cpu = time.perf_counter(), time.process_time()
    images = sum(len(batch[0]) for _ in range(epochs) for batch in loader)
    print(images, time.perf_counter() - begin, time.process_time() - cpu, flush=True)


main()
os._exit(0)  # after a file was written on one core, FFCV's threads do not let the interpreter end
