"""What PyTorch's loader takes, as the library's: datasets, samplers, generators.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional

import torch
import torch.distributed
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


def refuse_to_read_everything_in_each_process(options: Mapping[str, Any]) -> None:
    """A launcher started several processes, and nobody said what this one is to read: each would read all of it, and the
    training would see every sample that many times, without a sign of it."""
    if options.get("rank") is not None or options.get("world_size") is not None:
        return
    processes, who_says = os.environ.get("WORLD_SIZE", ""), "WORLD_SIZE"
    if not processes.isdecimal() and torch.distributed.is_available() and torch.distributed.is_initialized():
        processes, who_says = str(torch.distributed.get_world_size()), "torch.distributed"
    if processes.isdecimal() and int(processes) > 1:
        raise ValueError(
            f"{who_says} says that there are {processes} processes, and rank= and world_size= are not given: "
            "rank=torch.distributed.get_rank(), world_size=torch.distributed.get_world_size() gives each its part, "
            "rank=0, world_size=1 gives each all of it"
        )


def drawn_seed(generator: Optional[torch.Generator], options: Mapping[str, Any]) -> Optional[int]:
    """A seed out of PyTorch's generator, as its own loader draws one where it was given none; None: it is the options', or
    nothing is random.

    Ranks have to agree on one order, and each has its own state of that generator: there it is the option's default, as
    DistributedSampler's is 0.
    """
    given = generator is not None or options.get("seed") is not None
    of_a_rank = options.get("rank") is not None or options.get("world_size") is not None
    random = options.get("shuffle") or options.get("weights") is not None or options.get("transform") is not None
    if given or of_a_rank or not random:
        return None
    return int(torch.empty((), dtype=torch.int64).random_().item())


def order_of(
    shuffle: Optional[bool], sampler: Any, generator: Optional[torch.Generator], options: Mapping[str, Any]
) -> dict[str, Any]:
    """``shuffle``, ``sampler`` and ``generator`` as options."""
    made: dict[str, Any] = {}
    if shuffle:
        made["shuffle"] = True
    if generator is not None:
        if options.get("seed") is not None:
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
