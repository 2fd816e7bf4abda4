"""LanceDB's StreamingDataset on the sets of parquet_sets.py, as tables of its own format: rows are shuffled in clumps of 64 (of 16
photographs), which is what its documentation advises where reading costs, read and transformed by its threads; under PyTorch's DataLoader, 0 and 2 workers.
SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
from importlib.metadata import version

import lancedb
import numpy as np
import pyarrow.parquet as pq
import torch
from lancedb.streaming import StreamingDataset
from torch.utils.data import DataLoader

import photos
from contender import BATCH_SIZE, DOCUMENT_BATCH_SIZE, Variant, check_documents, joined, main
from parquet_sets import CHOSEN, check_numbers
from photo_tensors import from_bytes

torch.set_num_threads(1)
CLUMP, PHOTO_CLUMP = 64, 16


def table_of(settings, row):
    """Made once, out of the Parquet file."""
    folder, path = os.path.join(settings.data_dir, "lance"), settings.stored_path(row)
    name = os.path.basename(path).replace(".", "_")
    database = lancedb.connect(folder)
    if not os.path.exists(os.path.join(folder, f"{name}.lance", "ready")):
        shutil.rmtree(os.path.join(folder, f"{name}.lance"), ignore_errors=True)
        database.create_table(name, pq.read_table(path, columns=CHOSEN if row == "parquet" else None))
        with open(os.path.join(folder, f"{name}.lance", "ready"), "w"):
            pass
    return database.open_table(name)


def epochs(table, columns, transform, batch_size, workers, collate, clump=CLUMP):
    def epoch(number):
        dataset = StreamingDataset(table, num_splits=max(workers, 1), shuffle_seed=number, columns=columns, transform=transform,
                                   shuffle_clump_size=clump, read_batch_size=256)
        more = {"multiprocessing_context": "spawn"} if workers else {}
        return iter(DataLoader(dataset, batch_size=batch_size, num_workers=workers, collate_fn=collate, **more))
    return epoch


def number_rows(batch):
    return np.stack([batch.column(name).to_numpy() for name in CHOSEN], axis=1)


def number_batch(rows):
    return torch.from_numpy(np.stack(rows))


def numbers(settings):
    table, check = table_of(settings, "parquet"), check_numbers(settings)
    return [Variant(f"lancedb w{workers}", epochs(table, CHOSEN, number_rows, BATCH_SIZE, workers, number_batch),
                    lambda batch: tuple(np.ascontiguousarray(batch.numpy().T)), check) for workers in (0, 2)]


def token_rows(batch):
    lists = batch.column("tokens")
    return np.split(lists.flatten().to_numpy(), lists.offsets.to_numpy()[1:-1] - lists.offsets[0].as_py())


def token_batch(rows):
    return tuple(map(torch.from_numpy, joined(rows)))


def documents(settings):
    table, check = table_of(settings, "parquet_tokens"), check_documents(settings)
    return [Variant(f"lancedb w{workers}", epochs(table, ["tokens"], token_rows, DOCUMENT_BATCH_SIZE, workers, token_batch),
                    lambda batch: tuple(part.numpy() for part in batch), check) for workers in (0, 2)]


def photo_rows(batch):
    files, labels = batch.column("image"), batch.column("label").to_pylist()
    return [(from_bytes(files[at].as_buffer()), label) for at, label in enumerate(labels)]


def photo_batch(rows):
    return torch.stack([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


def images(settings):
    table, check = table_of(settings, "parquet_images"), photos.Photos(settings).check()
    return [photos.variant(f"lancedb w{workers}", epochs(table, ["image", "label"], photo_rows, photos.BATCH_SIZE, workers, photo_batch, PHOTO_CLUMP),
                           lambda batch: tuple(part.numpy() for part in batch), check) for workers in (0,)]


if __name__ == "__main__":
    main({"parquet": numbers, "parquet_tokens": documents, "parquet_images": images},
         {name: version(name) for name in ("lancedb", "pylance")})
