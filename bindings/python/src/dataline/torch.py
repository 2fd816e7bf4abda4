"""Batches as PyTorch tensors, and a loader with the argument names of ``torch.utils.data.DataLoader``.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, Optional, Union

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
from torch.utils.dlpack import from_dlpack

from . import _core
from ._reader import Source, Template, leaves, names_in, rebuild, template_of
from .dataset import Dataset, from_arrays, from_reader, open
from .loader import Loader
from .ragged import Ragged

__all__ = ["DataLoader", "tensors"]

# PyTorch began to give and take versioned capsules, which can say read-only, in one release.
_MAX_VERSION = (1, 0) if "max_version" in inspect.signature(torch.Tensor.__dlpack__).parameters else None


def tensors(
    batch: _core.Batch, device: Union[None, str, torch.device] = None, non_blocking: bool = False
) -> dict[str, Any]:
    """All fields as tensors over the batch's memory, whose lease they hold; a ragged field as a Ragged of two.

    A field that must not change (``tensor.read_only``) is shared too, PyTorch cannot say so; before PyTorch took DLPack
    1.0 it is copied. ``device``: copied there, as ``Tensor.to`` does, which ``non_blocking`` is for.
    """
    made = {tensor.name: _tensor(tensor) for tensor in batch.tensors()}
    if device is None:
        return made
    return {name: _to(value, device, non_blocking) for name, value in made.items()}


def _tensor(tensor: _core.Tensor) -> Any:
    copy = True if _MAX_VERSION is None and tensor.read_only else None
    made = from_dlpack(tensor.__dlpack__(max_version=_MAX_VERSION, copy=copy))
    offsets = tensor.offsets
    return made if offsets is None else Ragged(made, torch.tensor(offsets, dtype=torch.int64))


def _to(value: Any, device: Union[str, torch.device], non_blocking: bool) -> Any:
    if isinstance(value, Ragged):
        return Ragged(_to(value.data, device, non_blocking), _to(value.offsets, device, non_blocking))
    return value.to(device, non_blocking=non_blocking)


_INSTEAD = {
    "batch_sampler": "sample_indices for the order and batch_size for the batches",
    "collate_fn": "transform, or a dataset whose samples are arrays of one shape (ragged fields need no padding)",
    "worker_init_fn": "seed, for there are no worker processes to set up",
    "multiprocessing_context": "num_workers alone, for workers are threads",
    "pin_memory_device": "device",
}


class DataLoader:
    """A loader with the arguments of ``torch.utils.data.DataLoader``, which gives tensors.

    ================== ==================================================================================================
    argument           what it becomes
    ================== ==================================================================================================
    ``dataset``        a Dataset or URI; a TensorDataset is lent without a copy, a Subset is a ``subset``; any other
                       object with ``__len__`` and ``__getitem__`` is read by Python code, the slow path. An
                       IterableDataset is an error
    ``batch_size``     the option; None is an error
    ``shuffle``        ``shuffle="full"``: another order each epoch, decided by the seed alone
    ``sampler``        ``sample_indices``: its indices, read once, the same each epoch. RandomSampler, DistributedSampler
                       and WeightedRandomSampler are errors that name the option
    ``num_workers``    the option: threads, 0 is the caller's; None leaves the library's choice
    ``pin_memory``     the option, where PyTorch has CUDA; a warning and nothing where it has not, as in PyTorch
    ``drop_last``      the option
    ``timeout``        seconds that a batch may take, then Timeout (a TimeoutError); 0: no limit
    ``generator``      ``seed``: its ``initial_seed()``, less the top bit
    ``prefetch_factor`` ``prefetch_depth``: batches a worker, times the workers
    ``persistent_workers`` nothing: threads live as long as the loader
    ``in_order``       nothing: batches come in order; False is an error
    ``batch_sampler``, ``collate_fn``, ``worker_init_fn``, ``multiprocessing_context``, ``pin_memory_device``
                       errors that say what to use
    ``fields``         (not in PyTorch) names, to get a list of these instead of a dict
    ================== ==================================================================================================

    All other keyword arguments are the library's options (``seed``, ``transform``, ``rank``, ...). Samples that are
    tuples give lists of tensors, dicts give dicts; a Dataset or URI gives a dict by field, ``str`` comes back as a list.

    ``state_dict`` and ``load_state_dict`` as torchdata's StatefulDataLoader has them, in O(1), in mid-epoch too.
    ``loader.loader`` is the Loader underneath, with ``stats``, ``seek``, ``cancel``.
    """

    def __init__(
        self,
        dataset: Union[Dataset, str, os.PathLike[str], Source, Any],
        batch_size: Optional[int] = 1,
        shuffle: Optional[bool] = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: Optional[int] = None,
        collate_fn: Any = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Optional[torch.Generator] = None,
        *,
        prefetch_factor: Optional[int] = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        fields: Optional[Sequence[str]] = None,
        **options: Any,
    ) -> None:
        refused = {
            "batch_sampler": batch_sampler,
            "collate_fn": collate_fn,
            "worker_init_fn": worker_init_fn,
            "multiprocessing_context": multiprocessing_context,
            "pin_memory_device": pin_memory_device or None,
        }
        for name, value in refused.items():
            if value is not None:
                raise TypeError(f"{name} is not supported: use {_INSTEAD[name]}")
        if not in_order:
            raise TypeError("in_order=False is not supported: batches come in order, which costs nothing here")
        if batch_size is None:
            raise TypeError(
                "batch_size=None is not supported: use the size of a batch, the library makes batches itself"
            )
        if timeout < 0:
            raise ValueError(f"timeout: expected seconds, 0 or more, got {timeout}")
        options["batch_size"] = None if "global_batch_size" in options else batch_size
        options["num_workers"] = num_workers
        if drop_last:
            options["drop_last"] = True
        options.update(_order(shuffle, sampler, generator, options))
        if pin_memory and torch.cuda.is_available():
            options["pin_memory"] = True
        elif pin_memory:
            warnings.warn("pin_memory=True does nothing, for PyTorch has no CUDA here", stacklevel=2)
        if prefetch_factor is not None:
            options["prefetch_depth"] = prefetch_factor * max(num_workers or 1, 1)
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.persistent_workers = persistent_workers
        self.sampler = sampler
        self.timeout = timeout
        opened, self._template, self._texts = _open(dataset, options)
        self.loader = Loader(opened, **options)
        if fields is not None:
            known = [field.name for field in self.loader.fields]
            if not set(fields) <= set(known):
                raise KeyError(f"fields: expected some of {known}, got {list(fields)}")
            self._template = list(fields)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        epoch = iter(self.loader)
        if not self.timeout:
            for batch in epoch:
                yield self._sample(batch)
            return
        while (next_one := self.loader.next(self.timeout)) is not None:
            yield self._sample(next_one)

    def _sample(self, batch: _core.Batch) -> Any:
        made = tensors(batch)
        for name in self._texts:
            made[name] = [bytes(text.tolist()).decode() for text in made[name]]
        return made if self._template is None else rebuild(self._template, made)

    def state_dict(self) -> dict[str, str]:
        """Where it is; what was loaded ahead does not count."""
        return self.loader.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes there: the next ``for`` goes on in mid-epoch."""
        self.loader.load_state_dict(state_dict)

    def __enter__(self) -> DataLoader:
        return self

    def __exit__(self, *what: object) -> None:
        self.loader.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DataLoader cannot be pickled or copied: make it again, and hand over its state_dict()")


def _order(
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


def _open(dataset: Any, options: Mapping[str, Any]) -> tuple[Dataset, Template, list[str]]:
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
        whole, template, texts = _open(dataset.dataset, options)
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
