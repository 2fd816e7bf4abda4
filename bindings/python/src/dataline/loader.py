"""Loaders.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

from . import _calls, _core
from ._launcher import environment
from ._options import Log, build
from ._rows import nanoseconds, row, rows, whole
from ._tracing import Delivery
from .dataset import Dataset, open
from .errors import of_code
from .metrics import Metrics
from .schema import BadSample, Field, Part, PixelScale, PlanStage, Position
from .tables import options_help

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["Loader"]


class Loader(_calls.Loader):
    """A job's stream of batches, loaded ahead by threads of the library; owns the threads, its memory and its position.

    ``for batch in loader`` is one epoch and ``len(loader)`` its number of batches. After a ``break``, the next ``for``
    starts the next epoch. After ``seek`` or ``load_state``, it continues at that position. A loader has one position, so
    a newer loop, a seek or a loaded state ends the current loop: its next step raises WrongStateError. Several threads
    may call ``next``; each call gets a different batch. To share an epoch, share one iterator between threads: each batch
    goes to one of them, and all see the end. Ctrl-C interrupts a wait, and the loader stays usable. A wait never holds
    the interpreter's lock. In a forked child every call raises ForkedError.

    ``dataset`` is a Dataset, or an argument of ``open``. Options are keyword arguments; None leaves the default. Arrays
    (``sample_indices``, ``weights``) are borrowed if they are packed i64 and f64. ``log(level, text)`` receives log
    messages, with a short delay, on a Python thread; it is kept until the process ends. ``extensions`` are operators of
    your own (and formats and storages, if ``dataset`` is still to be opened).

    Raises CallError (UnknownOptionError names the nearest option), MachineError if memory or threads do not suffice.

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
        """Returns the next batch, in order; None once at the end of each epoch, including the last.

        ``timeout`` is in seconds: None waits without limit, 0 polls. With ``num_workers=0`` the call itself loads,
        without regard to the timeout.

        Raises EndOfJob after the last of ``epochs`` epochs, Timeout, CancelledError, Interrupted, WrongStateError (with
        ``num_workers=0``, in a reader that this loader calls). Raises DataError for bad samples; ``__cause__`` is the
        exception that a reader raised. With ``on_error="raise"`` this happens once per step; the next call delivers the
        good samples of that step.
        """
        return self._next(-1 if timeout is None else nanoseconds(timeout))

    @property
    def position(self) -> Position:
        """The current position: counts batches that were delivered."""
        return Position(*self._position())

    def seek(self, epoch: int, step: int = 0) -> None:
        """Seeks to a step of an epoch, and ends the current loop. Clears a cancel and an interrupt. Held batches stay
        valid.

        Raises DataError (out of range), which names the limits.
        """
        self._seek(whole(epoch, "epoch"), whole(step, "step"))

    def set_indices(self, indices: Any) -> None:
        """Replaces the order (``sample_indices``), starting with the next epoch that has not begun; the length must be
        the same."""
        self._set_indices(row(indices, "i64", "indices"))

    def state_dict(self) -> dict[str, str]:
        """``save_state`` as a dict, for checkpoints of dicts."""
        return {"dataline": self.save_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Seeks to the position of a ``state_dict``."""
        if not isinstance(state.get("dataline"), str):
            raise ValueError(f"expected the state of a loader, {{'dataline': text}}, got a dict of {list(state)}")
        self.load_state(state["dataline"])

    @property
    def fields(self) -> tuple[Field, ...]:
        """The schema of batches, after transforms. The first dim is -1 if batches may differ in size."""
        return tuple(Field(*field) for field in self._fields())

    def metrics(self) -> Metrics:
        """The loader's measurements, as a table that outlives it. With ``stats="full"``, or after a trace has started,
        also where the time goes."""
        return Metrics(self._metrics())

    def trace_start(self, to: Union[str, os.PathLike[str], Callable[[bytes], object]]) -> None:
        """Starts a trace: writes what each thread does, and the life of each batch, as JSON in Chrome's trace event
        format, which Perfetto and speedscope open. ``to`` is a new or empty file, or an older trace, which is
        overwritten; or a function that is called with each piece, on a separate thread. At 256 MiB, or when the disk is
        full or the function raises, the trace ends and the job continues.

        Raises WrongStateError (a trace is being written, or the file holds other data), NotFoundError, NoPermissionError,
        SystemCallError.
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
        """Ends the trace; ``close`` does the same. Does nothing without a trace. When it returns, the text is complete.

        Raises SystemCallError if the trace is incomplete, and the exception of the function.
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
        """``with loader.trace("trace.json"):`` traces its body."""
        self.trace_start(to)
        try:
            yield
        finally:
            self.trace_stop()

    def pixel_scale(self, field: str, channel: int = 0) -> PixelScale:
        """How to recover the pixels of a field: the value delivered in a channel is ``pixel * scale + offset``, where
        ``pixel`` is the stored u8 or u16. If all channels have the same scale, any channel works.

        Raises NoSuchFieldError, CallError (no such channel), UnsupportedError (the values do not map back to pixels).
        """
        names = tuple(one.name for one in self.fields)
        if field not in names:
            raise of_code("DL_ERR_NO_SUCH_FIELD", f"no field {field!r}; the fields are {names!r}")
        return PixelScale(*self._pixel_scale(names.index(field), whole(channel, "channel")))

    def parts(self) -> tuple[Part, ...]:
        """The current state of the parts of the mix it delivers: requested and delivered shares, epochs. Empty for other
        datasets."""
        return tuple(Part(**part) for part in rows(self._part_count, self._part_at))

    def plan(self) -> tuple[PlanStage, ...]:
        """Where each stage of a sample runs, in order, field by field: on the host, copies over the bus, on the device."""
        stages = rows(self._plan_count, self._plan_at)
        return tuple(PlanStage(device=stage.pop("device_type"), **stage) for stage in stages)

    def bad_samples(self) -> list[BadSample]:
        """The bad samples found so far, in order of delivery."""
        found = rows(self._bad_sample_count, self._bad_sample_at)
        for bad in found:
            bad["replacement"] = None if bad["replacement"] < 0 else bad["replacement"]
        return [BadSample(**bad) for bad in found]

    def fileno(self) -> int:
        """A descriptor that is readable while ``next`` would not wait, for select, selectors and asyncio. Never read it
        or close it."""
        return self._wait_handle()

    def _explain(self, error: BaseException) -> None:
        """Called with each error of ``next`` before it is raised."""
        self.dataset._explain(error)

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Loader cannot be pickled or copied: create it again from the same URI and options, and pass its "
            "state_dict()"
        )

    def __repr__(self) -> str:
        if self.closed:
            return "<dataline.Loader, closed>"
        return f"<dataline.Loader at {self.position} of {len(self)} steps>"


# Python -OO drops docstrings.
if Loader.__doc__ is not None:
    Loader.__doc__ = Loader.__doc__.rstrip() + "\n\n" + options_help() + "\n"
