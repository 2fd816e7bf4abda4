"""The arguments of PyTorch's loader as options of the library: the order, and who makes the batches.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import torch
import torch.distributed
from torch.utils.data import (
    BatchSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from ._launcher import launcher
from ._options import parsed
from ._torch_datasets import is_plain, is_python, refuse_what_is_no_dataset
from ._torch_sampler import OfLoader, Sampler
from .loader import Loader

# Options that concern the order alone: the others are about how the library makes samples.
OF_THE_ORDER = frozenset(
    {
        "batch_size", "global_batch_size", "shuffle", "seed", "epochs", "start_epoch", "start_step", "last_batch",
        "drop_last", "rank", "world_size", "sample_indices", "weights", "replacement", "samples_per_epoch",
    }
)  # fmt: skip
# With these a batch is not the samples of so many indices of the dataset.
_OF_CONTENT = ("pack_length", "bucket_edges", "max_tokens")
_NOT_OF_A_SAMPLER = {"batch_size", "global_batch_size", "epochs", "start_epoch", "start_step"}


def take_part(options: dict[str, Any]) -> None:
    """Fills in rank and world_size if they are not set, or auto. Otherwise each process of a launcher would read the
    complete set, and the training would silently see every sample several times."""
    names = ("rank", "world_size")
    asked = {name: "auto" if options.get(name) is None else options[name] for name in names}
    if "auto" not in asked.values():
        return
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        actual = {"rank": torch.distributed.get_rank(), "world_size": torch.distributed.get_world_size()}
        for name in names:
            if asked[name] not in ("auto", actual[name]):
                why = f"{name}={asked[name]}, but torch.distributed reports {actual[name]}"
                raise ValueError(f"{why}: set both, or neither")
        options.update(actual)
    elif asked != {"rank": "auto", "world_size": "auto"} or launcher().world_size != 1:
        options.update(asked)


def place(options: Mapping[str, Any]) -> tuple[int, int]:
    """Rank and world size of the options, as numbers."""
    told = launcher()
    by_launcher: dict[str, Optional[int]] = {"rank": told.rank, "world_size": told.world_size}
    rank, world_size = (
        by_launcher[name] if options.get(name) in ("auto", None) else int(parsed(name, options[name]))
        for name in by_launcher
    )
    if world_size is None or rank is None:
        raise ValueError("world_size: the launcher reports only the rank; set world_size=")
    return rank, world_size


def drawn_seed(generator: Optional[torch.Generator], options: Mapping[str, Any]) -> Optional[int]:
    """A seed from PyTorch's generator, which its own loader draws from if none was passed. None: the options set the
    seed, or nothing is random.

    Ranks have to agree on one order, and each has its own state of that generator. With several ranks it is therefore the
    option's default, as DistributedSampler's is 0.
    """
    given = generator is not None or options.get("seed") is not None
    of_a_rank = options.get("rank") is not None or options.get("world_size") is not None
    shuffled = options.get("shuffle") is not None and parsed("shuffle", options["shuffle"]) != "none"
    random = shuffled or options.get("weights") is not None or options.get("transform") is not None
    if given or of_a_rank or not random:
        return None
    return int(torch.empty((), dtype=torch.int64).random_().item())


def _is_stock(sampler: Any, kind: type) -> bool:
    """Whether it returns the indices of PyTorch's own class of that kind: a subclass may return others."""
    return isinstance(sampler, kind) and type(sampler).__iter__ is kind.__iter__  # type: ignore[attr-defined]


