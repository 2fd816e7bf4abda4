"""Rows in an Arrow stream, memory-mapped: pyarrow's own take of a batch's rows, and Hugging Face `datasets` (which keeps its sets
so), as arrays of NumPy and under PyTorch's DataLoader, whole batches asked for. JSON lines and CSV: each line parsed when its
sample is wanted, by json, orjson, csv or NumPy, under PyTorch's DataLoader; and by `datasets`, which converts the file to Arrow first.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import json
import mmap
import os
import zlib
from importlib.metadata import version

import datasets
import numpy as np
import orjson
import pyarrow as pa
import torch
from torch.utils.data import DataLoader, Dataset

from contender import BATCH_SIZE, LABELS, ROW_BYTES, Check, Variant, check_labelled, labels_of, main

torch.set_num_threads(1)
pa.set_cpu_count(1)
datasets.disable_progress_bars()


def write(settings, path):
    rows = settings.rows("arrow")
    images = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), ROW_BYTES)
    table = pa.table({"image": images, "label": pa.array(labels_of(rows))})
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)  # as datasets' ArrowWriter does


def shuffled(count, fetch):
    """Batches of one permutation of NumPy's."""
    rng = np.random.default_rng(0)

    def epoch(_):
        order = rng.permutation(count)
        return (fetch(order[at:at + BATCH_SIZE]) for at in range(0, count, BATCH_SIZE))
    return epoch


def loader(dataset, workers, collate=None):
    more = {"persistent_workers": True} if workers else {}
    made = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, num_workers=workers, collate_fn=collate, **more)
    return lambda _: iter(made)


def arrow(settings):
    rows, path = settings.rows("arrow"), settings.stored_path("arrow")
    check = check_labelled(rows)
    table = pa.ipc.open_stream(pa.memory_map(path)).read_all().combine_chunks()

    def take(chosen):
        part = table.take(pa.array(chosen)).combine_chunks()
        images = part["image"].chunk(0).flatten().to_numpy()
        return images.reshape(-1, ROW_BYTES), part["label"].chunk(0).to_numpy()
    plain = lambda batch: (batch["image"], batch["label"])
    tensors = lambda batch: (batch["image"].numpy(), batch["label"].numpy())
    made = datasets.Dataset.from_file(path)
    as_numpy = made.with_format("numpy", dtype=np.uint8)
    return [Variant("pyarrow take", shuffled(len(rows), take), lambda batch: batch, check),
            Variant("datasets numpy", shuffled(len(rows), lambda chosen: as_numpy[chosen]), plain, check)] + [
        Variant(f"datasets torch w{workers}", loader(made.with_format("torch", dtype=torch.uint8), workers), tensors, check) for workers in (0, 2)]


class Lines(Dataset):
    """Where each line begins is found when it is made; a line is parsed when it is asked for."""

    def __init__(self, path, parse, header=0):
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        ends = np.flatnonzero(np.frombuffer(self.bytes, np.uint8) == ord("\n"))
        begins = np.concatenate([[0], ends[:-1] + 1])
        self.begins, self.ends, self.parse = begins[header:], ends[header:], parse

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, at):
        return self.parse(self.bytes[self.begins[at]:self.ends[at]])


def collated(samples):
    return torch.tensor([sample["label"] for sample in samples]), [sample["text"] for sample in samples]


def text_digests(labels, texts):
    return np.array([zlib.crc32(text) * LABELS + label for label, text in zip(labels.tolist(), texts.tolist())], np.uint64)


def by_csv(line):
    cells = next(csv.reader([line.decode()]))
    return np.array(cells[:-1], np.uint8), int(cells[-1])


def by_numpy(line):
    values = np.fromstring(line, np.int64, sep=",")
    return values[:-1].astype(np.uint8), values[-1]


def csv_rows(settings):
    rows, path = settings.rows("csv"), settings.stored_path("csv")
    return [Variant(f"{name} w{workers}", loader(Lines(path, parse, header=1), workers),
                    lambda batch: (batch[0].numpy(), batch[1].numpy()), check_labelled(rows))
            for name, parse in (("csv", by_csv), ("fromstring", by_numpy)) for workers in (0, 2)]


def jsonl(settings):
    path = settings.lines_path()
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    arrays = lambda batch: (np.asarray(batch[0]), np.array([text.encode() for text in batch[1]]))
    check = Check(text_digests(*arrays((np.array([line["label"] for line in lines]), [line["text"] for line in lines]))),
                  text_digests)
    made = datasets.Dataset.from_json(path, cache_dir=os.path.join(settings.data_dir, "datasets"))

    def from_table(workers):
        return loader(made, workers, collated)
    return [Variant(f"{name} w{workers}", loader(Lines(path, parse), workers, collated), arrays, check)
            for name, parse in (("json", json.loads), ("orjson", orjson.loads)) for workers in (0, 2)] + [
        Variant(f"datasets w{workers}", from_table(workers), arrays, check) for workers in (0, 2)]


if __name__ == "__main__":
    main({"arrow": arrow, "csv": csv_rows, "jsonl": jsonl}, {name: version(name) for name in ("pyarrow", "datasets", "orjson")},
         {"arrow": write})
