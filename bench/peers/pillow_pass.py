"""Pillow on decoded pictures: BILINEAR, which antialiases; NumPy normalises. pillow_simd_pass.py is this with Pillow-SIMD.
SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
import PIL
from PIL import Image

from contender import main
from pass_pixels import planes, variant
from photos import SIDE


def fill(picture, out):
    small = Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    planes(np.asarray(small), out)


def fused_pass(settings, name="pillow"):
    return [variant(name, settings, fill)]


if __name__ == "__main__":
    main({"fused_pass": fused_pass}, {"pillow": PIL.__version__})
