"""What Python costs a batch above the C calls that it makes (next, views, release): batches of one row of one byte, made by
the calling thread, the least of several rounds taken in turn.

    overhead.py [ROUNDS]        with PyTorch's tensors where PyTorch is installed

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from raw import RawLoop

import dataline

BATCHES = 20_000
OPTIONS: dict[str, Any] = {"batch_size": 1, "num_workers": 0}


def timed(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) / BATCHES


def loop(loader: dataline.Loader, act: Callable[[dataline.Batch], Any]) -> Callable[[], None]:
    def run() -> None:
        left = BATCHES
        while left > 0:
            for batch in loader:
                act(batch)
            left -= len(loader)

    return run


def main(rounds: int = 15) -> None:
    rows = np.ones((2000, 1), np.uint8)
    one = dataline.Loader(dataline.from_arrays({"x": rows}), **OPTIONS)
    two = dataline.Loader(dataline.from_arrays({"x": rows, "y": rows[:, 0]}), **OPTIONS)
    raw = RawLoop(rows, **OPTIONS)
    acts: dict[str, Callable[[dataline.Batch], Any]] = {
        "the batch alone": lambda batch: None,
        "dict of NumPy views": dict,
        "tensors (DLPack, buffers)": lambda batch: batch.tensors(),
    }
    try:
        from dataline.torch import tensors
    except ImportError:
        print("without PyTorch, for it is not installed")
    else:
        acts["dict of PyTorch tensors"] = tensors
    runs = {"C": lambda: raw.batches(BATCHES)}
    for name, act in acts.items():
        runs[f"{name}, 1 field"] = loop(one, act)
        runs[f"{name}, 2 fields"] = loop(two, act)
    least = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            least[name] = min(least[name], timed(run))
    print(f"C: {least['C'] * 1e9:.0f} ns a batch")
    for name in list(runs)[1:]:
        print(f"{name}: {(least[name] - least['C']) * 1e6:.2f} us a batch above C")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
