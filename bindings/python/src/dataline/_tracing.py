"""Traces that go to a function.

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
    """Gives a function the text of a trace, piece by piece, on a thread of its own: nobody else waits for it."""

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
        """Waits for the last piece, once nothing more is written. Raises what the function raised."""
        self.pieces.end()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        error, self.error = self.error, None
        if error is not None:
            raise error


def finish_all() -> None:
    """At the end of the interpreter, when all loaders are closed."""
    for delivery in list(_going_on):
        try:
            delivery.finish()
        except BaseException:  # nobody is there to hear it
            pass
