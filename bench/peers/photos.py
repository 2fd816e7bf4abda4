"""What the programs that load photographs share: the folder, the drawn rectangle, and the check that a batch is what
every other loader's is: f32 NCHW pictures of 224 x 224, each once an epoch under its label, normalised alike.
SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import random
import sys

import numpy as np

from contender import Variant

BATCH_SIZE, SIDE = 32, 224
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# (x / 255 - mean) / deviation in one step, by channel.
SCALE = np.array([1 / (255 * deviation) for deviation in DEVIATION], np.float32)
BIAS = np.array([-mean / deviation for mean, deviation in zip(MEAN, DEVIATION)], np.float32)
LEAD = 12  # batches that may be ready before a turn: as many as dataline_rows lets go


class Photos:
    """Class folders of JPEG files, as dataline_rows made them."""

    def __init__(self, settings):
        self.folder = os.path.join(settings.data_dir, f"photos_{64 if settings.small else 1000}")
        if not os.path.isdir(self.folder):
            sys.exit(f"{self.folder} is missing: dataline_rows makes it")
        classes = sorted(os.listdir(self.folder))
        found = [(os.path.join(self.folder, name, file), label) for label, name in enumerate(classes)
                 for file in sorted(os.listdir(os.path.join(self.folder, name)))]
        self.paths, self.labels = [path for path, _ in found], [label for _, label in found]
        self.derived = self.folder + "_"  # where a loader's own format goes

    def __len__(self):
        return len(self.paths)

    def check(self):
        return Check(self.labels, self.folder + ".statistics")


class Check:
    """An epoch: every label as often as the folder has it, and values whose mean and deviation are bare decoding's."""

    def __init__(self, labels, statistics):
        self.labels = sorted(labels)
        self.wanted = np.loadtxt(statistics)

    def __call__(self, name, batches, arrays):
        seen, sums, squares, count = [], np.zeros(3), np.zeros(3), 0
        for batch in batches:
            images, labels = arrays(batch)
            if images.dtype != np.float32 or images.shape != (len(labels), 3, SIDE, SIDE) or not images.flags.c_contiguous:
                raise AssertionError(f"{name}: batches of {images.dtype} {images.shape}, strides {images.strides}")
            if len(seen) >= len(self.labels):
                break  # loaders without ends of epochs
            images = images[:len(self.labels) - len(seen)]  # padded last batches
            seen += [int(label) for label in np.asarray(labels).reshape(-1)[:len(images)]]
            sums += images.sum(axis=(0, 2, 3), dtype=np.float64)
            squares += np.square(images).sum(axis=(0, 2, 3), dtype=np.float64)
            count += len(images) * SIDE * SIDE
            if images.min() < -2.2 or images.max() > 2.7:
                raise AssertionError(f"{name}: values of {images.min()} .. {images.max()}")
        if sorted(seen) != self.labels:
            raise AssertionError(f"{name}: an epoch gave {len(seen)} pictures that are not the folder's {len(self.labels)}")
        if seen == self.labels and len(set(seen)) > 1:
            raise AssertionError(f"{name}: not shuffled")
        mean = sums / count
        got = np.stack([mean, np.sqrt(squares / count - mean * mean)], axis=1)
        # Rectangles are drawn: the fewer pictures, the more an epoch differs from another.
        if np.abs(got - self.wanted).max() > (0.1 if len(seen) >= 1000 else 0.4):
            raise AssertionError(f"{name}: means and deviations {got.round(3).tolist()}, not {self.wanted.round(3).tolist()}")


def draw_crop(width, height):
    """torchvision's RandomResizedCrop: x, y, width, height."""
    area = width * height
    for _ in range(10):
        target = area * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(target * ratio)), round(math.sqrt(target / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    w = round(height * 4 / 3) if width > height * 4 / 3 else width
    h = round(width * 4 / 3) if height > width * 4 / 3 else height
    return (width - w) // 2, (height - h) // 2, w, h


def variant(name, epoch, arrays, check):
    return Variant(name, epoch, arrays, check, lead=LEAD)
