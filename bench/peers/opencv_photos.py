"""What a Python loader by hand does with a JPEG: OpenCV's resize and one table look-up for each value, after simplejpeg
(libjpeg-turbo, whole pictures) or OpenCV's own decoder. Both give back the GIL. Shared by Grain, which ships no decoder.
SPDX-License-Identifier: Apache-2.0
"""
import random

import cv2
import numpy as np

from photos import BIAS, SCALE, SIDE, draw_crop

cv2.setNumThreads(0)
# Of each channel, what every byte becomes.
TABLE = (np.arange(256, dtype=np.float32)[:, None] * SCALE + BIAS).reshape(1, 256, 3)


def finish(image, out):
    """RGB u8 to three planes of `out`: antialiased where it shrinks (INTER_AREA), else linear."""
    x, y, w, h = draw_crop(image.shape[1], image.shape[0])
    shrinks = w > SIDE and h > SIDE
    image = cv2.resize(image[y:y + h, x:x + w], (SIDE, SIDE), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    if random.random() < 0.5:
        image = cv2.flip(image, 1)
    cv2.split(cv2.LUT(image, TABLE), [out[0], out[1], out[2]])


def read(path):
    with open(path, "rb") as file:
        return file.read()


def decode_opencv(path):
    return cv2.imdecode(np.frombuffer(read(path), np.uint8), cv2.IMREAD_COLOR_RGB)
