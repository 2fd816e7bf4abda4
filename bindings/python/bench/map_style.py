"""Map-style datasets of Python code through dataline.torch.DataLoader and PyTorch's own, with the same workers: 0, 1, 2.

    map_style.py [--rounds N] [--samples N] [--row light|tensors|heavy]...

light: NumPy rows of 784 f32 and an int, batch 256. tensors: the same rows as tensors. heavy: a JPEG of 400 x 300 decoded,
cropped and resized to 224 x 224 by Pillow, normalised by NumPy, batch 32. Loaders take turns of four epochs, made anew each
time; worker processes live on between epochs. Rates are without the first epoch; CPU time is of all processes, from the
start. One intra-op thread.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import gc
import io
import resource
import statistics
import time
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader as PyTorch
from torch.utils.data import Dataset

from dataline.torch import DataLoader


class Rows(Dataset):  # type: ignore[misc]
    def __init__(self, count: int) -> None:
        self.rows = np.random.default_rng(1).integers(0, 256, (count, 784)).astype(np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        return self.rows[index], index % 10


class Tensors(Rows):
    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.tensors = torch.from_numpy(self.rows)

    def __getitem__(self, index: int) -> Any:
        return self.tensors[index], index % 10


class Photos(Dataset):  # type: ignore[misc]
    def __init__(self, count: int) -> None:
        from PIL import Image

        self.count, self.open, self.filter = count, Image.open, Image.BILINEAR
        pixels = np.random.default_rng(2).integers(0, 256, (30, 40, 3)).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).resize((400, 300), self.filter).save(file, "JPEG", quality=90)
        self.bytes = file.getvalue()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        photo = self.open(io.BytesIO(self.bytes)).crop((10, 10, 290, 290)).resize((224, 224), self.filter)
        pixels = (np.asarray(photo, np.float32) / 255 - np.float32(0.45)) / np.float32(0.22)
        return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1))), index % 10


EPOCHS = 4
ROWS: dict[str, tuple[Any, int, int]] = {
    "light": (Rows, 20_000, 256),
    "tensors": (Tensors, 20_000, 256),
    "heavy": (Photos, 320, 32),
}


def cpu_seconds() -> float:
    """Of this process and of those that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def turn(kind: Any, dataset: Any, batch_size: int, workers: int) -> tuple[float, float]:
    """Samples per second, and microseconds of CPU time a sample."""
    before = cpu_seconds()
    loader = kind(dataset, batch_size, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    ends = [time.perf_counter()]
    for _ in range(EPOCHS):
        for _ in loader:
            pass
        ends.append(time.perf_counter())
    del loader
    gc.collect()  # ends the worker processes
    rate = (EPOCHS - 1) * len(dataset) / (ends[-1] - ends[1])
    return rate, (cpu_seconds() - before) / (EPOCHS * len(dataset)) * 1e6


def measure(name: str, rounds: int, samples: int) -> None:
    kind, count, batch_size = ROWS[name]
    dataset = kind(samples or count)
    for workers in (0, 1, 2):
        results: dict[Any, list[tuple[float, float]]] = {PyTorch: [], DataLoader: []}
        for number in range(rounds):
            for loader in list(results)[:: 1 if number % 2 else -1]:
                results[loader].append(turn(loader, dataset, batch_size, workers))
        told = []
        for loader, name_of in ((PyTorch, "PyTorch"), (DataLoader, "dataline.torch")):
            rate, cpu = map(statistics.median, zip(*results[loader]))
            told.append(f"{name_of} {rate:.0f} samples/s, {cpu:.1f} us CPU a sample")
        ratio = statistics.median(ours[0] / theirs[0] for theirs, ours in zip(results[PyTorch], results[DataLoader]))
        print(f"{name}, {workers} workers: {'; '.join(told)}; ratio of rates {ratio:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--row", action="append", choices=ROWS)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for name in asked.row or ROWS:
        measure(name, asked.rounds, asked.samples)


if __name__ == "__main__":
    main()
