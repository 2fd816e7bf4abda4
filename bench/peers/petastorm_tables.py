"""Petastorm on the sets of parquet_sets.py: make_batch_reader with row groups in random order, read by two threads, and its
BatchedDataLoader for PyTorch, whose queue shuffles as many rows as the other loaders' windows. It has nothing of the kind for lists.
SPDX-License-Identifier: Apache-2.0
"""
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")

import numpy as np
from petastorm import make_batch_reader
from petastorm.pytorch import BatchedDataLoader

from contender import BATCH_SIZE, Variant, main
from parquet_sets import CHOSEN, NUMBER_GROUP, NUMBER_WINDOW, check_numbers


def numbers(settings):
    url = f"file://{settings.stored_path('parquet')}"

    def epoch(number):
        reader = make_batch_reader(url, schema_fields=CHOSEN, shuffle_row_groups=True, seed=number, reader_pool_type="thread", workers_count=2,
                                   num_epochs=1)
        with BatchedDataLoader(reader, batch_size=BATCH_SIZE, shuffling_queue_capacity=NUMBER_WINDOW * NUMBER_GROUP) as loader:
            yield from loader
    return [Variant("petastorm", epoch, lambda batch: tuple(batch[name].numpy() for name in CHOSEN), check_numbers(settings))]


if __name__ == "__main__":
    main({"parquet": numbers}, {name: version(name) for name in ("petastorm", "pyarrow")})
