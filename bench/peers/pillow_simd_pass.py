"""Pillow-SIMD, compiled for AVX2, in Pillow's place.
SPDX-License-Identifier: Apache-2.0
"""
import functools

import PIL

import pillow_pass
from contender import main

if __name__ == "__main__":
    main({"fused_pass": functools.partial(pillow_pass.fused_pass, name="pillow-simd")}, {"pillow-simd": PIL.__version__})
