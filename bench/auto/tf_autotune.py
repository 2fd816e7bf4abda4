#!/usr/bin/env python3
"""tf.data's AUTOTUNE beside a grid of fixed settings, on the jobs of `dataline_auto`: what it reaches after five seconds, as a
share of the best of the grid. Run by the environment of `bench/peers/setup.sh tf`:

  build/peers/tf/bin/python bench/auto/tf_autotune.py MNIST-DIR PHOTO-DIR [JOB]

SPDX-License-Identifier: Apache-2.0
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import gzip
import pathlib
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

AUTO = tf.data.AUTOTUNE
WHOLE = tf.constant([0.0, 0.0, 1.0, 1.0], shape=[1, 1, 4])
MEAN, STD = tf.constant([123.675, 116.28, 103.53]), tf.constant([58.395, 57.12, 57.375])


def crop(path):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data), WHOLE, area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.resize(tf.image.decode_and_crop_jpeg(data, window, channels=3), [224, 224], method="bilinear")
    return tf.transpose((tf.image.random_flip_left_right(image) - MEAN) / STD, [2, 0, 1])


def photographs(folder):
    paths = sorted(str(path) for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))

    def made(calls, depth):
        data = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths)).repeat()
        return data.map(crop, num_parallel_calls=calls, deterministic=True).batch(16).prefetch(depth)
    return made


def rows(folder):
    named = pathlib.Path(folder) / "train-images-idx3-ubyte"
    data = named.read_bytes() if named.exists() else gzip.open(f"{named}.gz").read()
    images = np.frombuffer(data, np.uint8, offset=16).reshape(-1, 784)

    # Rows by their numbers, which is faster than shuffling the rows.
    def made(calls, depth):
        numbers = tf.data.Dataset.range(len(images)).shuffle(len(images)).repeat().batch(256)
        held = tf.constant(images)
        return numbers.map(lambda at: tf.gather(held, at), num_parallel_calls=calls, deterministic=True).prefetch(depth)
    return made


def slow_storage(_):
    def read(numbers):
        time.sleep(0.004)
        return numbers

    def made(calls, depth):
        numbers = tf.data.Dataset.range(1_000_000).repeat().batch(16)
        return numbers.map(lambda at: tf.numpy_function(read, [at], tf.int64), num_parallel_calls=calls,
                           deterministic=True).prefetch(depth)
    return made


def compute(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


class Run:
    def __init__(self, dataset, step):
        self.batches, self.step = iter(dataset), step

    def rate(self, seconds):
        begun, count = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            next(self.batches)
            self.step()
            count += 1
        return count / (time.perf_counter() - begun)


def compare(name, made, step):
    best, best_at = 0.0, None
    for calls in (1, 2, 4, 8):
        for depth in (1, 4, 16):
            run = Run(made(calls, depth), step)
            run.rate(0.5)
            rate = run.rate(1)
            if rate > best:
                best, best_at = rate, (calls, depth)
    tuned, still = Run(made(AUTO, AUTO), step), Run(made(*best_at), step)
    first = tuned.rate(5)
    still.rate(0.5)
    shares = sorted(tuned.rate(1) / still.rate(1) for _ in range(7))
    print(f"tf.data {name}\tbest {best_at[0]} calls, depth {best_at[1]}: {best:.1f} batches/s; AUTOTUNE: {first:.1f} in its "
          f"first 5 s, then {statistics.median(shares):.3f} of the best ({shares[0]:.3f} to {shares[-1]:.3f})", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mnist, photos = sys.argv[1:3]
    nothing = lambda: None
    jobs = {
        "rows": (rows, mnist, nothing),
        "rows, a step of 1 ms": (rows, mnist, lambda: compute(0.001)),
        "photographs": (photographs, photos, nothing),
        "photographs, an accelerator of 5 ms": (photographs, photos, lambda: time.sleep(0.005)),
        "photographs, a slow consumer of 60 ms": (photographs, photos, lambda: time.sleep(0.060)),
        "slow storage": (slow_storage, "", lambda: time.sleep(0.0005)),
        "slow storage, a step of 2 ms": (slow_storage, "", lambda: compute(0.002)),
    }
    for name, (source, folder, step) in jobs.items():
        if len(sys.argv) < 4 or sys.argv[3] == name:
            compare(name, source(folder), step)


if __name__ == "__main__":
    main()
