"""Batches by length on the lengths of a real text: how much is padding, and how many tokens a second come out. Needs the dataline
package, NumPy and, for its lines, PyTorch.

A sample is a paragraph of TEXT, a token one of its bytes, delivered as i64 for an embedding. Every variant delivers padded
batches of a shuffled order on one thread; a second is one of the process's CPU time. Without buckets a batch has
32 samples, padded to one length for all (pad_to) or to the longest of them (pad_sequence); with buckets the edges and the
8,192 tokens a batch are the same for all. PyTorch has no sampler by length of its own: its line is the usual one, samples
shuffled in their buckets, cut, the batches shuffled, and pad_sequence, which pads to the longest of a batch: less padding,
more shapes.

SPDX-License-Identifier: Apache-2.0
"""

import time

import dataline
import numpy as np

from turns import Group, each

EDGES = [32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096]
TOKENS = 8192
BATCH = 32
REPEATS = 20  # so that an epoch is not over at once


def paragraphs(path):
    with open(path, "rb") as file:
        parts = [part for part in file.read().split(b"\n\n") if 0 < len(part) <= EDGES[-1]]
    return parts * REPEATS


def dataline_batches(parts, edges):
    data = np.frombuffer(b"".join(parts), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    dataset = dataline.from_arrays({"text": dataline.Ragged(data, offsets)})
    size = {"batch_size": BATCH} if len(edges) == 1 else {"max_tokens": TOKENS}
    loader = dataline.Loader(dataset, bucket_edges=",".join(map(str, edges)), shuffle=True, num_workers=0,
                             transform="text: cast(i64), pad_to(bucket)", **size)
    while True:
        for batch in loader:
            yield batch["text"], int(batch["length"].sum())


def torch_batches(parts, bucketed):
    import torch
    from torch.nn.utils.rnn import pad_sequence

    torch.set_num_threads(1)
    samples = [torch.frombuffer(bytearray(part), dtype=torch.uint8) for part in parts]
    lengths = np.array([len(part) for part in parts])
    bucket_of = np.searchsorted(EDGES, lengths)
    rng = np.random.default_rng(0)

    def batches():
        if not bucketed:
            order = rng.permutation(len(parts))
            return [order[at:at + BATCH] for at in range(0, len(order), BATCH)]
        made = []
        for bucket, edge in enumerate(EDGES):
            order = rng.permutation(np.flatnonzero(bucket_of == bucket))
            made += [order[at:at + TOKENS // edge] for at in range(0, len(order), TOKENS // edge)]
        return [made[at] for at in rng.permutation(len(made))]

    def collate(rows):
        return pad_sequence([row.long() for row in rows], batch_first=True)

    while True:
        loader = torch.utils.data.DataLoader(samples, batch_sampler=batches(), collate_fn=collate)
        for batch, indices in zip(loader, loader.batch_sampler):
            yield batch, int(lengths[indices].sum())


def measure(batches, seconds):
    tokens = places = 0
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        for _ in range(8):
            batch, real = next(batches)
            tokens += real
            places += batch.shape[0] * batch.shape[1]
    return {"tokens_per_cpu_s": tokens / (time.process_time() - begin), "padding_percent": 100 * (1 - tokens / places)}


def arguments(parser):
    parser.add_argument("text")
    parser.add_argument("--seconds", type=float, default=0.5, help="of CPU time, for each variant in each round")


def groups(asked):
    parts = paragraphs(asked.text)
    lengths = sorted(len(part) for part in parts)
    notes = [f"{len(parts) // REPEATS} paragraphs, {REPEATS} times; bytes: median {lengths[len(lengths) // 2]}, "
             f"mean {sum(lengths) / len(lengths):.0f}, longest {lengths[-1]}"]
    variants = {"dataline pad_to(4096)": dataline_batches(parts, EDGES[-1:]),
                "dataline buckets, pad_to(bucket)": dataline_batches(parts, EDGES)}
    try:
        variants["pytorch pad_sequence"] = torch_batches(parts, bucketed=False)
        variants["pytorch buckets, pad_sequence"] = torch_batches(parts, bucketed=True)
        for made in variants.values():
            next(made)
    except ImportError:
        notes.append("left out: PyTorch, which is not installed")
        variants = {name: made for name, made in variants.items() if name.startswith("dataline")}
    yield Group("lengths", each({name: lambda made=made: measure(made, asked.seconds) for name, made in variants.items()}), notes=notes)
