"""Batches from PyTorch's own loader in the library's order: if Python code makes them (``collate_fn``, worker processes,
samples that are not arrays).

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Optional, Protocol, Union

import torch
import torch.utils.data

from . import _torch_datasets
from ._torch_source import Order
from .dataset import Dataset, from_arrays
from .errors import of_code
from .loader import Loader


def _known(dataset: Any, collate_fn: Any) -> Dataset:
    """The dataset that a state refers to: if possible, the one of a loader without worker processes."""
    if isinstance(dataset, Dataset):
        return dataset
    if collate_fn is None and len(dataset) > 0 and _torch_datasets.is_plain(dataset[0]):
        return _torch_datasets.opened(dataset, {})[0]
    return _torch_datasets.counted(len(dataset))


class Position(Loader):
    """The position of a job, and its state. Its own batches are never requested: PyTorch's loader makes them."""

    def __init__(self, dataset: Dataset, **options: Any) -> None:
        super().__init__(dataset, **{**options, "num_workers": 0, "prefetch_depth": 1, "max_leases": 1})
        self._epochs = int(options.get("epochs") or 0)
        self._resumes = True  # the next loop continues here, in mid-epoch too
        self.moves = 0  # seeks and loads: each ends the current loop, as it does with the library's batches

    def seek(self, epoch: int, step: int = 0) -> None:
        super().seek(epoch, step)
        self._moved()

    def load_state(self, text: str) -> None:
        super().load_state(text)
        self._moved()

    def _moved(self) -> None:
        self._resumes = True
        self.moves += 1

    def begin(self) -> Optional[tuple[int, int]]:
        """Where the next loop starts; None: after the last epoch."""
        epoch, step = self.position
        if not self._resumes:
            epoch, step = epoch + 1, 0
        if self._epochs and epoch >= self._epochs:
            return None
        self._seek(epoch, step)
        self._resumes = True
        return epoch, step

    def delivered(self, epoch: int, step: int) -> None:
        """Records that this batch was delivered. After the last one, the end of the epoch has not been returned yet."""
        self._seek(epoch, step + 1)
        self._resumes = False

    def ended(self, epoch: int) -> None:
        """Records that a loop reached the end of that epoch."""
        self._seek(epoch + 1, 0)
        self._resumes = True


class _Order:
    """The indices of each batch, as PyTorch's ``batch_sampler``, from the start of the loop."""

    def __init__(self, count: int, options: Mapping[str, Any], single: bool) -> None:
        same = from_arrays({"x": torch.zeros(1, dtype=torch.uint8).expand(count)})
        self._loader = _torch_datasets.loader(Loader, same, **{**options, "num_workers": 0})
        self._single = single  # an index each, where batch_size is None
        self.begins = (0, 0)

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        self._loader.seek(*self.begins)
        for batch in self._loader:
            indices = batch.info.indices.tolist()
            yield indices[0] if self._single else indices


class _Given:
    """The batches of a ``batch_sampler``. Its ``set_epoch`` is called, if it has one, so that it can return the same
    batches again when a loop resumes in the middle of an epoch."""

    def __init__(self, batches: Any) -> None:
        self._batches = batches
        self.begins = (0, 0)

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        epoch, step = self.begins
        if hasattr(self._batches, "set_epoch"):
            self._batches.set_epoch(epoch)
        return itertools.islice(iter(self._batches), step, len(self._batches))


class Arguments(Protocol):
    """The arguments of the loader."""

    _source: Any
    _workers: Optional[int]
    prefetch_factor: Optional[int]
    persistent_workers: bool
    collate_fn: Any
    worker_init_fn: Any
    multiprocessing_context: Any
    timeout: float
    pin_memory: bool
    pin_memory_device: str
    _order: Order


def made(asked: Arguments, options: Mapping[str, Any]) -> Union[Objects, Stream]:
    """PyTorch's loader with the requested arguments."""
    workers = asked._workers or 0
    arguments: dict[str, Any] = {"num_workers": workers, "pin_memory": asked.pin_memory, "collate_fn": asked.collate_fn}
    if asked.pin_memory_device:
        arguments["pin_memory_device"] = asked.pin_memory_device
    if workers > 0:
        names = ("timeout", "worker_init_fn", "multiprocessing_context", "persistent_workers", "prefetch_factor")
        arguments.update({name: getattr(asked, name) for name in names if getattr(asked, name) is not None})
    if isinstance(asked._source, torch.utils.data.IterableDataset):
        return Stream(asked, options, arguments)
    return Objects(asked, options, arguments)


