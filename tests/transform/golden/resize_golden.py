#!/usr/bin/env python3
"""Golden vectors of resizing: what Pillow makes of u8 pictures, and PyTorch where nothing is antialiased.

    resize_golden.py                       writes resize.txt and resize.bin beside this file
    resize_golden.py --check TEST...       compares them with what this Pillow and PyTorch make, byte for byte, then makes the same
                                           of larger pictures and gives them to the built tests; 77: not installed here

vectors.py says what the files hold. The vectors kept here were made by Pillow 13.0.0 and torch 2.15.0.
"""
# SPDX-License-Identifier: Apache-2.0
import vectors

try:
    import numpy
    import torch
    from PIL import Image
except ImportError:
    vectors.use_installed("Pillow or PyTorch")

FILTERS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "area": Image.BOX, "lanczos": Image.LANCZOS}
MODES = {1: "L", 3: "RGB", 4: "RGBX"}


def inputs(scale):
    """Noise, sharp edges of full range, something smooth, one channel and four."""
    random = numpy.random.default_rng(11)
    height, width = 50 * scale, 41 * scale
    y, x = numpy.mgrid[0:height, 0:width]
    edges = numpy.repeat(((x // 3 + y // 2) % 2 * 255)[..., None], 3, 2)
    smooth = numpy.stack([127.5 + 90 * numpy.sin(x / 17 + c) + 37 * numpy.cos(y / 11) for c in range(3)], 2)
    images = {"noise": random.integers(0, 256, (height, width, 3)), "edges": edges, "smooth": smooth,
              "gray": random.integers(0, 256, (width, height, 1)), "four": random.integers(0, 256, (21 * scale, 17 * scale, 4))}
    return {name: image.astype(numpy.uint8) for name, image in images.items()}


def by_pillow(image, out, name):
    height, width, channels = image.shape
    picture = Image.frombytes(MODES[channels], (width, height), image.tobytes())
    # Columns first, as Pillow does up to 12 and torchvision. 13 takes lines first where the height loses more than twice as many
    # pixels as the width, and other overshoots are cut there.
    picture = picture.resize((out[1], height), FILTERS[name])
    return numpy.asarray(picture.resize(out[::-1], FILTERS[name])).reshape(*out, channels)


def by_torch(image, out, name):
    planes = torch.from_numpy(image).permute(2, 0, 1)[None].float()
    result = torch.nn.functional.interpolate(planes, out, mode=name, align_corners=False, antialias=False)
    return numpy.ascontiguousarray(result.round().clamp(0, 255).byte()[0].permute(1, 2, 0).numpy())


def make(large):
    torch.set_num_threads(1)
    scale = 6 if large else 1
    made = vectors.Vectors()
    images = inputs(scale)
    for name, image in images.items():
        made.add(name, (), "-", image)
    for name, image in images.items():
        for out in ((24, 23), (7, 61), (45, 9)):
            height, width = (side * scale for side in out)
            for kind in FILTERS:
                made.add("pillow", (kind, height, width), name, by_pillow(image, (height, width), kind))
            for kind in ("bilinear", "bicubic"):
                made.add("torch", (kind, height, width), name, by_torch(image, (height, width), kind))
    return made


if __name__ == "__main__":
    vectors.main("resize", make)
