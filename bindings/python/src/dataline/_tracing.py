"""Traces that are passed to a function.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import errno
import threading
import weakref
from collections.abc import Callable
from typing import Optional

from . import _core

__all__ = ["Delivery", "finish_all"]

_going_on: weakref.WeakSet[Delivery] = weakref.WeakSet()


class Delivery:
    """Passes the text of a trace to a function, piece by piece, on a separate thread: nothing else waits for it."""

    def __init__(self, function: Callable[[bytes], object]) -> None:
        self.pieces = _core.Pieces()
        self.error: Optional[BaseException] = None
        self._function = function
        self._thread = threading.Thread(target=self._run, name="dataline trace", daemon=True)
        self._thread.start()
        _going_on.add(self)

    def _run(self) -> None:
        while (text := self.pieces.take()) is not None:
            if self.error is not None:
                continue  # pieces that were on their way
            try:
                self._function(text)
            except BaseException as error:
                self.error = error
                self.pieces.refuse(getattr(error, "errno", None) or errno.EIO)

    def finish(self) -> None:
        """Waits for the last piece, after the trace has ended. Raises the exception of the function."""
        self.pieces.end()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        error, self.error = self.error, None
        if error is not None:
            raise error


def finish_all() -> None:
    """Runs at the end of the interpreter, after all loaders are closed."""
    for delivery in list(_going_on):
        try:
            delivery.finish()
        except BaseException:  # nobody is there to hear it
            pass
