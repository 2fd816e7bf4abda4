"""Ray Data on the sets of parquet_sets.py: files read by its tasks on two CPUs, iter_batches with a local shuffle buffer as large as the
other loaders' windows, four batches ahead. Photographs are decoded by Pillow in map_batches.
SPDX-License-Identifier: Apache-2.0
"""
import io
import logging
import os
import random
from importlib.metadata import version

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import numpy as np
import ray
from PIL import Image

import photos
from contender import BATCH_SIZE, DOCUMENT_BATCH_SIZE, Variant, check_documents, joined, main
from parquet_sets import CHOSEN, DOCUMENT_GROUP, DOCUMENT_WINDOW, NUMBER_GROUP, NUMBER_WINDOW, PHOTO_GROUP, PHOTO_WINDOW, check_numbers

logging.getLogger("ray").setLevel(logging.ERROR)
logging.getLogger("ray.data").setLevel(logging.ERROR)


def start():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=2 << 30,
             runtime_env={"env_vars": {"PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}})
    ray.data.DataContext.get_current().enable_progress_bars = False


def epochs(dataset, batch_size, buffer_rows, made=lambda batch: batch):
    def epoch(number):
        batches = dataset.iter_batches(batch_size=batch_size, batch_format="numpy", prefetch_batches=4,
                                       local_shuffle_buffer_size=buffer_rows, local_shuffle_seed=number)
        return (made(batch) for batch in batches)
    return epoch


def numbers(settings):
    start()
    dataset = ray.data.read_parquet(settings.stored_path("parquet"), columns=CHOSEN)
    return [Variant("ray data", epochs(dataset, BATCH_SIZE, NUMBER_WINDOW * NUMBER_GROUP, lambda batch: tuple(batch[name] for name in CHOSEN)),
                    lambda batch: batch, check_numbers(settings))]


def documents(settings):
    start()
    dataset = ray.data.read_parquet(settings.stored_path("parquet_tokens"), columns=["tokens"])
    return [Variant("ray data", epochs(dataset, DOCUMENT_BATCH_SIZE, DOCUMENT_WINDOW * DOCUMENT_GROUP, lambda batch: joined(batch["tokens"])),
                    lambda batch: batch, check_documents(settings))]


def picture(data):
    image = Image.open(io.BytesIO(data))
    x, y, width, height = photos.draw_crop(*image.size)
    image = image.convert("RGB").resize((photos.SIDE, photos.SIDE), Image.Resampling.BILINEAR, (x, y, x + width, y + height))
    values = np.asarray(image, np.float32)
    if random.random() < 0.5:
        values = values[:, ::-1]
    return np.ascontiguousarray((values * photos.SCALE + photos.BIAS).transpose(2, 0, 1))


def pictures(batch):
    return {"image": np.stack([picture(data) for data in batch["image"]]), "label": batch["label"]}


def images(settings):
    start()
    check = photos.Photos(settings).check()
    dataset = ray.data.read_parquet(settings.stored_path("parquet_images"))
    dataset = dataset.map_batches(pictures, batch_size=photos.BATCH_SIZE)
    return [photos.variant("ray data", epochs(dataset, photos.BATCH_SIZE, PHOTO_WINDOW * PHOTO_GROUP), lambda batch: (batch["image"], batch["label"]), check)]


if __name__ == "__main__":
    main({"parquet": numbers, "parquet_tokens": documents, "parquet_images": images}, {name: version(name) for name in ("ray", "pyarrow")})
