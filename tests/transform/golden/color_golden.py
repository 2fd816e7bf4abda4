#!/usr/bin/env python3
"""Golden vectors of the colour operators: what torchvision.transforms.v2.functional makes of uint8 tensors.

    color_golden.py                        writes color.txt and color.bin beside this file
    color_golden.py --check TEST...        compares them with what this torchvision makes, byte for byte, then makes the same
                                           of larger images and gives them to the built tests; 77: no torchvision here

vectors.py says what the files hold. The vectors kept here were made by torchvision 0.29.2, torch 2.15.0.
"""
# SPDX-License-Identifier: Apache-2.0
import vectors

try:
    import numpy
    import torch
    from torchvision.transforms.v2 import RandAugment, TrivialAugmentWide
    from torchvision.transforms.v2 import functional as F
except ImportError:
    vectors.use_installed("torchvision.transforms.v2")

BINS = 31


def inputs(large):
    """Noise, a picture of smooth shapes with grey and flat parts, a dull one, and grey ones."""
    height, width = (211, 317) if large else (15, 19)
    random = numpy.random.default_rng(7)
    y, x = numpy.mgrid[0:height, 0:width]
    noise = random.integers(0, 256, (height, width, 3))
    smooth = numpy.stack([255 * x / (width - 1), 255 * y / (height - 1), 127 + 120 * numpy.sin(x / 5 + y / 7)], 2)
    smooth[: height // 3] = smooth[: height // 3, :, :1]  # grey
    smooth[-height // 5 :, : width // 3] = (12, 200, 77)  # flat
    dull = 90 + noise % 37 + 20 * (numpy.arange(3) == 1)
    images = {"noise": noise, "smooth": smooth, "dull": dull, "flat": numpy.full((height, width, 3), 141),
              "gray": smooth[..., 2:], "dull_gray": dull[..., :1]}
    return {name: image.astype(numpy.uint8) for name, image in images.items()}


def cases(images):
    for factor in (0.0, 0.4, 1.0, 1.3, 2.7):
        for name in ("noise", "smooth", "gray"):
            yield "brightness", (factor,), name, lambda t, f=factor: F.adjust_brightness(t, f)
            yield "contrast", (factor,), name, lambda t, f=factor: F.adjust_contrast(t, f)
            yield "saturation", (factor,), name, lambda t, f=factor: F.adjust_saturation(t, f)
            yield "sharpness", (factor,), name, lambda t, f=factor: F.adjust_sharpness(t, f)
    for shift in (-0.5, -0.31, -0.1, 0.0, 0.07, 0.25, 0.5):
        for name in ("noise", "smooth"):
            yield "hue", (shift,), name, lambda t, s=shift: F.adjust_hue(t, s)
    yield "hue", (0.2,), "gray", lambda t: F.adjust_hue(t, 0.2)
    for name in ("noise", "smooth", "gray"):
        yield "grayscale", (3,), name, lambda t: F.rgb_to_grayscale(t, 3)
        yield "grayscale", (1,), name, lambda t: F.rgb_to_grayscale(t, 1)
        yield "invert", (), name, F.invert
        for threshold in (0.0, 100.5, 128.0, 255.0):
            yield "solarize", (threshold,), name, lambda t, v=threshold: F.solarize(t, v)
    for bits in (0, 1, 4, 7, 8):
        yield "posterize", (bits,), "noise", lambda t, b=bits: F.posterize(t, b)
    for name in images:
        yield "equalize", (), name, F.equalize
        yield "autocontrast", (), name, F.autocontrast
    for kernel, sigma in (((3, 3), 0.5), ((9, 5), 2.0), ((1, 7), 1.3), ((21, 21), 0.1), ((23, 21), 2.0)):
        for name in ("noise", "smooth", "gray"):
            yield ("blur", (*kernel, sigma), name,
                   lambda t, k=kernel, s=sigma: F.gaussian_blur(t, list(k), [s, s]))
    for mode in ("constant", "edge", "reflect", "symmetric"):
        for name in ("smooth", "gray"):
            fill = [9] if name == "gray" else [9, 200, 31]
            yield ("pad", (3, 0, 5, 7, mode), name,
                   lambda t, m=mode, f=fill: F.pad(t, [3, 0, 5, 7], fill=f if m == "constant" else 0, padding_mode=m))
    yield from policies()


def policies():
    for space, policy in (("rand", RandAugment()), ("wide", TrivialAugmentWide())):
        names = list(policy._AUGMENTATION_SPACE)
        for place, operator in enumerate(names):
            magnitudes, signed = policy._AUGMENTATION_SPACE[operator]
            for step in ((9,) if space == "rand" else (3, 20)):
                for sign in (1, -1) if signed else (1,):
                    for interpolation in ("nearest", "bilinear") if 1 <= place <= 5 else ("nearest",):
                        def apply(t, operator=operator, magnitudes=magnitudes, step=step, sign=sign, i=interpolation):
                            values = magnitudes(BINS, t.shape[-2], t.shape[-1])
                            value = 0.0 if values is None else sign * float(values[step])
                            fill = {torch.Tensor: [20, 40, 60]} if i == "bilinear" else {torch.Tensor: None}
                            return policy._apply_image_or_video_transform(t, operator, value, i, fill)
                        yield f"policy_{space}", (place, step, sign, interpolation), "smooth", apply


def make(large):
    torch.set_num_threads(1)
    made = vectors.Vectors()
    images = inputs(large)
    for name, image in images.items():
        made.add(name, (), "-", image)
    for operator, arguments, name, function in cases(images):
        tensor = torch.from_numpy(images[name]).permute(2, 0, 1).contiguous()
        made.add(operator, arguments, name, function(tensor).permute(1, 2, 0).contiguous().numpy())
    for space, policy in (("rand", RandAugment()), ("wide", TrivialAugmentWide())):
        for place, (magnitudes, _) in enumerate(policy._AUGMENTATION_SPACE.values()):
            values = magnitudes(BINS, 224, 333)
            if values is not None:
                made.add_numbers(f"magnitudes_{space}", (place,), values)
    return made


if __name__ == "__main__":
    vectors.main("color", make)
