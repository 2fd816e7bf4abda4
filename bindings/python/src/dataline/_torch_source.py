"""What PyTorch's loader takes, as the library's: datasets, samplers, generators.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional

import torch
from torch.utils.data import (
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from ._reader import Template, leaves, names_in, template_of
from .dataset import Dataset, from_arrays, from_reader, open


def order_of(
    shuffle: Optional[bool], sampler: Any, generator: Optional[torch.Generator], options: Mapping[str, Any]
) -> dict[str, Any]:
    """``shuffle``, ``sampler`` and ``generator`` as options."""
    made: dict[str, Any] = {}
    if shuffle:
        made["shuffle"] = True
    if generator is not None:
        if "seed" in options:
            raise TypeError("expected a generator or a seed, not both")
        made["seed"] = generator.initial_seed() & (2**63 - 1)
    if sampler is None or isinstance(sampler, SequentialSampler):
        return made
    if shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if isinstance(sampler, DistributedSampler):
        raise TypeError("DistributedSampler is not supported: use rank= and world_size=, with shuffle=True")
    if isinstance(sampler, WeightedRandomSampler):
        raise TypeError("WeightedRandomSampler is not supported: use weights=, replacement= and samples_per_epoch=")
    if isinstance(sampler, RandomSampler):
        raise TypeError("RandomSampler is not supported: use shuffle=True, with seed= or generator=")
    made["sample_indices"] = sampler if hasattr(sampler, "dtype") else list(sampler)
    return made


def opened(dataset: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    """The dataset, what a sample is built like (None: a dict by field), and the fields that are text."""
    if isinstance(dataset, Dataset):
        return dataset, None, []
    if isinstance(dataset, (str, os.PathLike)):
        return open(dataset, **options), None, []
    if isinstance(dataset, IterableDataset):
        raise TypeError("an IterableDataset is not supported: use a URI, or a dataset with __len__ and __getitem__")
    if type(dataset) is TensorDataset:
        parts = {str(at): tensor.detach() for at, tensor in enumerate(dataset.tensors)}
        return from_arrays(parts, **options), list(parts), []
    if type(dataset) is Subset:
        whole, template, texts = opened(dataset.dataset, options)
        return whole.subset(dataset.indices), template, texts
    return _read(dataset, options)


def _read(source: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    if not hasattr(source, "__getitem__") or not hasattr(source, "__len__"):
        raise TypeError(
            f"expected a Dataset, a URI, or an object with __len__ and __getitem__, got {type(source).__name__}"
        )
    sample = source[0]
    template = template_of(sample)
    parts = zip(names_in(template), leaves(template, sample))
    return from_reader(source, **options), template, [name for name, value in parts if isinstance(value, str)]
