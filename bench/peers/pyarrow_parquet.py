"""Parquet by pyarrow: windows of row groups that are read and permuted together, and a dataset's batches through a buffer of as many rows,
with both threads of the machine; and by Hugging Face `datasets`: streamed with a buffer, and converted to Arrow first, as it does unless
it is told to stream. Photographs are decoded and transformed by torchvision, by two threads or under PyTorch's DataLoader.
SPDX-License-Identifier: Apache-2.0
"""
import os
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import torch
from torch.utils.data import DataLoader

import photos
from contender import BATCH_SIZE, DOCUMENT_BATCH_SIZE, Variant, check_documents, joined, main
from parquet_sets import (CHOSEN, DOCUMENT_GROUP, DOCUMENT_WINDOW, NUMBER_GROUP, NUMBER_WINDOW, PHOTO_WINDOW, check_numbers, joined_lists,
                          write_documents, write_numbers, write_photos)
from photo_tensors import from_bytes

torch.set_num_threads(1)
pa.set_cpu_count(os.cpu_count() or 1)
pa.set_io_thread_count(os.cpu_count() or 1)
datasets.disable_progress_bars()


def windows(path, columns, groups_at_once, batches):
    """Epochs: `batches` cuts a table of the row groups of a window, by a permutation, into batches."""
    groups = pq.ParquetFile(path).num_row_groups

    def epoch(number):
        rng = np.random.default_rng(number)
        file, order = pq.ParquetFile(path, memory_map=True), rng.permutation(groups).tolist()
        for at in range(0, groups, groups_at_once):
            table = file.read_row_groups(order[at:at + groups_at_once], columns=columns).combine_chunks()
            yield from batches(table, rng.permutation(len(table)))
    return epoch


def scanned(path, columns, buffer_rows, batches):
    """Epochs of a dataset in its own order, through a buffer of rows that is emptied when it is full."""
    def epoch(number):
        rng, kept, rows = np.random.default_rng(number), [], 0
        for batch in pyarrow.dataset.dataset(path, format="parquet").to_batches(columns=columns, batch_size=buffer_rows // 4):
            kept.append(batch)
            rows += len(batch)
            if rows >= buffer_rows:
                yield from batches(pa.Table.from_batches(kept).combine_chunks(), rng.permutation(rows))
                kept, rows = [], 0
        if kept:
            yield from batches(pa.Table.from_batches(kept).combine_chunks(), rng.permutation(rows))
    return epoch


def streamed(path, columns, batch_size):
    def epoch(number):
        stream = datasets.load_dataset("parquet", data_files=path, split="train", streaming=True, columns=columns)
        return stream.with_format("numpy").shuffle(seed=number, buffer_size=10_000).batch(batch_size)
    return epoch


def pieces(order, size):
    return (order[at:at + size] for at in range(0, len(order), size))


def numbers(settings):
    path, check = settings.stored_path("parquet"), check_numbers(settings)

    def batches(table, order):
        arrays = [table[name].to_numpy() for name in CHOSEN]
        return (tuple(array[chosen] for array in arrays) for chosen in pieces(order, BATCH_SIZE))
    plain = lambda batch: tuple(np.asarray(part) for part in batch)
    stream = streamed(path, CHOSEN, BATCH_SIZE)
    return [Variant("pyarrow row groups", windows(path, CHOSEN, NUMBER_WINDOW, batches), plain, check),
            Variant("pyarrow dataset", scanned(path, CHOSEN, NUMBER_WINDOW * NUMBER_GROUP, batches), plain, check),
            Variant("datasets streaming", lambda number: (tuple(batch[name] for name in CHOSEN) for batch in stream(number)), plain, check)]


def documents(settings):
    path, check = settings.stored_path("parquet_tokens"), check_documents(settings)

    def batches(table, order):
        lists = table["tokens"].combine_chunks()
        lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
        return (joined_lists(lists.take(pa.array(chosen))) for chosen in pieces(order, DOCUMENT_BATCH_SIZE))
    stream = streamed(path, ["tokens"], DOCUMENT_BATCH_SIZE)
    same = lambda batch: batch
    return [Variant("pyarrow row groups", windows(path, ["tokens"], DOCUMENT_WINDOW, batches), same, check),
            Variant("pyarrow dataset", scanned(path, ["tokens"], DOCUMENT_WINDOW * DOCUMENT_GROUP, batches), same, check),
            Variant("datasets streaming", lambda number: (joined(batch["tokens"]) for batch in stream(number)), same, check)]


def images(settings):
    source, path = photos.Photos(settings), settings.stored_path("parquet_images")
    check = source.check()
    pool = ThreadPoolExecutor(2)

    def batches(table, order):
        files, labels = table["image"].combine_chunks(), table["label"].to_numpy()
        for chosen in pieces(order, photos.BATCH_SIZE):
            pictures = pool.map(lambda at: from_bytes(files[at].as_buffer()), chosen.tolist())
            yield torch.stack(list(pictures)), torch.from_numpy(labels[chosen])
    table = datasets.Dataset.from_parquet(path, cache_dir=os.path.join(settings.data_dir, "datasets"))
    table = table.with_transform(lambda rows: {"image": [from_bytes(data) for data in rows["image"]], "label": rows["label"]})

    def loader(workers):
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        return DataLoader(table, batch_size=photos.BATCH_SIZE, shuffle=True, num_workers=workers, **more)
    plain = lambda batch: (batch[0].numpy(), batch[1].numpy())
    named = lambda batch: (batch["image"].numpy(), batch["label"].numpy())
    return [photos.variant("pyarrow and torchvision 2", windows(path, ["image", "label"], PHOTO_WINDOW, batches), plain, check),
            *(photos.variant(f"datasets w{workers}", lambda _, each=loader(workers): iter(each), named, check) for workers in (0, 2))]


if __name__ == "__main__":
    main({"parquet": numbers, "parquet_tokens": documents, "parquet_images": images},
         {name: version(name) for name in ("pyarrow", "datasets", "torchvision")},
         {"parquet": write_numbers, "parquet_tokens": write_documents,
          "parquet_images": lambda settings, path: write_photos(photos.Photos(settings), settings, path)})
