"""60,000 rows of 784 u8 in memory, shuffled, batch 256: this package, the C loop, and the loaders that are installed, in
rounds taken in turn; the median of each.

    throughput.py [--rounds N] [--path SITE_PACKAGES]...        folders where PyTorch or Grain may be found

PyTorch reads a TensorDataset as its tutorials do (ordinary), and whole batches by a BatchSampler given as sampler
(batched). Grain gathers whole batches in its own process. One intra-op thread.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from raw import RawLoop

import dataline

ROWS, ROW_BYTES, BATCH = 60_000, 784, 256
Epoch = Callable[[], None]


def every(batches: Callable[[], Iterable[Any]]) -> Epoch:
    def run() -> None:
        for _ in batches():
            pass

    return run


def arrays_of(loader: dataline.Loader) -> Epoch:
    return every(lambda: (batch["x"] for batch in loader))


def ours(rows: Any) -> dict[str, Epoch]:
    options: dict[str, Any] = {"batch_size": BATCH, "shuffle": "full"}
    runs: dict[str, Epoch] = {}
    for workers in (0, "auto"):
        raw = RawLoop(rows, num_workers=workers, **options)
        loader = dataline.Loader(dataline.from_arrays({"x": rows}), num_workers=workers, **options)
        runs[f"C, {workers} workers"] = raw.batches
        runs[f"dataline, {workers} workers"] = arrays_of(loader)
    return runs


def pytorch(rows: Any) -> dict[str, Epoch]:
    import torch
    from torch.utils.data import BatchSampler, RandomSampler, TensorDataset
    from torch.utils.data import DataLoader as PyTorch

    from dataline.torch import DataLoader

    torch.set_num_threads(1)
    plain = TensorDataset(torch.from_numpy(rows))

    class Whole(TensorDataset):  # type: ignore[misc]
        """Gathered by NumPy, which is the fastest of what PyTorch can be given here."""

        def __getitem__(self, index: Any) -> Any:
            return torch.from_numpy(rows[index])

    order = BatchSampler(RandomSampler(plain), BATCH, drop_last=False)
    batched = PyTorch(Whole(*plain.tensors), sampler=order, batch_size=None)
    return {
        "dataline.torch": every(DataLoader(plain, BATCH, shuffle=True).__iter__),
        "pytorch ordinary": every(PyTorch(plain, BATCH, shuffle=True).__iter__),
        "pytorch batched": every(batched.__iter__),
    }


def grain(rows: Any) -> dict[str, Epoch]:
    import grain.python as grain

    order = grain.MapDataset.range(ROWS).shuffle(seed=1)
    batches = order.batch(BATCH, batch_fn=lambda chosen: rows[np.array(chosen)]).repeat()
    stream = iter(batches.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)))
    return {"grain": every(lambda: itertools.islice(stream, -(-ROWS // BATCH)))}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--path", action="append", default=[])
    asked = parser.parse_args()
    sys.path += asked.path
    rows = np.random.default_rng(1).integers(0, 256, (ROWS, ROW_BYTES), np.uint8)
    runs = ours(rows)
    for others in (pytorch, grain):
        try:
            runs.update(others(rows))
        except ImportError as error:
            print(f"without {others.__name__}: {error}")
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(asked.rounds + 1):  # the first is not counted
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            if turn:
                times[name].append(time.perf_counter() - began)
    for name, seconds in times.items():
        low, high = ROWS / max(seconds) / 1e6, ROWS / min(seconds) / 1e6
        print(f"{name:26} {ROWS / statistics.median(seconds) / 1e6:6.2f} million rows/s ({low:.2f} to {high:.2f})")
    sys.stdout.flush()
    os._exit(0)  # other loaders' threads are not waited for


if __name__ == "__main__":
    main()
