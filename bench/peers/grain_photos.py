"""Grain on photographs: a source of paths, shuffled, decoded and cropped by OpenCV in a random map, batched; read by
threads or worker processes.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
from importlib.metadata import version

import grain.python as grain
import numpy as np

from contender import main
from opencv_photos import decode_opencv, finish
from photos import BATCH_SIZE, SIDE, Photos, variant


def dataset(source, how):
    def load(at):
        out = np.empty((3, SIDE, SIDE), np.float32)
        finish(decode_opencv(source.paths[at]), out)
        return out, source.labels[at]

    made = grain.MapDataset.range(len(source)).shuffle(seed=1).map(load).batch(BATCH_SIZE).repeat()
    if how == "1":
        return made.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))
    if how == "threads 2":
        return made.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=4))
    return made.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)).mp_prefetch(
        grain.MultiprocessingOptions(num_workers=2, per_worker_buffer_size=2))


def epochs(source, how):
    opened = []

    def epoch(_):
        if not opened:
            opened.append(iter(dataset(source, how)))
        return itertools.islice(opened[0], -(-len(source) // BATCH_SIZE))
    return epoch


def photos(settings):
    source = Photos(settings)
    return [variant(f"grain {how}", epochs(source, how), lambda batch: (np.asarray(batch[0]), np.asarray(batch[1])),
                    source.check()) for how in ("1", "threads 2", "processes 2")]


if __name__ == "__main__":
    main({"photos": photos}, {"grain": version("grain"), "opencv": version("opencv-python-headless")})
