"""The arguments of operators may be given by their place, in torchvision's order.

TORCHVISION is what `inspect.signature` says of torchvision 0.29.2's transforms.v2; it is compared with an installed torchvision
where there is one.

SPDX-License-Identifier: Apache-2.0
"""

import inspect
import json
import unittest

import shell
from shell import ShellTest

TORCHVISION = {
    "normalize": ("Normalize", "mean std inplace"),
    "random_crop": ("RandomCrop", "size padding pad_if_needed fill padding_mode"),
    "center_crop": ("CenterCrop", "size"),
    "hflip": ("RandomHorizontalFlip", "p"),
    "vflip": ("RandomVerticalFlip", "p"),
    "resize": ("Resize", "size interpolation max_size antialias"),
    "random_resized_crop": ("RandomResizedCrop", "size scale ratio interpolation antialias"),
    "mixup": ("MixUp", ""),  # alpha is taken by name alone there
    "cutmix": ("CutMix", ""),
    "color_jitter": ("ColorJitter", "brightness contrast saturation hue"),
    "grayscale": ("RandomGrayscale", "p"),
    "gaussian_blur": ("GaussianBlur", "kernel_size sigma"),
    "solarize": ("RandomSolarize", "threshold p"),
    "posterize": ("RandomPosterize", "bits p"),
    "equalize": ("RandomEqualize", "p"),
    "autocontrast": ("RandomAutocontrast", "p"),
    "invert": ("RandomInvert", "p"),
    "sharpness": ("RandomAdjustSharpness", "sharpness_factor p"),
    "pad": ("Pad", "padding fill padding_mode"),
    "random_erasing": ("RandomErasing", "p scale ratio value inplace"),
    "rand_augment": ("RandAugment", "num_ops magnitude num_magnitude_bins interpolation fill"),
    "trivial_augment": ("TrivialAugmentWide", "num_magnitude_bins interpolation fill"),
    "rotate": ("RandomRotation", "degrees interpolation expand center fill"),
    "affine": ("RandomAffine", "degrees translate scale shear interpolation fill center"),
    "perspective": ("RandomPerspective", "distortion_scale p interpolation fill"),
}
RENAMED = {"filter": "interpolation", "mode": "padding_mode", "kernel": "kernel_size", "factor": "sharpness_factor",
           "n": "num_ops", "m": "magnitude", "bins": "num_magnitude_bins", "distortion": "distortion_scale"}
OWN = ("normalize", "mixup", "cutmix")  # their first argument is ours: the preset, alpha
VALUES = {"size": "4", "scale": "[0.5, 1]", "ratio": "[0.5, 2]", "kernel": "3", "filter": "bilinear", "max_size": "none",
          "antialias": "false", "mode": "edge", "expand": "false", "translate": "[0.1, 0.1]", "shear": "5", "degrees": "10",
          "preset": "imagenet", "padding": "1", "fill": "1", "n": "1", "m": "3", "bins": "31", "bits": "4", "hue": "0.1"}
OWN_VALUES = {"pad": ["1", "1", "constant"], "random_erasing": ["0.5", "[0.5, 1]", "[0.5, 2]", "7"]}


class Positional(ShellTest):
    def table(self):
        return {row["name"]: row["arguments"] for row in json.loads(self.ok("transforms", "--json"))}

    @staticmethod
    def by_place(arguments):
        return [argument["name"] for argument in arguments if not argument["type"].endswith(", by name")]

    def test_they_are_in_torchvisions_order(self):
        for name, arguments in self.table().items():
            if name not in TORCHVISION or name in OWN:
                continue
            theirs = TORCHVISION[name][1].split()
            ours = [RENAMED.get(argument, argument) for argument in self.by_place(arguments)]
            self.assertEqual(ours, theirs[:len(ours)], name)

    def test_all_of_torchvision_are_compared(self):
        source = {row["name"]: row["source"] for row in json.loads(self.ok("transforms", "--json"))}
        self.assertEqual({name for name, text in source.items() if "torchvision.transforms.v2" in text} - {"scale"}, set(TORCHVISION))

    def test_given_by_place_they_are_what_they_are_by_name(self):
        self.npy("a.npy", "|u1", (6, 8, 8, 3), bytes(i * 37 % 256 for i in range(6 * 8 * 8 * 3)))
        for name, arguments in self.table().items():
            if name not in TORCHVISION or name in ("mixup", "cutmix"):  # those need labels
                continue
            names = self.by_place(arguments)
            values = [VALUES.get(argument, "0.5") for argument in names]
            if name in OWN_VALUES:
                values = OWN_VALUES[name]
            call = {"place": f"{name}({', '.join(values)})",
                    "name": f"{name}({', '.join(f'{key}={value}' for key, value in zip(names, values))})"}
            out = [self.ok("cat", "npy:a.npy?axes=HWC", "--transform", text) for text in call.values()]
            self.assertEqual(out[0], out[1], call)
            more = len(names) < len(arguments)
            wrong = f"{name}: expected {'a name here' if more else 'no more arguments than ' + ', '.join(names)}.*got '7'"
            numbers = rf"{name}: {names[-1]}: expected a list, got 2 numbers: write {name}\(.*\[.*, 7\]\)"
            self.fails(2, "cat", "npy:a.npy?axes=HWC", "--transform", f"{name}({', '.join([*values, '7'])})",
                       says=f"{wrong}|{numbers}")

    def test_torchvision_still_has_these_arguments(self):
        try:
            from torchvision.transforms import v2
        except ImportError as missing:
            raise unittest.SkipTest(f"{missing}: compared with the list of 0.29.2 alone")
        for name, arguments in TORCHVISION.values():
            found = [key for key, one in inspect.signature(getattr(v2, name)).parameters.items()
                     if one.kind is one.POSITIONAL_OR_KEYWORD]
            self.assertEqual(found, arguments.split(), name)


if __name__ == "__main__":
    shell.main()
