"""Batches as PyTorch tensors, and a loader with the argument names of ``torch.utils.data.DataLoader``.

Long because of its arguments: their documentation, and their types for checkers.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, Optional, Union, overload

try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "dataline.torch needs PyTorch, which is not installed: pip install 'dataline[torch]', or pip install torch; without "
        "it, use dataline.Loader for NumPy arrays and DLPack",
        name="torch",
    ) from error
import torch.utils.data

from . import (
    _core,
    _torch_checks,
    _torch_datasets,
    _torch_device,
    _torch_loop,
    _torch_objects,
    _torch_source,
)
from ._reader import Source, Template, rebuild
from ._rows import fields as names_of
from ._rows import nanoseconds
from ._torch_sampler import Sampler
from ._torch_tensors import over, tensors
from .dataset import Dataset, open
from .loader import Loader
from .metrics import Metrics
from .ragged import Ragged

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    from ._option_types import LoaderOptions

    Shuffle = Union[None, bool, Literal["none", "full", "window"]]
    _Uri = Union[Dataset, str, os.PathLike[str]]
    # The type of a loop's items follows from these three. __init__ has one signature, and __iter__ the overloads. If no
    # overload fits, checkers print each one, and those of __init__ would list all options.
    _Data = TypeVar("_Data", bound=Union[_Uri, Source, torch.utils.data.Dataset[Any]], covariant=True)
    _Names = TypeVar("_Names", bound=Optional[Sequence[str]], default=None, covariant=True)
    _Made = TypeVar("_Made", default=None, covariant=True)  # by collate_fn
    _Out = TypeVar("_Out")

    class _Unknown(Dataset):
        """Only Any replaces it."""

else:  # without bounds and defaults, which typing.TypeVar has from Python 3.13 on
    from typing import TypeVar

    _Data, _Names, _Made = TypeVar("_Data"), TypeVar("_Names"), TypeVar("_Made")

__all__ = ["DataLoader", "IterableDataset", "Sampler", "tensors"]


class DataLoader(Generic[_Data, _Names, _Made]):
    """A loader with the arguments of ``torch.utils.data.DataLoader``, which returns tensors.

    ================== ==================================================================================================
    argument           meaning
    ================== ==================================================================================================
    ``dataset``        a Dataset or URI. A TensorDataset is lent without a copy, a Subset is a ``subset``. Python code reads
                       any other object with ``__len__`` and ``__getitem__``, see below. An IterableDataset of PyTorch
                       decides the samples and their order: it has no order of the library, and no state
    ``batch_size``     the option; None: samples one by one, as in PyTorch
    ``shuffle``        the option, by its words. True is ``"full"``: another order each epoch, which depends only on the
                       seed. Without ``seed`` and ``generator``, the seed is drawn from PyTorch's generator at creation,
                       so an earlier ``torch.manual_seed`` fixes it. With several ranks, or with ``rank`` or
                       ``world_size``, it is 0, as for DistributedSampler, because ranks have to agree on an order
    ``sampler``        ``sample_indices``: its indices, read once at creation, the same each epoch. A sampler that returns
                       others in a later loop is an error, and so is a mask. A RandomSampler is ``shuffle=True``. A
                       SubsetRandomSampler is the same over a subset. A DistributedSampler sets ``rank``, ``world_size``,
                       ``shuffle``, ``seed`` and ``last_batch="pad"``; its ``set_epoch`` is followed. A
                       WeightedRandomSampler, or one with replacement, is an error that names the option to use
    ``batch_sampler``  PyTorch's BatchSampler over one of those: its sampler, ``batch_size`` and ``drop_last``. Any other
                       one with ``__len__``: its batches, read again each epoch; ``set_epoch`` is called, if it has one
    ``num_workers``    the option: threads; 0 is the caller's thread; None is the library's choice. For a dataset that is
                       Python code: processes, as in PyTorch; None is the library's threads
    ``collate_fn``     builds a batch from a list of samples, in the worker processes if there are any. A Dataset or URI
                       passes it ``dataset[i]``
    ``worker_init_fn``, ``multiprocessing_context``
                       for worker processes, as in PyTorch; an error if the library's threads do the work
    ``pin_memory``     the option, if PyTorch has CUDA. The tensors are page-locked (``is_pinned``) for the driver of
                       ``pin_memory_device`` (default: the current device). ``to(device, non_blocking=True)`` in the
                       current stream is safe: their memory is not reused before it. Without CUDA, it only warns, as in
                       PyTorch. ``pin_memory_device`` without ``pin_memory`` is an error
    ``drop_last``      the option
    ``timeout``        seconds that a batch may take, then Timeout (a TimeoutError); 0: no limit. If Python code makes the
                       batches, it applies to worker processes, and is an error without them
    ``generator``      ``seed``: its ``initial_seed()``, without the top bit
    ``prefetch_factor`` ``prefetch_depth``: batches per worker, times ``num_workers``, which must be set
    ``persistent_workers`` whether worker processes continue between epochs; threads live as long as the loader. An error
                       with ``num_workers=0``
    ``in_order``       no effect: batches come in order; False is an error
    ``fields``         (not in PyTorch) a name or names, to get a list of these instead of a dict
    ``device``         (not in PyTorch) the option: where the tensors are. ``"cuda"`` is the current device; if a launcher
                       started one process per device, it is the device of the local rank
    ``into``           (not in PyTorch) your own tensors, a dict by field or a list. Each batch is copied into them in
                       stream order, its memory is released immediately, and the loop gets ``into``. For static inputs
                       of CUDA graphs. Batches must have one size (``drop_last``, ``last_batch="pad"``)
    ================== ==================================================================================================

    **Python code.** PyTorch's own loader makes the batches in two cases. The first is ``collate_fn``, your own
    ``batch_sampler``, ``batch_size=None`` or an IterableDataset. The second is a dataset that is Python code, if
    ``num_workers`` is set, or if its samples are not arrays, numbers and text in dicts, lists and tuples. The library
    still decides what is in the batches: the order, ranks, seek and state are the same as everywhere, for any number of
    workers. Exceptions are those of the dataset. If the seed is known, random draws of worker processes depend on it and
    the epoch. An option about samples (``transform``, ``on_error``, ``device``, ``into``, ...) leaves a dataset of the
    second case to the library's threads, and is an error in the first case.

    CUDA tensors (``device="cuda"``) are the loader's own device memory, not copies. The stream that is current when a
    batch is delivered waits for it, so work on them can be queued immediately. When PyTorch drops them, in any thread,
    the loader waits, only on the device, for the work then queued in that stream. ``record_stream`` is not needed, and
    has no effect on memory that PyTorch does not own. If another stream reads them too, make it wait first, and make the
    first stream wait for it before they are dropped::

        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            shown = images.mean()
        torch.cuda.current_stream().wait_stream(side)

    All other keyword arguments are the library's options (``seed``, ``transform``, ``rank``, ...). Samples that are
    tuples become lists of tensors, dicts become dicts; a Dataset or URI returns a dict by field, and ``str`` is returned
    as a list. The seed is also drawn for ``weights`` and ``transform``, whose operators may be random. For type checkers,
    a loop over a Dataset or URI returns a dict of tensors; with ``fields`` a list; with ``collate_fn`` its result. A
    ragged field is a Ragged, which they recognise with ``isinstance``.

    ``rank`` and ``world_size`` are ``"auto"`` unless set: those of torch.distributed if its process group exists, else
    those of the launcher (``dataline.launcher()``), else 0 of 1. With ``rank=0, world_size=1`` each process reads
    everything.

    ``state_dict`` and ``load_state_dict`` work as in torchdata's StatefulDataLoader, in O(1), also in the middle of an
    epoch. A drawn seed is part of the state, and a loader whose seed was drawn adopts it.

    Attributes are those of PyTorch's loader. ``dataset`` is the argument, or for a URI the opened Dataset, with ``len``,
    ``classes``, ``class_to_idx`` and ``dataset[i]``. ``num_workers`` is the actual number, ``batch_size`` the samples in
    a batch of this rank. ``sampler`` and ``batch_sampler`` return the indices of the current epoch. ``loader.loader`` is
    the underlying Loader, with ``stats``, ``seek``, ``cancel``.
    """

    loader: Loader
    """The underlying Loader, or one that counts for PyTorch's loader; none over an IterableDataset of PyTorch."""
    _drawn: Optional[int] = None  # a seed out of PyTorch's generator
    _objects: Union[None, _torch_objects.Objects, _torch_objects.Stream] = (
        None  # who makes the batches, if not the loader
    )
    _template: Template = None
    _texts: Sequence[str] = ()
    _into: Optional[_torch_device.Into] = None
    _keeps = False

    def __init__(
        self,
        dataset: _Data,
        batch_size: Optional[int] = 1,
        shuffle: Shuffle = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: Optional[int] = None,
        collate_fn: Optional[Callable[[list[Any]], _Made]] = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Optional[Callable[[int], Any]] = None,
        multiprocessing_context: Any = None,
        generator: Optional[torch.Generator] = None,
        *,
        prefetch_factor: Optional[int] = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        fields: Optional[_Names] = None,
        device: Union[None, str, int, torch.device] = None,
        into: Optional[_torch_device.Buffers] = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        if not _torch_checks.flag(in_order, "in_order"):
            raise TypeError("in_order=False is not supported: batches always come in order, at no cost")
        _torch_checks.function(collate_fn, "collate_fn")
        _torch_checks.function(worker_init_fn, "worker_init_fn")
        order = _torch_source.Order(batch_size, shuffle, sampler, batch_sampler, drop_last, generator, options)
        self._order = order
        if order.is_of(dataset):
            _torch_source.take_part(order.options)
            self._drawn = _torch_source.drawn_seed(order.generator, order.options)
        if self._drawn is not None:
            order.options["seed"] = self._drawn
        self.device = torch.device("cpu") if device is None else _torch_device.device_of(device)
        samples: Any = open(dataset, **order.options) if isinstance(dataset, (str, os.PathLike)) else dataset
        self.dataset = samples
        self._source = samples
        if not isinstance(samples, torch.utils.data.IterableDataset):
            self._source = order.drawn_from(samples)
        self.batch_size = order.batch_size
        self.drop_last = order.drop_last or order.options.get("last_batch") == "drop"
        self._workers = _torch_checks.option_number(num_workers, "num_workers")
        self.persistent_workers = _torch_checks.flag(persistent_workers, "persistent_workers")
        self.prefetch_factor = _torch_checks.prefetch_factor(
            prefetch_factor, self._workers, options.get("prefetch_depth")
        )
        self._sampler = sampler
        self._batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.in_order = True
        self.timeout = max(nanoseconds(timeout) / 1e9, 0)
        self._in_flight = _torch_device.InFlight()
        pins = _torch_checks.option_flag(pin_memory, "pin_memory")
        _torch_checks.pin_memory_device(pin_memory_device, pins, self.device.type == "cpu")
        self.pin_memory = pins and torch.cuda.is_available()
        self.pin_memory_device = pin_memory_device
        if pins and not self.pin_memory:
            warnings.warn("pin_memory=True has no effect: PyTorch has no CUDA", stacklevel=2)
        given = {"fields": fields, "device": device, "into": into}
        others = [name for name, value in {**order.options, **given}.items() if value is not None]
        others = sorted(set(others) - _torch_source.OF_THE_ORDER)
        why = _torch_source.made_by_python(self._source, order, collate_fn, self._workers, not others)
        _torch_checks.of_processes(why, self._workers, vars(self))
        if why is None:
            self._load(fields, into)
        elif others:
            raise TypeError(
                f"{why}: Python code makes its batches, but {', '.join(others)} needs the library to make them"
            )
        else:
            self._objects = _torch_objects.made(self, order.options)
        if isinstance(self._objects, _torch_objects.Objects):
            self.loader = self._objects.position
        if order.options.get("global_batch_size") is not None:
            self.batch_size = int(order.options["global_batch_size"]) // _torch_source.place(order.options)[1]

    def _load(self, fields: Optional[Sequence[str]], into: Optional[_torch_device.Buffers]) -> None:
        """The library makes the batches."""
        options = self._order.options
        options["num_workers"] = self._workers
        if self.device.type != "cpu":
            options["device"] = str(self.device)
        if self.pin_memory:
            options["pin_memory"] = True
            if self.device.type == "cpu":
                options["pin_memory_device"] = str(_torch_device.device_of(self.pin_memory_device or "cuda"))
                self._keeps = True
        if self.prefetch_factor is not None:
            options["prefetch_depth"] = self.prefetch_factor * (self._workers or 1)
        if _torch_datasets.is_empty(self._source):  # none of these has a field to be about
            options.pop("transform", None)
            fields, into = None, None
        opened, self._template, self._texts = _torch_datasets.opened(self._source, options)
        self.loader = _torch_datasets.loader(Loader, opened, **options)
        if fields is not None:
            asked = names_of(fields)
            known = [field.name for field in self.loader.fields]
            if not set(asked) <= set(known):
                raise KeyError(f"fields: expected some of {known}, got {asked}")
            self._template = asked
        if into is not None:
            if not self.drop_last and options.get("last_batch", "keep") != "pad":
                raise ValueError("into: the last batch may be shorter: use drop_last=True or last_batch='pad'")
            self._into = self._buffers(into)

    def _buffers(self, into: _torch_device.Buffers) -> _torch_device.Into:
        parts = self._template
        if parts is None:
            parts = [field.name for field in self.loader.fields]
        elif not isinstance(parts, list) or not all(isinstance(name, str) for name in parts):
            raise TypeError("into: expected samples that are tuples of arrays, or a Dataset or URI")
        return _torch_device.Into(into, parts, self.loader.fields, self.device)

    def __len__(self) -> int:
        return len(self.loader if self._objects is None else self._objects)

    @overload
    def __iter__(self: DataLoader[_Unknown, Any, Any]) -> Iterator[Any]: ...
    @overload
    def __iter__(self: DataLoader[Any, Any, _Unknown]) -> Iterator[Any]: ...
    @overload
    def __iter__(self: DataLoader[_Uri, None, None]) -> Iterator[dict[str, torch.Tensor]]: ...
    @overload
    def __iter__(self: DataLoader[Any, Sequence[str], None]) -> Iterator[list[torch.Tensor]]: ...
    @overload
    def __iter__(self: DataLoader[Any, None, None]) -> Iterator[Any]: ...
    @overload
    def __iter__(self: DataLoader[Any, Any, _Out]) -> Iterator[_Out]: ...
    def __iter__(self) -> Iterator[Any]:
        self._order.begin()
        epoch = self._order.epoch_set()
        if epoch is not None and epoch != self.loader.position.epoch:
            self.loader.seek(epoch)
        if self._objects is not None:
            return self._objects.loop()
        return _torch_loop.Loop(iter(self.loader), self)

    def _sample(self, batch: _core.Batch) -> tuple[Any, Optional[dict[str, Any]]]:
        """The loop's item, and the sources of copies that may still be running when the loop requests the next one."""
        parts = batch.tensors()
        made = over(batch, parts)
        if self._into is not None:
            return self._into.fill(batch, made, self._in_flight), None
        pinned = made.copy() if self._keeps and any(part.pinned for part in parts) else None
        for name in self._texts:
            packed = Ragged(made[name].data.cpu(), made[name].offsets)
            made[name] = [bytes(text.tolist()).decode() for text in packed]
        return (made if self._template is None else rebuild(self._template, made)), pinned

    @property
    def num_workers(self) -> int:
        """Active workers: threads, or processes if Python code makes the batches. 0: the thread of the loop."""
        by_library = self._objects is None and not self.loader.closed
        return self.loader.stats().num_workers if by_library else self._workers or 0

    @property
    def sampler(self) -> Any:
        """The argument, or else the indices of the current epoch, for this rank."""
        if self._sampler is not None:
            return self._sampler
        if self._objects is not None and self._objects.theirs is not None:
            return self._objects.theirs.sampler
        return _torch_source.of_loader(self._order.options, self.loader, self.batch_size or 1)

    @property
    def batch_sampler(self) -> Any:
        """The argument, or else the indices of each batch. None with ``batch_size=None``, as in PyTorch."""
        if self._batch_sampler is not None or self._order.single:
            return self._batch_sampler
        if self._objects is not None and self._objects.theirs is not None:
            return self._objects.theirs.batch_sampler
        return torch.utils.data.BatchSampler(self.sampler, self.batch_size, self.drop_last)

    def metrics(self) -> Metrics:
        """The measurements of ``loader``. If Python code makes the batches, they are not counted."""
        return self._loader_with_a_place().metrics()

    def state_dict(self) -> dict[str, Any]:
        """The current position; batches loaded ahead do not count. Contains the seed if it was drawn from PyTorch's
        generator."""
        state: dict[str, Any] = {**self._loader_with_a_place().state_dict()}
        if self._drawn is not None:
            state["seed"] = self._drawn
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Seeks to a position: the next ``for`` continues in the middle of the epoch. If the seed was drawn, the one of
        the state replaces it: ``loader`` is then another object, and earlier loops have ended."""
        seed, before = state_dict.get("seed"), self._loader_with_a_place()
        if self._drawn is None or seed is None or seed == self._drawn:
            before.load_state_dict(state_dict)
            return
        options = {**self._order.options, "seed": seed}
        objects = None if self._objects is None else _torch_objects.made(self, options)
        after = (
            objects.position
            if isinstance(objects, _torch_objects.Objects)
            else _torch_datasets.loader(Loader, before.dataset, **options)
        )
        try:
            after.load_state_dict(state_dict)
        except BaseException:
            after.close()
            raise
        self.loader, self._objects, self._drawn = after, objects, seed
        before.close()

    def _loader_with_a_place(self) -> Loader:
        if isinstance(self._objects, _torch_objects.Stream):
            raise TypeError(
                "an IterableDataset of PyTorch has no position to resume from: use a dataset with __getitem__"
            )
        return self.loader

    def __enter__(self) -> DataLoader[_Data, _Names, _Made]:
        return self

    def __exit__(self, *what: object) -> None:
        if self._objects is not None:
            self._objects.close()
        else:
            self.loader.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DataLoader cannot be pickled or copied: create it again, and pass its state_dict()")


class IterableDataset(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """A job's batches for code that accepts only PyTorch's own DataLoader, such as trainers::

        batches = dataline.torch.IterableDataset("mnist:data", batch_size=64, shuffle=True, seed=7)
        for images, labels in torch.utils.data.DataLoader(batches, batch_size=None):
            ...

    The arguments are those of ``dataline.torch.DataLoader``. It creates one in each process that loops over it. It may be
    sent to worker processes (``num_workers`` of PyTorch's loader) if ``dataset`` can be sent: a URI, or a source that can
    be pickled. Worker processes are not needed for speed: the library has threads. Each of ``n`` worker processes
    delivers its own part of the samples, as if there were ``n`` times as many ranks. A seed that is not set is drawn
    here, once for all.

    A ``for`` is one epoch; the next ``for`` continues with the next epoch. Worker processes that live for one epoch need to
    know which: call ``set_epoch(epoch)`` before each, or use ``persistent_workers=True``.
    """

    def __init__(self, dataset: Any, **arguments: Any) -> None:
        super().__init__()
        if arguments.get("batch_sampler") is None and not hasattr(arguments.get("sampler"), "num_replicas"):
            _torch_source.take_part(arguments)  # here: worker processes know nothing of torch.distributed
        seed = _torch_source.drawn_seed(arguments.get("generator"), arguments)
        if seed is not None:
            arguments["seed"] = seed
        self._dataset, self._arguments = dataset, arguments
        self._epoch = 0
        self._made: Optional[tuple[int, DataLoader[Any, Any, Any]]] = None  # of the process with this number

    def _loader(self) -> DataLoader[Any, Any, Any]:
        if self._made is None or self._made[0] != os.getpid():
            arguments = dict(self._arguments)
            worker = torch.utils.data.get_worker_info()
            if worker is not None:
                rank, world_size = _torch_source.place(arguments)
                arguments["rank"] = rank * worker.num_workers + worker.id
                arguments["world_size"] = world_size * worker.num_workers
            self._made = os.getpid(), DataLoader(self._dataset, **arguments)
        return self._made[1]

    def __len__(self) -> int:
        """The number of batches per epoch, without worker processes."""
        return len(self._loader())

    def __iter__(self) -> Iterator[Any]:
        loader = self._loader()
        loader.loader.seek(self._epoch)
        self._epoch += 1
        return iter(loader)

    def set_epoch(self, epoch: int) -> None:
        """Makes the next ``for`` this epoch, from 0."""
        self._epoch = epoch

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}
