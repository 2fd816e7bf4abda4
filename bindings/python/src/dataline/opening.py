"""Opening without waiting.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

from . import _calls, _core
from ._options import Log, build
from .dataset import Dataset, uri_text
from .errors import of_code

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["Opening", "open_async"]

_all: weakref.WeakSet[Opening] = weakref.WeakSet()


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class Opening(_calls.Opening):
    """A dataset that a thread of the library is opening, returned by ``open_async``; any thread. In an ``async``
    function, ``await opening`` returns the dataset. As a context manager, it is closed at the end.

    Dropping it ends the opening. It may still change in a minor release.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taking = threading.Lock()
        self._dataset: Optional[Dataset] = None
        _all.add(self)

    def done(self) -> bool:
        """Whether ``result`` would not wait."""
        return self._dataset is not None or self.progress().done

    def result(self, timeout: Optional[float] = None) -> Dataset:
        """Waits for the dataset and returns it, the same one each time. ``timeout`` is in seconds; 0 polls.

        Raises Timeout, CancelledError, WrongStateError (closed), and the errors of ``open``.
        """
        nanoseconds = -1 if timeout is None else int(min(max(timeout, 0.0), 9e9) * 1e9)
        if not self._taking.acquire(timeout=-1 if timeout is None else min(max(timeout, 0.0), threading.TIMEOUT_MAX)):
            raise of_code("DL_TIMEOUT", "another thread is waiting for the dataset")
        try:
            if self._dataset is None:
                dataset = Dataset()
                self._take(dataset, nanoseconds)
                self._dataset = dataset
            return self._dataset
        finally:
            self._taking.release()

    def fileno(self) -> int:
        """A descriptor that is readable when ``result`` would not wait, for select and selectors. Never read it or close
        it."""
        return self._wait_handle()

    def __await__(self) -> Generator[Any, None, Dataset]:
        return self._opened().__await__()

    async def _opened(self) -> Dataset:
        if not self.done():
            loop = asyncio.get_running_loop()
            ready: asyncio.Future[None] = loop.create_future()
            # Its own, because a loop has one reader of a descriptor, and there may be several tasks here.
            descriptor = os.dup(self.fileno())
            loop.add_reader(descriptor, _set, ready)
            try:
                await ready
            finally:
                loop.remove_reader(descriptor)
                os.close(descriptor)
        return self.result()

    def __enter__(self) -> Opening:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Opening cannot be pickled or copied")

    def __repr__(self) -> str:
        return "<dataline.Opening, closed>" if self.closed else f"<dataline.Opening, {self.progress()}>"


def open_async(
    uri: Union[str, os.PathLike[str]],
    *,
    cancel_token: Optional[_core.CancelToken] = None,
    log: Optional[Log] = None,
    **options: Unpack[Options],
) -> Opening:
    """Starts what ``open`` does, and returns. ``result`` waits for the dataset, ``progress`` returns the progress so far.

    Raises MachineError (no thread), CallError (an option). ``result`` raises errors in the URI or the data.
    """
    made = Opening()
    made._start(uri_text(uri), build(options, cancel_token, log))
    return made


def close_all() -> None:
    """At exit: no thread of the library outlives the interpreter."""
    for opening in list(_all):
        opening.close()
