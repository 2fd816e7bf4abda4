"""Loaders.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

from . import _core
from ._launcher import environment
from ._options import Log, build
from ._rows import nanoseconds, row, whole
from ._tracing import Delivery
from .dataset import Dataset, open
from .errors import NoSuchFieldError
from .metrics import Metrics
from .schema import BadSample, Field, Part, PixelScale, PlanStage, Position, Stats, Tuned
from .tables import options_help

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["Loader"]


class Loader(_core.Loader):
    """A job's stream of batches, loaded ahead by threads of the library; owns them, its memory and its position.

    ``for batch in loader`` is one epoch and ``len(loader)`` its batches; after a ``break`` the next ``for`` starts the next
    epoch, after ``seek`` or ``load_state`` it continues there. There is one position, so a newer loop, a seek or a loaded
    state ends the current loop: its next step raises WrongStateError. Several threads may call ``next``; each gets another
    batch. To divide an epoch, share one iterator between threads: each batch goes to one of them, and all see the end.
    Ctrl-C is seen while waiting, and the loader can be used after it. Waiting never holds the interpreter's lock.
    In a forked child every call raises ForkedError.

    ``dataset`` is a Dataset, or what ``open`` takes. Options are keyword arguments, None leaves a default; arrays
    (``sample_indices``, ``weights``) are borrowed when they are packed i64 and f64. ``log(level, text)`` hears remarks,
    soon, on a Python thread; it is kept for the life of the process. ``extensions`` are operators of the program's own (and
    formats and storages, where ``dataset`` is to be opened).

    Raises CallError (UnknownOptionError names the nearest), MachineError when memory or threads do not suffice.

    Options:

    """

    dataset: Dataset
    _delivery: Optional[Delivery] = None  # of the trace that is being written to a function

    def __init__(
        self,
        dataset: Union[Dataset, str, os.PathLike[str]],
        *,
        cancel_token: Optional[_core.CancelToken] = None,
        log: Optional[Log] = None,
        extensions: Optional[_core.Extensions] = None,
        **options: Unpack[Options],
    ) -> None:
        made = build(options, cancel_token, log, extensions)
        made.set_environment(environment())
        if not isinstance(dataset, Dataset):
            dataset = open(dataset, cancel_token=cancel_token, log=log, extensions=extensions, **options)
        self.dataset = dataset
        self._create(dataset, made)

    def next(self, timeout: Optional[float] = None) -> Optional[_core.Batch]:
        """The next batch, in order; None once at the end of each epoch, the last too.

        ``timeout`` is in seconds: None waits for ever, 0 does not wait. With ``num_workers=0`` the call does the work
        itself, whatever the time-out.

        Raises EndOfJob after the last of ``epochs`` epochs, Timeout, DataError for bad samples (once a step, with
        ``on_error="raise"``; the next call gives the step's good samples; what a reader raised is its ``__cause__``),
        CancelledError, Interrupted, WrongStateError (with ``num_workers=0``, in a reader that this loader calls).
        """
        return self._next(-1 if timeout is None else nanoseconds(timeout))

    @property
    def position(self) -> Position:
        """What was delivered."""
        return Position(*self._position())

    def seek(self, epoch: int, step: int = 0) -> None:
        """Goes to a step of an epoch and ends the current loop. Clears a cancel and an interrupt. Batches that are held stay
        as they are.

        Raises DataError (out of range) with the limits.
        """
        self._seek(whole(epoch, "epoch"), whole(step, "step"))

    def set_indices(self, indices: Any) -> None:
        """The order (``sample_indices``) from the next epoch that has not begun; of the same length as the first."""
        self._set_indices(row(indices, "i64", "indices"))

    def state_dict(self) -> dict[str, str]:
        """``save_state`` as a dict, for checkpoints of dicts."""
        return {"dataline": self.save_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes to the position of a ``state_dict``."""
        if not isinstance(state.get("dataline"), str):
            raise ValueError(f"expected the state of a loader, {{'dataline': text}}, got a dict of {list(state)}")
        self.load_state(state["dataline"])

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a batch, after transforms; the first dim is -1 where batches may differ in size."""
        return tuple(Field(*field) for field in self._fields())

    def stats(self) -> Stats:
        """Counters since it was made."""
        return Stats(*self._stats())

    def set_workers(self, count: int) -> None:
        """From now on ``count`` workers work, 1 to ``tuned().most_workers``; the others sleep. Ends tuning. Any thread.

        Raises DataError for another number, and WrongStateError with ``num_workers=0``.
        """
        self._set_workers(whole(count, "count"))

    def tuned(self) -> Tuned:
        """Workers and depth in force, and what ``tune="on"`` or ``tune="watch"`` makes of them."""
        return Tuned(*self._tuned())

    def metrics(self) -> Metrics:
        """What it measures, as a table that outlives it. Loaders made with ``stats="full"`` measure all."""
        return Metrics(self._metrics())

    def trace_start(self, to: Union[str, os.PathLike[str], Callable[[bytes], object]]) -> None:
        """Writes what each thread does from now on, and the life of each batch, as JSON in Chrome's trace event format,
        which Perfetto and speedscope open: to a file, which is overwritten, or piece by piece to a function, on a thread
        of its own. At most 256 MiB; then, or when the disk is full or the function raises, the trace ends and the job
        goes on.

        Raises WrongStateError (a trace is being written), NotFoundError, NoPermissionError, SystemCallError.
        """
        if not callable(to):
            self._trace_start(os.fsencode(to))
            return
        delivery = Delivery(to)
        try:
            self._trace_start(delivery.pieces)
        except BaseException:
            delivery.pieces.end()
            raise
        self._delivery = delivery

    def trace_stop(self) -> None:
        """Ends the trace; so does ``close``. Without one it does nothing. When it returns, the text is whole.

        Raises SystemCallError when the file could not be written whole, and what the function raised.
        """
        delivery, self._delivery = self._delivery, None
        try:
            if not self.closed:
                self._trace_stop()
        finally:
            if delivery is not None:
                delivery.finish()

    @contextmanager
    def trace(self, to: Union[str, os.PathLike[str], Callable[[bytes], object]]) -> Iterator[None]:
        """``with loader.trace("trace.json"):`` traces what is done in it."""
        self.trace_start(to)
        try:
            yield
        finally:
            self.trace_stop()

    def pixel_scale(self, field: str, channel: int = 0) -> PixelScale:
        """How the pixels of a field are seen again: what is delivered in a channel is ``pixel * scale + offset``, pixels
        being the stored u8 or u16. Where all channels are alike any channel will do.

        Raises NoSuchFieldError, CallError (no such channel), UnsupportedError (values that are no longer those of pixels).
        """
        names = tuple(one.name for one in self.fields)
        if field not in names:
            raise NoSuchFieldError(f"no field {field!r}; there are {names!r}", -6, "DL_ERR_NO_SUCH_FIELD")
        return PixelScale(*self._pixel_scale(names.index(field), whole(channel, "channel")))

    def parts(self) -> tuple[Part, ...]:
        """The parts of the mix that it delivers, as they stand now; empty for other datasets."""
        return tuple(Part(*part) for part in self._parts())

    def plan(self) -> tuple[PlanStage, ...]:
        """Where each part of a sample's way runs, in order, field by field."""
        return tuple(PlanStage(*stage) for stage in self._plan())

    def bad_samples(self) -> list[BadSample]:
        """The bad samples met so far, in order of delivery."""
        return [
            BadSample(code, name, source, index, epoch, step, slot, None if stand_in < 0 else stand_in, message)
            for code, name, source, index, epoch, step, slot, stand_in, message in self._bad_samples()
        ]

    def _explain(self, error: BaseException) -> None:
        """Called with each error of ``next`` before it is raised."""
        self.dataset._explain(error)

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Loader cannot be pickled or copied: make it again from the same URI and options, and hand over its "
            "state_dict()"
        )

    def __repr__(self) -> str:
        if self.closed:
            return "<dataline.Loader, closed>"
        return f"<dataline.Loader at {self.position} of {len(self)} steps>"


# Python -OO drops docstrings.
if Loader.__doc__ is not None:
    Loader.__doc__ = Loader.__doc__.rstrip() + "\n\n" + options_help() + "\n"