class Order:
    """``batch_size``, ``shuffle``, ``sampler``, ``batch_sampler``, ``drop_last`` and ``generator`` as options."""

    def __init__(
        self,
        batch_size: Optional[int],
        shuffle: Any,
        sampler: Any,
        batch_sampler: Any,
        drop_last: Any,
        generator: Optional[torch.Generator],
        options: Mapping[str, Any],
    ) -> None:
        self.batches: Any = None  # a batch_sampler whose batches are taken as they are
        self.distributed: Optional[DistributedSampler] = None
        self._source: Any = None  # what a sampler of PyTorch's draws from
        self._subset: Any = None  # the samples that it draws from, where these are not all
        self._read_again: Any = None  # a sampler that may give other indices the next time
        self._loops = 0
        self._epoch_seen = 0
        self.options = {name: value for name, value in options.items() if value is not None}
        # As the table of options reads them: "false" is false.
        word = "none" if shuffle is None else parsed("shuffle", shuffle)
        drop_last = drop_last is not None and parsed("drop_last", drop_last) == "true"
        batch_size = None if batch_size is None else int(parsed("batch_size", batch_size))
        if generator is not None and not isinstance(generator, torch.Generator):
            raise TypeError(
                f"generator: expected a torch.Generator, got {type(generator).__name__}; pass a number as seed="
            )
        if batch_sampler is not None:
            if batch_size != 1 or word != "none" or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            if type(batch_sampler) is BatchSampler and _draws_here(batch_sampler.sampler):
                sampler, drop_last = batch_sampler.sampler, batch_sampler.drop_last
                batch_size = batch_sampler.batch_size
            else:
                self.batches, batch_size = batch_sampler, None
        of_all = "global_batch_size" in self.options
        if of_all and batch_size not in (None, 1):
            raise ValueError("batch_size and global_batch_size: set only one of the two")
        self.single = batch_size is None and self.batches is None and not of_all
        if self.single and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        self.batch_size, self.drop_last, self.generator = batch_size, drop_last, generator
        self.options["batch_size"] = 1 if self.single else None if of_all else batch_size
        if drop_last:
            self.options["drop_last"] = True
        if sampler is not None and word != "none":
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if word != "none":
            self.options["shuffle"] = word
        self.sampled = sampler is not None
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
        if _is_stock(sampler, DistributedSampler):
            self.distributed, self._epoch_seen, self._source = sampler, sampler.epoch, sampler.dataset
            told = {"rank": sampler.rank, "world_size": sampler.num_replicas, "seed": sampler.seed}
            for name, value in told.items():
                if options.get(name) not in (None, value):
                    raise ValueError(f"{name}={options[name]}, but the DistributedSampler has {value}: set only one")
                options[name] = value
            options["shuffle"] = bool(sampler.shuffle)
            if not self.drop_last and options.get("last_batch") is None:
                options["last_batch"] = "pad"  # every rank has as many samples, as with PyTorch
        elif isinstance(sampler, WeightedRandomSampler):
            raise TypeError("WeightedRandomSampler is not supported: use weights=, replacement= and samples_per_epoch=")
        elif _is_stock(sampler, RandomSampler):
            if sampler.replacement or sampler.num_samples != len(sampler.data_source):
                raise TypeError(
                    "a RandomSampler with replacement or num_samples is not supported: use weights=, replacement= and "
                    "samples_per_epoch="
                )
            options["shuffle"], self._source = True, sampler.data_source
            self.generator = self.generator or sampler.generator
        elif _is_stock(sampler, SubsetRandomSampler):
            options["shuffle"], self._subset = True, sampler.indices
            self.generator = self.generator or sampler.generator
        elif _is_stock(sampler, SequentialSampler):
            self._source = sampler.data_source
        else:
            options["sample_indices"] = _indices_of(sampler)
            if not isinstance(sampler, Sequence) and not hasattr(sampler, "__next__"):
                self._read_again = sampler

    def _refuse_a_second_order(self) -> None:
        if not hasattr(self.batches, "__len__"):
            raise TypeError("batch_sampler: expected an object with __len__: the batches of an epoch")
        second = sorted(
            OF_THE_ORDER.intersection(self.options) - {"batch_size", "seed", "epochs", "start_epoch", "start_step"}
        )
        if second:
            raise TypeError(f"{', '.join(second)}: the batch_sampler decides the order")

    def drawn_from(self, dataset: Any) -> Any:
        """The samples of the dataset that are read: all, except those that a sampler of PyTorch leaves out."""
        if self._source is not None and len(self._source) != len(dataset):
            raise ValueError(
                f"sampler: it draws from {len(self._source)} samples, but the dataset has {len(dataset)}: pass the "
                "dataset of the sampler, or torch.utils.data.Subset(dataset, indices)"
            )
        return dataset if self._subset is None else Subset(dataset, self._subset)

    def is_of(self, dataset: Any) -> bool:
        """Whether the library decides which of its samples are read."""
        return self.batches is None and not isinstance(dataset, IterableDataset)

    def begin(self) -> None:
        """Starts a loop. PyTorch's loader reads the sampler again for each loop; from the second one on it is compared."""
        self._loops += 1
        if self._read_again is None or self._loops == 1 or hasattr(self._read_again, "dtype"):
            return
        if list(self._read_again) != self.options["sample_indices"]:
            raise _other_each_epoch(self._read_again)

    def epoch_set(self) -> Optional[int]:
        """The epoch passed to ``set_epoch`` of the DistributedSampler since the last query; None: none."""
        if self.distributed is None or self.distributed.epoch == self._epoch_seen:
            return None
        self._epoch_seen = self.distributed.epoch
        return self._epoch_seen


