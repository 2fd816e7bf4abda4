#!/usr/bin/env python3
"""Warps beside torchvision's functional ones on uint8 tensors, given the same parameters: rotate, affine, perspective.

    torchvision_test.py PIPE     PIPE: the built warp_pipe

torchvision computes positions in f32. Where its position and ours fall on two sides of a pixel's edge, nearest picks another
pixel: at most 1 in 200 may. Bilinear: at most 2 levels anywhere. 77: no torchvision here.
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

try:
    import numpy
    import torch
    import torchvision
    from torchvision.transforms import functional as F
    from torchvision.transforms.functional import InterpolationMode
except ImportError as missing:
    system = "/usr/bin/python3"  # has the distribution's packages, which another interpreter first in PATH lacks
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.access(system, os.X_OK):
        os.execv(system, [system] + sys.argv)
    print(f"skipped: {missing}")
    sys.exit(77)

FILTERS = {"nearest": (0, InterpolationMode.NEAREST), "bilinear": (1, InterpolationMode.BILINEAR)}


class Pipe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def matrix(self, angle, translate, scale, shear):
        self.send(f"A {angle!r} {translate[0]} {translate[1]} {scale!r} {shear[0]!r} {shear[1]!r}\n".encode())
        return [float(word) for word in self.process.stdout.readline().split()] + [0.0, 0.0]

    def warp(self, image, out, name, fill, m):
        h, w, c = image.shape
        head = f"W {h} {w} {c} {out[0]} {out[1]} {FILTERS[name][0]} {int(fill is not None)} {fill or 0} "
        self.send((head + " ".join(repr(float(v)) for v in m) + "\n").encode() + image.tobytes())
        return numpy.frombuffer(self.process.stdout.read(out[0] * out[1] * c), numpy.uint8).reshape(*out, c)


def centred(coefficients, width, height):
    """torchvision's perspective coefficients (pixels from the corner) as a map between centres."""
    a, b, c, d, e, f, g, h = coefficients
    x, y = width / 2, height / 2
    corner = numpy.array([[a, b, c], [d, e, f], [g, h, 1]])
    there = numpy.array([[1, 0, -x], [0, 1, -y], [0, 0, 1]])
    back = numpy.array([[1, 0, x], [0, 1, y], [0, 0, 1]])
    m = there @ corner @ back
    return (m / m[2, 2]).ravel()[:8]


def cases(pipe, image, rng, name, fill):
    """(title, ours, torchvision's) for random parameters."""
    height, width, _ = image.shape
    planes = torch.from_numpy(image.copy()).permute(2, 0, 1)
    mode = FILTERS[name][1]
    given = None if fill is None else [float(fill)]
    angle = rng.uniform(-180, 180)
    for expand in (False, True):
        reference = F.rotate(planes, angle, interpolation=mode, expand=expand, fill=given)
        m = pipe.matrix(-angle, (0, 0), 1.0, (0.0, 0.0))
        yield "rotate", pipe.warp(image, tuple(reference.shape[1:]), name, fill, m), reference
    translate = [int(rng.integers(-9, 10)), int(rng.integers(-9, 10))]
    scale, shear = rng.uniform(0.5, 1.8), [rng.uniform(-40, 40), rng.uniform(-40, 40)]
    reference = F.affine(planes, angle, translate, scale, shear, interpolation=mode, fill=given)
    yield "affine", pipe.warp(image, (height, width), name, fill, pipe.matrix(angle, translate, scale, shear)), reference
    start, end = torchvision.transforms.RandomPerspective.get_params(width, height, 0.5)
    reference = F.perspective(planes, start, end, interpolation=mode, fill=given)
    coefficients = F._get_perspective_coeffs(start, end)
    yield "perspective", pipe.warp(image, (height, width), name, fill, centred(coefficients, width, height)), reference


def main():
    pipe = Pipe(sys.argv[1])
    rng = numpy.random.default_rng(11)
    torch.manual_seed(5)
    print(f"against torchvision {torchvision.__version__}, torch {torch.__version__}")
    print(f"{'operator':<14}{'filter':<10}{'fill':>6}{'pixels':>10}{'most levels':>13}{'over 2 levels %':>17}")
    failed = False
    for name in FILTERS:
        for fill in (None, 0, 77):
            table = {}
            for _ in range(12):
                h, w, c = int(rng.integers(3, 150)), int(rng.integers(3, 150)), int(rng.choice([1, 3]))
                image = rng.integers(0, 256, (h, w, c), dtype=numpy.uint8)
                for title, ours, reference in cases(pipe, image, rng, name, fill):
                    off = numpy.abs(ours.astype(int) - reference.permute(1, 2, 0).numpy().astype(int))
                    row = table.setdefault(title, [0, 0, 0])
                    row[0], row[1], row[2] = row[0] + off.size, max(row[1], int(off.max())), row[2] + int((off > 2).sum())
            for title, (pixels, most, over) in table.items():
                print(f"{title:<14}{name:<10}{str(fill):>6}{pixels:>10}{most:>13}{100 * over / pixels:>17.4f}")
                failed |= over > 0 if name == "bilinear" else over > pixels / 200
    return 1 if failed else 0


sys.exit(main())
