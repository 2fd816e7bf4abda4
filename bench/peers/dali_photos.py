"""DALI on the CPU, as its ImageNet example has it: readers.file, decoders.image_random_crop (only the rectangle is
decoded), resize, crop_mirror_normalize.
SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types

from contender import main
from photos import BATCH_SIZE, DEVIATION, MEAN, SIDE, Photos, variant


def graph(folder, threads):
    @pipeline_def(batch_size=BATCH_SIZE, num_threads=threads, device_id=None, prefetch_queue_depth=4, exec_async=True,
                  exec_pipelined=True)
    def build():
        files, labels = fn.readers.file(file_root=folder, shuffle_after_epoch=True, pad_last_batch=True, name="files")
        images = fn.decoders.image_random_crop(files, device="cpu", output_type=types.RGB, random_area=[0.08, 1.0],
                                               random_aspect_ratio=[3 / 4, 4 / 3], num_attempts=10)
        images = fn.resize(images, size=[SIDE, SIDE], interp_type=types.INTERP_LINEAR, antialias=True)
        images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW",
                                          mean=[255 * value for value in MEAN], std=[255 * value for value in DEVIATION],
                                          mirror=fn.random.coin_flip(probability=0.5))
        return images, labels
    made = build()
    made.build()
    return made


def epochs(source, threads):
    made, steps = [], -(-len(source) // BATCH_SIZE)

    def epoch(_):
        if not made:
            made.append(graph(source.folder, threads))
        for _ in range(steps):
            images, labels = made[0].run()
            yield np.asarray(images.as_tensor()), np.asarray(labels.as_tensor())
    return epoch


def photos(settings):
    source = Photos(settings)
    return [variant(f"dali {threads}", epochs(source, threads), lambda batch: batch, source.check()) for threads in (1, 2)]


if __name__ == "__main__":
    main({"photos": photos}, {"dali": dali.__version__})
