"""A JPEG's bytes to a normalised f32 CHW tensor, by torchvision: decode_jpeg, RandomResizedCrop and flip on u8, then as floats.
SPDX-License-Identifier: Apache-2.0
"""
import torch
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2

from photos import DEVIATION, MEAN, SIDE

NORMALIZE = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)]
CROP = [v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip()]
FROM_TENSOR = v2.Compose([*CROP, *NORMALIZE])


def from_bytes(data):
    return FROM_TENSOR(decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), mode=ImageReadMode.RGB))
