"""Nothing grows: 10,000 batches and 200 loaders, then resident memory, threads and open files as before. In a process of
its own, so that no other test moves the numbers.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline


def usage() -> tuple[int, int, int]:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]), int(status["Threads"]), len(list(Path("/proc/self/fd").iterdir()))


class Source:
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> Any:
        if index % 16 == 3:
            raise ValueError("bad on purpose")
        return {"x": np.full(1024, index, np.uint8), "t": "x" * index}


def a_life(path: Path) -> None:
    """Four loaders, each taken a little way and left in the middle."""
    lent = dataline.from_arrays({"x": np.zeros((1000, 784), np.uint8)})
    datasets = [dataline.open(path), lent, dataline.from_reader(Source()), lent.subset([1, 2, 3])]
    held: list[Any] = []
    for dataset in datasets:
        loader = dataline.Loader(dataset, batch_size=4, num_workers=1, shuffle=True, on_error="replace")
        for batch, _ in zip(loader, range(2)):
            held.append(batch)
            held.extend(batch.values())
            held.extend(tensor.__dlpack__(max_version=(1, 0)) for tensor in batch.tensors())
            held.append(batch.info)
            held.append(memoryview(batch.tensors()[0]))
        loader.fileno()
        loader.save_state()
        for wrong in (lambda: loader.load_state("nonsense"), lambda: dataline.Loader(dataset, transform="nonsense")):
            try:
                wrong()
            except dataline.Error:
                pass


def main(path: Path) -> None:
    np.save(path, np.ones((1000, 784), np.uint8))
    loader = dataline.Loader(dataline.open(path), batch_size=10, shuffle=True, num_workers=1)

    def take(epochs: int) -> int:
        return sum(len(dict(batch)) for _ in range(epochs) for batch in loader)

    take(10)
    for _ in range(20):
        a_life(path)
    gc.collect()
    before = usage()
    assert take(100) == 10_000
    for _ in range(50):
        a_life(path)
    gc.collect()
    after = usage()
    assert after[1:] == before[1:], (before, after)
    assert after[0] < before[0] + 3072, (before, after)
    tracemalloc.start()
    for _ in range(20):  # caches fill
        a_life(path)
    gc.collect()
    small = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        a_life(path)
    gc.collect()
    assert tracemalloc.get_traced_memory()[0] < small + 20_000


def test_batches_loaders_and_errors_leave_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, __file__, tmp_path / "x.npy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        pytest.fail(done.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
