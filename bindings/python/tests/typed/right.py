"""Uses that checkers take, and the types that they see. Checked by test_types.py, not run.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import dataline

dataset = dataline.open(Path("rows.npy"), io="pread", memory_budget="1GiB")
assert_type(len(dataset), int)
assert_type(dataset[0], dict[str, NDArray[Any]])
assert_type(dataset[1:3], dataline.Dataset)
for sample in dataset:
    assert_type(sample["x"], NDArray[Any])
assert_type(dataset[np.int64(3)]["x"].sum(axis=0), Any)

options: dataline.Options = {"batch_size": 32, "shuffle": True, "seed": 7}
loader = dataline.Loader(dataset, **options)
dataline.Loader(dataset, num_workers="auto", transform="x: cast(f32)", on_error="replace")
dataline.Loader("mnist:data", shuffle="full", last_batch="pad", max_bytes_per_sample=1 << 20, drop_last=None)
dataline.Loader("mnist:data", sample_indices=np.arange(3), num_workers=0)
dataline.Loader("mnist:data", weights=[0.5, 1], samples_per_epoch=10, device="cuda:0")
for batch in loader:
    assert_type(batch, dataline.Batch)
    assert_type(batch["x"], NDArray[Any])
    assert_type(batch["x"].mean(), Any)
    words = batch["words"]
    if isinstance(words, dataline.Ragged):
        print(words.offsets)
    for name, values in batch.items():
        assert_type(name, str)
        assert_type(values, NDArray[Any])
    assert_type(batch.info.epoch, int)
assert_type(loader.next(timeout=0.5), "dataline.Batch | None")
assert_type(dataset.read(3, transform="x: cast(f32)")["x"], NDArray[Any])
