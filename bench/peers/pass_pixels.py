"""What the programs of the row fused_pass share: decoded pictures of 350 x 260 that are scaled to 224 x 224, mirrored, and
normalised to f32 planes, batches of 32, one thread; and the check that a program does that.
SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import sys

import numpy as np

from contender import Variant
from photos import BATCH_SIZE, BIAS, LEAD, SCALE, SIDE


def load(settings):
    path = os.path.join(settings.data_dir, f"pass_{16 if settings.small else 250}x260x350x3.npy")
    if not os.path.exists(path):
        sys.exit(f"{path} is missing: dataline_rows makes it")
    return np.load(path), np.loadtxt(path + ".statistics")


def weights(size):
    """A triangle as wide as the scale around each output's middle: (224, size), lines that sum to one."""
    scale = size / SIDE
    middles = (np.arange(SIDE)[:, None] + 0.5) * scale
    lines = np.maximum(0, 1 - np.abs(np.arange(size) + 0.5 - middles) / max(scale, 1))
    return lines / lines.sum(axis=1, keepdims=True)


def expected(picture):
    height, width, _ = picture.shape
    scaled = np.einsum("yh,hwc,xw->cyx", weights(height), picture.astype(float), weights(width), optimize=True)
    return scaled[:, :, ::-1] * SCALE[:, None, None] + BIAS[:, None, None]


def planes(small, out):
    """u8 pixels, mirrored and normalised into three planes of `out`."""
    for channel in range(3):
        np.multiply(small[:, ::-1, channel], SCALE[channel], out=out[channel])
        out[channel] += BIAS[channel]


def variant(name, settings, fill, most_away=0.05):
    """`fill(picture, out)` does one. `most_away`: from the mean of a filter in f64, on average, in deviations."""
    pictures, wanted = load(settings)

    def epoch(_):
        order = list(range(len(pictures)))
        random.shuffle(order)
        for at in range(0, len(order), BATCH_SIZE):
            images = np.empty((len(order[at:at + BATCH_SIZE]), 3, SIDE, SIDE), np.float32)
            for out, one in zip(images, order[at:at + BATCH_SIZE]):
                fill(pictures[one], out)
            yield (images,)

    def check(name, batches, arrays):
        images = np.concatenate([arrays(batch)[0] for batch in batches])
        if images.shape != (len(pictures), 3, SIDE, SIDE) or images.dtype != np.float32:
            raise AssertionError(f"{name}: an epoch of {images.dtype} {images.shape}")
        got = np.stack([images.mean(axis=(0, 2, 3), dtype=float), images.std(axis=(0, 2, 3), dtype=float)], axis=1)
        if np.abs(got - wanted).max() > 0.03:
            raise AssertionError(f"{name}: means and deviations {got.round(3).tolist()}, not {wanted.round(3).tolist()}")
        out = np.empty((3, SIDE, SIDE), np.float32)
        for picture in pictures[:8]:
            fill(picture, out)
            away = np.abs(out - expected(picture)).mean()
            if away > most_away:
                raise AssertionError(f"{name}: pixels are {away:.3f} away on average")

    return Variant(name, epoch, lambda batch: batch, check, lead=LEAD)
