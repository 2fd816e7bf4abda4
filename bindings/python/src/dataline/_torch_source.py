"""What PyTorch's loader takes, as the library's: datasets, samplers, generators.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Optional

import torch
import torch.distributed
from torch.utils.data import (
    BatchSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from ._launcher import launcher
from ._reader import Template, field_of, leaves, names_in, template_of
from .dataset import Dataset, from_arrays, from_reader, open

# Options that concern the order alone: the others are about how the library makes samples.
OF_THE_ORDER = frozenset(
    {
        "batch_size", "global_batch_size", "shuffle", "seed", "epochs", "start_epoch", "start_step", "last_batch",
        "drop_last", "rank", "world_size", "sample_indices", "weights", "replacement", "samples_per_epoch",
    }
)  # fmt: skip
_STOCK = (SequentialSampler, RandomSampler, DistributedSampler)


def take_part(options: dict[str, Any]) -> None:
    """Fills in rank and world_size where they are not given, or auto: else each process that a launcher started would read
    all of the set, and the training would see every sample that many times, without a sign of it."""
    names = ("rank", "world_size")
    asked = {name: "auto" if options.get(name) is None else options[name] for name in names}
    if "auto" not in asked.values():
        return
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        told = {"rank": torch.distributed.get_rank(), "world_size": torch.distributed.get_world_size()}
        for name in names:
            if asked[name] not in ("auto", told[name]):
                raise ValueError(f"{name}={asked[name]}, and torch.distributed says {told[name]}: give both, or none")
        options.update(told)
    elif asked != {"rank": "auto", "world_size": "auto"} or launcher().world_size != 1:
        options.update(asked)


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


class Order:
    """What ``batch_size``, ``shuffle``, ``sampler``, ``batch_sampler``, ``drop_last`` and ``generator`` say, as options."""

    def __init__(
        self,
        batch_size: Optional[int],
        shuffle: Optional[bool],
        sampler: Any,
        batch_sampler: Any,
        drop_last: bool,
        generator: Optional[torch.Generator],
        options: Mapping[str, Any],
    ) -> None:
        self.batches: Any = None  # a batch_sampler whose batches are taken as they are
        self.distributed: Optional[DistributedSampler] = None
        self._epoch_seen = 0
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            if type(batch_sampler) is BatchSampler and isinstance(batch_sampler.sampler, _STOCK):
                sampler, drop_last = batch_sampler.sampler, batch_sampler.drop_last
                batch_size = batch_sampler.batch_size
            else:
                self.batches, batch_size = batch_sampler, None
        self.batch_size, self.drop_last, self.generator = batch_size, drop_last, generator
        self.options: dict[str, Any] = dict(options)
        if batch_size is None and self.batches is None and "global_batch_size" not in options:
            self.single, self.options["batch_size"] = True, 1
        else:
            self.single = False
            self.options["batch_size"] = None if "global_batch_size" in options else batch_size
        if drop_last:
            self.options["drop_last"] = True
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if shuffle:
            self.options["shuffle"] = True
        if sampler is not None:
            self._take(sampler)
        if self.batches is not None:
            self._refuse_a_second_order()
        if self.generator is not None:
            if self.options.get("seed") is not None:
                raise TypeError("expected a generator or a seed, not both")
            self.options["seed"] = self.generator.initial_seed() & (2**63 - 1)

    def _take(self, sampler: Any) -> None:
        options = self.options
        if isinstance(sampler, DistributedSampler):
            self.distributed, self._epoch_seen = sampler, sampler.epoch
            told = {"rank": sampler.rank, "world_size": sampler.num_replicas, "seed": sampler.seed}
            for name, value in told.items():
                if options.get(name) not in (None, value):
                    raise ValueError(f"{name}={options[name]}, and the DistributedSampler has {value}: give one")
                options[name] = value
            options["shuffle"] = bool(sampler.shuffle)
            if not self.drop_last and options.get("last_batch") is None:
                options["last_batch"] = "pad"  # every rank has as many samples, as with PyTorch
        elif isinstance(sampler, WeightedRandomSampler):
            raise TypeError("WeightedRandomSampler is not supported: use weights=, replacement= and samples_per_epoch=")
        elif isinstance(sampler, RandomSampler):
            if sampler.replacement or sampler.num_samples != len(sampler.data_source):
                raise TypeError(
                    "a RandomSampler with replacement or num_samples is not supported: use weights=, replacement= and "
                    "samples_per_epoch="
                )
            options["shuffle"] = True
            self.generator = self.generator or sampler.generator
        elif not isinstance(sampler, SequentialSampler):
            options["sample_indices"] = sampler if hasattr(sampler, "dtype") else list(sampler)

    def _refuse_a_second_order(self) -> None:
        if not hasattr(self.batches, "__len__"):
            raise TypeError("batch_sampler: expected an object with __len__: the batches of an epoch")
        second = sorted(
            OF_THE_ORDER.intersection(self.options) - {"batch_size", "seed", "epochs", "start_epoch", "start_step"}
        )
        if second:
            raise TypeError(f"{', '.join(second)}: the batch_sampler decides the order")

    def is_of(self, dataset: Any) -> bool:
        """Whether the library decides which samples of it are read."""
        return self.batches is None and not isinstance(dataset, IterableDataset)

    def epoch_set(self) -> Optional[int]:
        """The epoch that the DistributedSampler was told since it was asked for; None: none."""
        if self.distributed is None or self.distributed.epoch == self._epoch_seen:
            return None
        self._epoch_seen = self.distributed.epoch
        return self._epoch_seen


def is_python(dataset: Any) -> bool:
    """Whether its samples are made by Python code."""
    if type(dataset) is Subset:
        return is_python(dataset.dataset)
    return not isinstance(dataset, (Dataset, str, os.PathLike)) and type(dataset) is not TensorDataset


def made_by_python(
    dataset: Any, order: Order, collate_fn: Any, num_workers: Optional[int], only_order: bool
) -> Optional[str]:
    """Why batches are made by PyTorch's loader, of Python's objects; None: the library makes them."""
    if isinstance(dataset, IterableDataset):
        return "an IterableDataset"
    for name, given in (
        ("collate_fn", collate_fn),
        ("batch_sampler", order.batches),
        ("batch_size=None", order.single or None),
    ):
        if given is not None:
            return name
    if not is_python(dataset) or not only_order:
        return None
    _refuse_what_is_no_dataset(dataset)
    if num_workers == 0 or (num_workers is not None and getattr(sys, "_is_gil_enabled", lambda: True)()):
        return "num_workers"  # this thread, or processes, for threads would wait for the lock
    return None if len(dataset) == 0 or is_plain(dataset[0]) else "a dataset of Python's objects"


def is_plain(sample: Any) -> bool:
    """Whether it is made of arrays, numbers and text, in dicts, lists and tuples, which the library gives back."""
    if type(sample) in (list, tuple):
        return all(map(is_plain, sample))
    if type(sample) is dict:
        return all(map(is_plain, sample.values()))
    if isinstance(sample, (Mapping, tuple, list)):
        return False
    try:
        field_of("x", sample)
    except TypeError:
        return False
    return True


def _refuse_what_is_no_dataset(source: Any) -> None:
    if not hasattr(source, "__getitem__") or not hasattr(source, "__len__"):
        raise TypeError(
            f"expected a Dataset, a URI, or an object with __len__ and __getitem__, got {type(source).__name__}"
        )


def opened(dataset: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    """The dataset, what a sample is built like (None: a dict by field), and the fields that are text."""
    if isinstance(dataset, Dataset):
        return dataset, None, []
    if isinstance(dataset, (str, os.PathLike)):
        return open(dataset, **options), None, []
    if type(dataset) is TensorDataset:
        parts = {str(at): tensor.detach() for at, tensor in enumerate(dataset.tensors)}
        return from_arrays(parts, **options), list(parts), []
    if type(dataset) is Subset:
        whole, template, texts = opened(dataset.dataset, options)
        return whole.subset(dataset.indices), template, texts
    return _read(dataset, options)


def _read(source: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
    _refuse_what_is_no_dataset(source)
    sample = source[0]
    template = template_of(sample)
    parts = zip(names_in(template), leaves(template, sample))
    return from_reader(source, **options), template, [name for name, value in parts if isinstance(value, str)]
