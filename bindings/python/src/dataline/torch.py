"""Batches as PyTorch tensors, and a loader with the argument names of ``torch.utils.data.DataLoader``.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, Optional, Union

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "dataline.torch needs PyTorch, which is not installed: pip install 'dataline[torch]', or pip install torch; without "
        "it, dataline.Loader gives NumPy arrays and DLPack",
        name="torch",
    ) from error
import torch.utils.data
from torch.utils.dlpack import from_dlpack

from . import _core, _torch_device, _torch_loop, _torch_source
from ._reader import Source, rebuild
from ._torch_sampler import Sampler
from .dataset import Dataset
from .loader import Loader
from .ragged import Ragged

__all__ = ["DataLoader", "IterableDataset", "Sampler", "tensors"]

_CPU = 1  # DLPack's number of the device
# PyTorch began to give and take versioned capsules, which can say read-only, in one release.
_MAX_VERSION = (1, 0) if "max_version" in inspect.signature(torch.Tensor.__dlpack__).parameters else None


# What copies of `tensors(..., non_blocking=True)` may still read.
_in_flight = _torch_device.InFlight()


def tensors(
    batch: _core.Batch, device: Union[None, str, torch.device] = None, non_blocking: bool = False
) -> dict[str, Any]:
    """All fields as tensors over the batch's memory, whose lease they hold; a ragged field as a Ragged of two.

    Of a batch in device memory they are CUDA tensors: the current stream of that device waits for the batch, the CPU does
    not, and the memory is not written again before the work the stream has, when the last of them is dropped, is done.
    Another stream that reads them has to be named: ``batch.wait(stream)``.

    A field that must not change (``tensor.read_only``) is shared too, PyTorch cannot say so; before PyTorch took DLPack
    1.0 it is copied, and in device memory an error (BufferError). ``device``: copied there, as ``Tensor.to`` does, which
    ``non_blocking`` is for: page-locked memory is kept until the copies are done.
    """
    parts = batch.tensors()
    made = _over(batch, parts)
    if device is None:
        return made
    moved = {name: _to(value, device, non_blocking) for name, value in made.items()}
    if non_blocking and torch.device(device).type == "cuda" and any(part.pinned for part in parts):
        _in_flight.hold(made)
    return moved


def _over(batch: _core.Batch, parts: Sequence[_core.Tensor]) -> dict[str, Any]:
    where, index = parts[0].__dlpack_device__() if parts else (_CPU, 0)
    if where != _CPU:
        _torch_device.wait_here(batch, index)
    return {part.name: _tensor(part, where == _CPU) for part in parts}


def _tensor(tensor: _core.Tensor, on_host: bool) -> Any:
    if on_host:
        copy = True if _MAX_VERSION is None and tensor.read_only else None
        made = from_dlpack(tensor.__dlpack__(max_version=_MAX_VERSION, copy=copy))
    else:  # the stream waits already, for all fields at once
        made = from_dlpack(tensor.__dlpack__(stream=-1, max_version=_MAX_VERSION))
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
    ``shuffle``        ``shuffle="full"``: another order each epoch, decided by the seed alone. Without ``seed`` and
                       ``generator`` that is drawn from PyTorch's generator when the loader is made, so that
                       ``torch.manual_seed`` before decides it. With ``rank`` or ``world_size`` it is 0, as
                       DistributedSampler's, for ranks have to agree on an order
    ``sampler``        ``sample_indices``: its indices, read once, the same each epoch. RandomSampler, DistributedSampler
                       and WeightedRandomSampler are errors that name the option
    ``num_workers``    the option: threads, 0 is the caller's; None leaves the library's choice
    ``pin_memory``     the option, where PyTorch has CUDA: the tensors are page-locked (``is_pinned``) as far as the
                       driver of ``pin_memory_device`` goes (without it the current device), and
                       ``to(device, non_blocking=True)`` in the current stream is safe: their memory is not filled
                       again before it. A warning and nothing where it has not, as in PyTorch
    ``drop_last``      the option
    ``timeout``        seconds that a batch may take, then Timeout (a TimeoutError); 0: no limit
    ``generator``      ``seed``: its ``initial_seed()``, less the top bit
    ``prefetch_factor`` ``prefetch_depth``: batches a worker, times the workers
    ``persistent_workers`` nothing: threads live as long as the loader
    ``in_order``       nothing: batches come in order; False is an error
    ``batch_sampler``, ``collate_fn``, ``worker_init_fn``, ``multiprocessing_context``
                       errors that say what to use
    ``fields``         (not in PyTorch) names, to get a list of these instead of a dict
    ``device``         (not in PyTorch) the option: where the tensors are. ``"cuda"`` is the current device, or with one
                       process a device, by ``LOCAL_RANK``, that one
    ``into``           (not in PyTorch) tensors of yours, a dict by field or a list: each batch is copied into them in
                       stream order, its memory is given back at once, and ``into`` is what the loop gets. For the static
                       inputs of CUDA graphs. Batches must be of one size (``drop_last``, ``last_batch="pad"``)
    ================== ==================================================================================================

    CUDA tensors (``device="cuda"``) are the loader's own device memory, not copies. The stream that is current when a
    batch is handed out waits for it, so work on them can be queued at once; when PyTorch drops them, in whatever thread,
    the loader waits for what that stream has by then, and only on the device. ``record_stream`` is not needed, and does
    nothing for memory that is not PyTorch's. If another stream reads them too, let it wait first, and let the
    first wait for it before they are dropped::

        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            shown = images.mean()
        torch.cuda.current_stream().wait_stream(side)

    All other keyword arguments are the library's options (``seed``, ``transform``, ``rank``, ...). Samples that are
    tuples give lists of tensors, dicts give dicts; a Dataset or URI gives a dict by field, ``str`` comes back as a list.
    The seed is drawn for ``weights`` and ``transform`` too, whose operators may be random.

    Under a launcher (WORLD_SIZE of the environment, or torch.distributed, says more than 1) ``rank`` and ``world_size``
    have to be given: a ValueError otherwise, for each process would read everything.

    ``state_dict`` and ``load_state_dict`` as torchdata's StatefulDataLoader has them, in O(1), in mid-epoch too. A drawn
    seed is part of the state, and a loader whose seed was drawn takes it over.
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
        device: Union[None, str, int, torch.device] = None,
        into: Optional[_torch_device.Buffers] = None,
        **options: Any,
    ) -> None:
        refused = {
            "batch_sampler": batch_sampler,
            "collate_fn": collate_fn,
            "worker_init_fn": worker_init_fn,
            "multiprocessing_context": multiprocessing_context,
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
        _torch_source.refuse_to_read_everything_in_each_process(options)
        options.update(_torch_source.order_of(shuffle, sampler, generator, options))
        self._drawn = _torch_source.drawn_seed(generator, options)
        if self._drawn is not None:
            options["seed"] = self._drawn
        self.device = torch.device("cpu") if device is None else _torch_device.device_of(device)
        if device is not None:
            options["device"] = str(self.device)
        if pin_memory and torch.cuda.is_available():
            options["pin_memory"] = True
            if self.device.type == "cpu":
                options["pin_memory_device"] = str(_torch_device.device_of(pin_memory_device or "cuda"))
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
        opened, self._template, self._texts = _torch_source.opened(dataset, options)
        self._options = options
        self.loader = Loader(opened, **options)
        if fields is not None:
            known = [field.name for field in self.loader.fields]
            if not set(fields) <= set(known):
                raise KeyError(f"fields: expected some of {known}, got {list(fields)}")
            self._template = list(fields)
        self._in_flight = _torch_device.InFlight()
        self._keeps = bool(options.get("pin_memory")) and self.device.type == "cpu"
        self._into = None
        if into is not None:
            if not drop_last and options.get("last_batch", "keep") == "keep":
                raise ValueError("into: the last batch may be shorter: use drop_last=True or last_batch='pad'")
            self._into = self._buffers(into)

    def _buffers(self, into: _torch_device.Buffers) -> _torch_device.Into:
        names = self._template
        if names is None:
            names = [field.name for field in self.loader.fields]
        elif not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TypeError("into: expected samples that are tuples of arrays, or a Dataset or URI")
        return _torch_device.Into(into, names, self.loader.fields, self.device)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> _torch_loop.Loop:
        return _torch_loop.Loop(iter(self.loader), self)

    def _sample(self, batch: _core.Batch) -> tuple[Any, Optional[dict[str, Any]]]:
        """What the loop gets, and what copies that it starts may still read when it asks for the next."""
        parts = batch.tensors()
        made = _over(batch, parts)
        if self._into is not None:
            return self._into.fill(batch, made, self._in_flight), None
        pinned = made.copy() if self._keeps and any(part.pinned for part in parts) else None
        for name in self._texts:
            packed = Ragged(made[name].data.cpu(), made[name].offsets)
            made[name] = [bytes(text.tolist()).decode() for text in packed]
        return (made if self._template is None else rebuild(self._template, made)), pinned

    def state_dict(self) -> dict[str, Any]:
        """Where it is; what was loaded ahead does not count. With the seed, where it was drawn from PyTorch's generator."""
        state: dict[str, Any] = {**self.loader.state_dict()}
        if self._drawn is not None:
            state["seed"] = self._drawn
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes there: the next ``for`` goes on in mid-epoch. A seed that was drawn gives way to the state's: ``loader`` is
        another one then, and loops over the one before are over."""
        seed = state_dict.get("seed")
        if self._drawn is None or seed is None or seed == self._drawn:
            self.loader.load_state_dict(state_dict)
            return
        before = self.loader
        after = Loader(before.dataset, **{**self._options, "seed": seed})
        try:
            after.load_state_dict(state_dict)
        except BaseException:
            after.close()
            raise
        self.loader, self._drawn = after, seed
        before.close()

    def __enter__(self) -> DataLoader:
        return self

    def __exit__(self, *what: object) -> None:
        self.loader.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DataLoader cannot be pickled or copied: make it again, and hand over its state_dict()")


class IterableDataset(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """A job's batches for what takes nothing but PyTorch's own DataLoader, as trainers do::

        batches = dataline.torch.IterableDataset("mnist:data", batch_size=64, shuffle=True, seed=7)
        for images, labels in torch.utils.data.DataLoader(batches, batch_size=None):
            ...

    The arguments are those of ``dataline.torch.DataLoader``. It makes one of these in each process that loops over it, so it
    may be sent to worker processes (``num_workers`` of PyTorch's loader), if ``dataset`` may: a URI, a source that can be
    pickled. They are not needed for speed: the library has threads. Of ``n`` worker processes each delivers its own part of
    the samples, as if there were ``n`` times as many ranks. A seed that is not given is drawn here, once for all of them.

    A ``for`` is one epoch, the next one goes on with the next. Worker processes that live for one epoch have to be told
    which: ``set_epoch(epoch)`` before each, or ``persistent_workers=True``.
    """

    def __init__(self, dataset: Any, **arguments: Any) -> None:
        super().__init__()
        seed = _torch_source.drawn_seed(arguments.get("generator"), arguments)
        if seed is not None:
            arguments["seed"] = seed
        self._dataset, self._arguments = dataset, arguments
        self._epoch = 0
        self._made: Optional[tuple[int, DataLoader]] = None  # of the process with this number

    def _loader(self) -> DataLoader:
        if self._made is None or self._made[0] != os.getpid():
            arguments = dict(self._arguments)
            worker = torch.utils.data.get_worker_info()
            if worker is not None:
                rank, world_size = arguments.get("rank") or 0, arguments.get("world_size") or 1
                arguments["rank"] = rank * worker.num_workers + worker.id
                arguments["world_size"] = world_size * worker.num_workers
            self._made = os.getpid(), DataLoader(self._dataset, **arguments)
        return self._made[1]

    def __len__(self) -> int:
        """Batches in an epoch, without worker processes."""
        return len(self._loader())

    def __iter__(self) -> Iterator[Any]:
        loader = self._loader()
        loader.loader.seek(self._epoch)
        self._epoch += 1
        return iter(loader)

    def set_epoch(self, epoch: int) -> None:
        """The next ``for`` is this epoch, from 0."""
        self._epoch = epoch

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}
