"""OpenCV on decoded pictures: INTER_AREA, which antialiases, and INTER_LINEAR, which does not; a table look-up normalises.
SPDX-License-Identifier: Apache-2.0
"""
import cv2

from contender import main
from opencv_photos import TABLE
from pass_pixels import variant
from photos import SIDE


def by(interpolation):
    def fill(picture, out):
        small = cv2.flip(cv2.resize(picture, (SIDE, SIDE), interpolation=interpolation), 1)
        cv2.split(cv2.LUT(small, TABLE), [out[0], out[1], out[2]])
    return fill


def fused_pass(settings):
    return [variant("opencv area", settings, by(cv2.INTER_AREA), most_away=0.15),
            variant("opencv linear no antialias", settings, by(cv2.INTER_LINEAR), most_away=0.3)]


if __name__ == "__main__":
    main({"fused_pass": fused_pass}, {"opencv": cv2.__version__})
