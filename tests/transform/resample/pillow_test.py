#!/usr/bin/env python3
"""Resizing beside Pillow and PyTorch as installed here: largest difference in levels and PSNR for each filter and scale.

    pillow_test.py PIPE [TARGET]     PIPE: the built resize_pipe; TARGET: -1 plain twin, 0 plain, 1 SSE4, 2 AVX2, 3 AVX3, 16 NEON

Fails when a pixel is more than 1 level off, or the PSNR of a case is below 50 dB. 77: no NumPy or Pillow here.
SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import subprocess
import sys

try:
    import numpy
    import PIL
    from PIL import Image
except ImportError as missing:
    system = "/usr/bin/python3"  # has the distribution's packages, which another interpreter first in PATH lacks
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.access(system, os.X_OK):
        os.execv(system, [system] + sys.argv)
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

NAMES = ["nearest", "bilinear", "bicubic", "area", "lanczos"]
PILLOW = [Image.NEAREST, Image.BILINEAR, Image.BICUBIC, Image.BOX, Image.LANCZOS]
SIZES = [  # in, out
    ((260, 350), (224, 224)), ((375, 500), (256, 341)), ((100, 80), (224, 224)), ((33, 47), (97, 31)), ((64, 64), (32, 32)),
    ((96, 60), (64, 40)), ((500, 500), (10, 10)), ((10, 10), (500, 500)), ((1, 1), (7, 5)), ((1, 1), (1, 1)), ((7, 5), (1, 1)),
    ((1, 300), (20, 6)), ((300, 1), (6, 20)), ((2, 2), (3, 3)), ((40, 50), (40, 25)), ((40, 50), (20, 50)), ((224, 224), (224, 224)),
    ((720, 1280), (13, 25)), ((50, 41), (7, 61)), ((19, 23), (20, 24)), ((1000, 3), (11, 3)), ((3, 1000), (3, 11)),
]


def pictures(height, width, channels, rng):
    """Noise, sharp edges of full range, a flat white, and something smooth."""
    y, x = numpy.mgrid[0:height, 0:width]
    yield "noise", rng.integers(0, 256, (height, width, channels), dtype=numpy.uint8)
    yield "edges", numpy.repeat(((((x // 3) + (y // 2)) % 2) * 255).astype(numpy.uint8)[..., None], channels, 2)
    yield "white", numpy.full((height, width, channels), 255, numpy.uint8)
    smooth = 127.5 + 90 * numpy.sin(x / 17.0) + 37 * numpy.cos(y / 11.0)
    yield "smooth", numpy.stack([numpy.roll(smooth, 5 * c, 1) for c in range(channels)], 2).astype(numpy.uint8)


class Pipe:
    def __init__(self, program, target):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.target = target

    def resize(self, image, out, name, antialias=1):
        h, w, c = image.shape
        head = f"{h} {w} {c} {out[0]} {out[1]} {NAMES.index(name)} {antialias} {self.target}\n"
        self.process.stdin.write(head.encode() + image.tobytes())
        self.process.stdin.flush()
        return numpy.frombuffer(self.process.stdout.read(out[0] * out[1] * c), numpy.uint8).reshape(*out, c)


def by_pillow(image, out, name, _):
    mode = {1: "L", 3: "RGB", 4: "RGBX"}[image.shape[2]]
    picture = Image.frombytes(mode, (image.shape[1], image.shape[0]), image.tobytes())
    if int(PIL.__version__.split(".")[0]) > 12:  # may take lines first (resample/kernels.h)
        picture = picture.resize((out[1], image.shape[0]), PILLOW[NAMES.index(name)])
    return numpy.asarray(picture.resize((out[1], out[0]), PILLOW[NAMES.index(name)])).reshape(*out, image.shape[2])


def by_torch(image, out, name, antialias):
    planes = torch.from_numpy(image.copy()).permute(2, 0, 1)[None].float()
    result = torch.nn.functional.interpolate(planes, out, mode=name, align_corners=False, antialias=bool(antialias))
    return result.round().clamp(0, 255).byte()[0].permute(1, 2, 0).numpy()


def compare(pipe, name, antialias, reference, channels, rng):
    """(largest difference, lowest PSNR, pixels, share that differ) over all sizes and pictures."""
    worst, psnr, pixels, differ = 0, math.inf, 0, 0
    for size, out in SIZES:
        for title, image in pictures(*size, channels, rng):
            ours = pipe.resize(image, out, name, antialias).astype(int)
            off = numpy.abs(ours - reference(image, out, name, antialias).astype(int))
            error = (off.astype(float) ** 2).mean()
            psnr = min(psnr, 10 * math.log10(255 ** 2 / error)) if error and off.size >= 64 else psnr
            pixels, differ = pixels + off.size, differ + int((off > 0).sum())
            if off.max() > max(1, worst):
                print(f"    {name} {title} {size} -> {out}: {off.max()} levels off")
            worst = max(worst, int(off.max()))
    return worst, psnr, pixels, differ


def main():
    pipe = Pipe(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    rng = numpy.random.default_rng(7)
    failed = False
    print(f"against Pillow {PIL.__version__}" + (f" and PyTorch {torch.__version__}" if torch else ""))
    print(f"{'filter':<22}{'channels':>9}{'pixels':>10}{'differ %':>10}{'most levels':>13}{'lowest PSNR dB':>16}")
    rows = [(name, 1, by_pillow) for name in NAMES]
    if torch is not None:
        rows += [("bilinear", 0, by_torch), ("bicubic", 0, by_torch)]
    for name, antialias, reference in rows:
        for channels in (1, 3, 4):
            worst, psnr, pixels, differ = compare(pipe, name, antialias, reference, channels, rng)
            title = name + ("" if antialias else ", no antialias")
            print(f"{title:<22}{channels:>9}{pixels:>10}{100 * differ / pixels:>10.2f}{worst:>13}{psnr:>16.1f}")
            # PyTorch rounds halves to even, ours go up: they meet in flat 2:1 averages.
            failed |= worst > 1 or psnr < (50 if reference is by_pillow else 49)
    return 1 if failed else 0


sys.exit(main())
