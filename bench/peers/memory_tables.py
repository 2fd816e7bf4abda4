"""A table in memory, of one chunk: bare NumPy on its arrays (a limit, not a loader), pyarrow's own take of a batch's rows, and Hugging
Face `datasets`, as arrays of NumPy, under PyTorch's DataLoader with whole batches asked for, and as the IterableDataset that its
documentation has for speed, whose shuffle draws from a buffer. DataLoaders keep their workers.
SPDX-License-Identifier: Apache-2.0
"""
from importlib.metadata import version

import datasets
import numpy as np
import pyarrow as pa
import torch
from torch.utils.data import DataLoader

from contender import BATCH_SIZE, ROW_BYTES, Variant, check_labelled, labels_of, main

torch.set_num_threads(1)
pa.set_cpu_count(1)
datasets.disable_progress_bars()
SHARDS, BUFFER = 64, 10_000


def orders(count):
    """Of each epoch one, in batches."""
    rng = np.random.default_rng(0)

    def epoch():
        order = rng.permutation(count)
        return (order[at:at + BATCH_SIZE] for at in range(0, count, BATCH_SIZE))
    return epoch


def numpy_take(images, labels):
    order = np.random.default_rng(0).permutation(len(images))
    some, their = np.empty((BATCH_SIZE, ROW_BYTES), np.uint8), np.empty(BATCH_SIZE, np.int64)

    def epoch(_):
        for at in range(0, len(order), BATCH_SIZE):
            chosen = order[at:at + BATCH_SIZE]
            # mode: the default `raise` goes through a buffer of its own.
            yield (np.take(images, chosen, axis=0, out=some[:len(chosen)], mode="clip"),
                   np.take(labels, chosen, out=their[:len(chosen)], mode="clip"))
    return epoch


def arrays_of(table):
    rows = {name: table[name].combine_chunks().flatten() for name in ("image", "label")}
    return {"image": rows["image"].flatten().to_numpy().reshape(-1, ROW_BYTES), "label": rows["label"].to_numpy()}


def streamed(made, workers):
    """A table a batch, of one row of lists: a format of arrays makes 64-bit numbers of them, and takes four times as long."""
    stream = made.to_iterable_dataset(num_shards=SHARDS).with_format("arrow")
    stream = stream.shuffle(seed=0, buffer_size=BUFFER).batch(BATCH_SIZE)
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    loader = DataLoader(stream, batch_size=None, collate_fn=arrays_of, num_workers=workers, **more)

    def epoch(number):
        stream.set_epoch(number)
        return iter(loader)
    return epoch


def arrow_memory(settings):
    rows = settings.rows("arrow_memory")
    labels, check = labels_of(rows), check_labelled(rows)
    images = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), ROW_BYTES)
    table = pa.table({"image": images, "label": pa.array(labels)})
    made = datasets.Dataset(datasets.table.InMemoryTable(table))
    epoch = orders(len(rows))

    def take(chosen):
        part = table.take(pa.array(chosen))
        return part["image"].chunk(0).flatten().to_numpy().reshape(-1, ROW_BYTES), part["label"].chunk(0).to_numpy()

    def indexed(workers):
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        loader = DataLoader(tensors, batch_size=BATCH_SIZE, shuffle=True, num_workers=workers, **more)
        return lambda _: iter(loader)
    arrays = made.with_format("numpy", dtype=np.uint8)
    tensors = made.with_format("torch", dtype=torch.uint8)
    plain = lambda batch: (np.asarray(batch["image"]), np.asarray(batch["label"]))
    return [Variant("numpy take", numpy_take(rows, labels), lambda batch: batch, check),
            Variant("pyarrow take", lambda _: map(take, epoch()), lambda batch: batch, check),
            Variant("datasets numpy", lambda _: (arrays[chosen] for chosen in epoch()), plain, check)] + [
        Variant(f"datasets {kind} w{workers}", make(workers), plain, check)
        for kind, make in (("torch", indexed), ("streamed", lambda workers: streamed(made, workers))) for workers in (0, 2)]


if __name__ == "__main__":
    main({"arrow_memory": arrow_memory}, {name: version(name) for name in ("numpy", "pyarrow", "datasets", "torch")})
