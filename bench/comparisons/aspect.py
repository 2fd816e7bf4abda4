"""Batches by aspect ratio on photographs: how much of each picture is cut off, and how many a second come out. Needs the
dataline package and NumPy.

Every variant decodes the photographs of FOLDER (`folder:`), covers a shape with each, crops its middle, flips and normalises,
in batches of 32 on one thread. The shapes have about 224 x 224 pixels. `images_per_cpu_s`: in a second of the process's CPU time.
`cut_off_percent` is the share of the pictures' area outside the crops; `opening_ms` is the time to make the loader, which with shapes
reads the headers of all pictures. The note: how much of a batch would be padding if the shorter side of each picture were 224
and 32 of them padded to the highest and the widest, as collate functions of variable images do.

SPDX-License-Identifier: Apache-2.0
"""

import time

import dataline
import numpy as np

from turns import Group, each

SHAPES = ["224x224", "176x288", "192x256", "208x240", "240x208", "256x192", "288x176"]
BATCH = 32
LIST = "normalize(imagenet), chw"


def loader_of(folder, shapes):
    return dataline.Loader(f"folder:{folder}", batch_size=BATCH, shuffle=True, seed=1, num_workers=0, bucket_by="aspect",
                           bucket_edges=",".join(shapes), transform=f"image: decode, resize(bucket), hflip, {LIST}")


def sizes_and_shapes(folder, shapes):
    """Of each picture, height, width, and those of its row."""
    rows = []
    for batch in loader_of(folder, shapes):
        height, width = batch["image"].shape[2:]
        rows += [(int(h), int(w), height, width) for h, w in batch["size"]]
    return np.array(rows, np.float64)


def cut_off(rows):
    h, w, height, width = rows.T
    scale = np.maximum(height / h, width / w)
    return 1 - (height * width).sum() / (h * w * scale * scale).sum()


def padded(rows):
    sizes = rows[:, :2] * 224 / rows[:, :2].min(axis=1, keepdims=True)
    np.random.default_rng(0).shuffle(sizes)
    parts = [sizes[at:at + BATCH] for at in range(0, len(sizes), BATCH)]
    return 1 - sizes.prod(axis=1).sum() / sum(len(part) * part.max(axis=0).prod() for part in parts)


def endless(loader):
    while True:
        yield from loader


def measure(batches, seconds):
    count, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        count += next(batches)["image"].shape[0]
    return {"images_per_cpu_s": count / (time.process_time() - begin)}


def opening_ms(folder, shapes):
    begin = time.perf_counter()
    loader_of(folder, shapes).close()
    return 1e3 * (time.perf_counter() - begin)


def arguments(parser):
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=1.0, help="of CPU time, for each variant in each round")


def groups(asked):
    variants = {"one shape": SHAPES[:1], f"{len(SHAPES)} shapes": SHAPES}
    batches = {name: endless(loader_of(asked.folder, shapes)) for name, shapes in variants.items()}
    for made in batches.values():
        next(made)
    rows = {name: sizes_and_shapes(asked.folder, shapes) for name, shapes in variants.items()}
    plain = rows["one shape"]
    yield Group("aspect", each({name: lambda made=made: measure(made, asked.seconds) for name, made in batches.items()}),
                once=lambda: {name: {"cut_off_percent": [100 * cut_off(rows[name])], "opening_ms": [opening_ms(asked.folder, shapes) for _ in range(5)]}
                              for name, shapes in variants.items()},
                notes=[f"{len(plain)} photographs, resized to a shorter side of 224. Padding each batch of {BATCH} to its largest photograph: {100 * padded(plain):.1f} %"])
