"""Uses of dataline.torch that checkers take, and the types that they see. Checked by test_types.py, not run.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import Dataset
from typing_extensions import assert_type

import dataline
from dataline.torch import DataLoader, IterableDataset, Sampler, tensors


class Samples(Dataset[int]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        return index


def collate(samples: list[Any]) -> str:
    return str(samples)


for batch in DataLoader("mnist:data", batch_size=64, shuffle=True, transform="image: flatten", num_workers=2):
    assert_type(batch, dict[str, torch.Tensor])
for images, labels in DataLoader(dataline.open("mnist:data"), 64, True, fields=("image", "label"), seed=1):
    assert_type(images, torch.Tensor)
    assert_type(labels, torch.Tensor)
for text in DataLoader(Samples(), 64, collate_fn=collate, num_workers=2, persistent_workers=True):
    assert_type(text, str)
for anything in DataLoader(Samples(), 64, False, None, None, 2):
    assert_type(anything, Any)
DataLoader("mnist:data", shuffle="window", shuffle_blocks=64)
assert_type(len(DataLoader(Samples(), rank=0, world_size=2, pin_memory=True, drop_last=True)), int)
for made in dataline.Loader("mnist:data"):
    assert_type(tensors(made)["image"], torch.Tensor)
Sampler(Samples(), shuffle=True, seed=7, batch_size=64, rank=0, world_size=2)
IterableDataset("mnist:data", batch_size=64)
for one in DataLoader("mnist:data", fields="image"):
    assert_type(one, list[torch.Tensor])
for _index, counted in enumerate(DataLoader("mnist:data")):
    assert_type(counted, dict[str, torch.Tensor])
assert_type(list(DataLoader(Samples(), collate_fn=collate)), list[str])


def untyped(samples):  # type: ignore[no-untyped-def]
    return samples


def takes(loader: DataLoader[Any]) -> None:
    for sample in loader:
        assert_type(sample, Any)


takes(DataLoader("mnist:data"))
for unknown in DataLoader("mnist:data", collate_fn=untyped):
    assert_type(unknown, Any)