class Stream:
    """PyTorch's loader over its IterableDataset, which decides the samples and their order."""

    def __init__(self, asked: Arguments, options: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        order = asked._order
        of_another = {name for name, value in options.items() if value} - {"batch_size", "drop_last", "seed"}
        if order.batches is not None:
            of_another.add("batch_sampler")
        if order.sampled:
            of_another.add("sampler")
        if of_another:
            names = ", ".join(sorted(of_another))
            raise ValueError(f"{names}: an IterableDataset decides the samples and their order")
        size = {} if order.single else {"drop_last": order.drop_last}
        self.theirs = self._made = torch.utils.data.DataLoader(
            asked._source, order.batch_size, generator=order.generator, **size, **arguments
        )

    def __len__(self) -> int:
        return len(self._made)

    def loop(self) -> Iterator[Any]:
        return iter(self._made)

    def close(self) -> None:
        self._made = None


class Objects:
    """PyTorch's loader over a map-style dataset. ``position`` is its position."""

    def __init__(self, asked: Arguments, options: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        order, dataset = asked._order, asked._source
        self._order: Union[_Given, _Order]
        if order.batches is not None:
            self._order = _Given(order.batches)
            counted = _torch_datasets.counted(len(order.batches))
            self.position = _torch_datasets.loader(Position, counted, **{**options, "batch_size": 1})
            arguments["batch_sampler"] = self._order
        else:
            self._order = _Order(len(dataset), options, order.single)
            self.position = _torch_datasets.loader(Position, _known(dataset, asked.collate_fn), **options)
            arguments["sampler" if order.single else "batch_sampler"] = self._order
            arguments.update({"batch_size": None} if order.single else {})
        self._seed = options.get("seed")
        self._generator = torch.Generator()
        if self._seed is not None:
            arguments["generator"] = self._generator
        self._made = torch.utils.data.DataLoader(dataset, **arguments)
        # The loader that provides the samplers, if a batch_sampler decides the order.
        self.theirs = self._made if order.batches is not None else None
        self._timeout = arguments.get("timeout")
        self._loops = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.position)

    def loop(self) -> Loop:
        """One epoch, or the rest of one."""
        with self._lock:
            self._loops += 1
            made = Loop(self, self._loops)
            self._begin(made)
            return made

    def _begin(self, loop: Loop) -> None:
        begins = self.position.begin()
        loop.moves = self.position.moves
        loop.over = begins is None
        if begins is None:
            return
        loop.epoch, loop.step = self._order.begins = begins
        if self._seed is not None:
            # What worker processes draw depends on seed and epoch, not on the epochs before.
            self._generator.manual_seed((self._seed * 0x9E3779B97F4A7C15 + loop.epoch) % 2**63)
        loop.batches = iter(self._made)

    def take(self, loop: Loop) -> Any:
        with self._lock:
            if loop.over:
                raise StopIteration
            if loop.number != self._loops or loop.moves != self.position.moves:
                raise of_code("DL_ERR_WRONG_STATE", "this epoch was ended by a newer one, a seek or a loaded state")
            try:
                made = next(loop.batches)
            except StopIteration:
                loop.over = True
                self.position.ended(loop.epoch)
                raise
            except Exception as error:
                if self._timeout and "timed out" in str(error):
                    raise of_code("DL_TIMEOUT", str(error)) from error
                self._delivered(loop)  # PyTorch's loader goes on behind it
                raise
            self._delivered(loop)
            return made

    def _delivered(self, loop: Loop) -> None:
        self.position.delivered(loop.epoch, loop.step)
        loop.step += 1

    def close(self) -> None:
        self._made = None
        self.position.close()


class Loop:
    """One loop's batches. Threads may share it: each batch goes to one of them. The lock of its owner protects everything
    except ``number``."""

    batches: Iterator[Any]
    epoch = step = 0  # of the next batch
    moves = 0  # of the position, when it began
    over = False

    def __init__(self, owner: Objects, number: int) -> None:
        self._owner = owner
        self.number = number

    def __iter__(self) -> Loop:
        return self

    def __len__(self) -> int:
        return len(self._owner.position)

    def __next__(self) -> Any:
        return self._owner.take(self)