def _draws_here(sampler: Any) -> bool:
    kinds = (SequentialSampler, RandomSampler, SubsetRandomSampler, DistributedSampler)
    return any(_is_stock(sampler, kind) for kind in kinds)


def _indices_of(sampler: Any) -> Any:
    if hasattr(sampler, "dtype"):
        return sampler
    if isinstance(sampler, str) or not hasattr(sampler, "__iter__"):
        raise TypeError(f"sampler: expected an iterable of indices, got {type(sampler).__name__}")
    if hasattr(sampler, "set_epoch"):
        raise _other_each_epoch(sampler)
    return list(sampler)


def _other_each_epoch(sampler: Any) -> TypeError:
    return TypeError(
        f"sampler: {type(sampler).__name__} returns different indices each epoch, but sampler= is read once, at creation: "
        "use shuffle=True or weights=, or batch_sampler=torch.utils.data.BatchSampler(sampler, batch_size, drop_last), "
        "which is read again each epoch"
    )


def made_by_python(
    dataset: Any, order: Order, collate_fn: Any, num_workers: Optional[int], only_order: bool
) -> Optional[str]:
    """Why PyTorch's loader makes the batches, from Python objects; None: the library makes them."""
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
    refuse_what_is_no_dataset(dataset)
    if num_workers == 0 or (num_workers is not None and getattr(sys, "_is_gil_enabled", lambda: True)()):
        return "num_workers"  # this thread, or processes, for threads would wait for the lock
    return None if len(dataset) == 0 or is_plain(dataset[0]) else "a dataset of Python's objects"


def of_loader(options: Mapping[str, Any], loader: Loader, batch_size: int) -> OfLoader:
    """The ``sampler`` of a loader without one. AttributeError if indices alone do not describe the samples."""
    shuffle = parsed("shuffle", options.get("shuffle") or "none")
    content = [name for name in _OF_CONTENT if options.get(name) is not None]
    if loader.dataset.format == "mix":
        content.append("a mix")
    if content:
        raise AttributeError(
            f"sampler: with {', '.join(content)} the order is not a list of indices; see batch.info.indices"
        )
    order = {name: value for name, value in options.items() if name in OF_THE_ORDER - _NOT_OF_A_SAMPLER}
    if order.get("world_size") is None:  # the batch_sampler drops, as with PyTorch
        order.pop("drop_last", None)
        if order.get("last_batch") == "drop":
            del order["last_batch"]
    return OfLoader(Sampler(len(loader.dataset), batch_size, **order), loader.position.epoch, shuffle == "window")
