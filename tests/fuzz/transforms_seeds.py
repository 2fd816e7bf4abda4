"""Transforms as seeds.

SPDX-License-Identifier: Apache-2.0
"""

TEXTS = ["", "cast(f32)", "image: normalize(mnist), flatten; label: one_hot(10)", "x, y: cast(i64)", "decode, resize(256), center_crop(224), chw",
         "decode, random_resized_crop(224), hflip(0.5), normalize(imagenet), cast(f16), chw", "normalize(mean=[0.5, 0.5, 0.5], std=[0.2, 0.3, 0.4])",
         "image: decode(mode=gray), resize([32, 48], interpolation=nearest), scale(0.25)", "\"image\": cast(u16); \"label\": cast(f32), pad_to(4, value=-1)",
         "color_jitter(0.4, 0.4, 0.4, 0.1)", "reshape(8x24)", "reshape(3x64), cast(bf16)", "random_crop(4, padding=2)", "pad(2, fill=7), hwc",
         "random_erasing(0.5)", "gaussian_blur(3)", "mixup(0.2, classes=10)", "cutmix(1.0, classes=10)", "rand_augment", "cast(f32", "cast f32",
         "cast(f32),", "a: b: c", "cast(f32, f32)", "cast(dtype=f32, dtype=f32)", "resize(\"x)\")", "normalize(mean=1e999, std=0)", "one_hot([1, [2]])",
         "cast(3x4x5)", "hflip(nan)", "pad_to(9223372036854775807)", "reshape(9223372036854775807x2)"]


def seeds():
    for at, text in enumerate(TEXTS):
        yield f"text-{at:02}", text.encode()
