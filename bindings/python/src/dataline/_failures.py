"""The exceptions of a reader's bad samples.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Optional

_WITH_FRAMES = 16  # an exception keeps its frames alive, and those all that they hold
_KEPT = 4096  # without: rows that are loaded ahead fail before anybody asks why the first one did


class _Failure:
    def __init__(self, index: int, error: BaseException) -> None:
        self.index = index
        self.error = error
        self.told = False  # somebody else has it, who may want to see where it was raised


class Failures:
    """Exceptions by sample index. The first and the last few keep their tracebacks: a loop first sees the first failure,
    when many more may have failed already."""

    def __init__(self) -> None:
        self._by_index: dict[int, _Failure] = {}
        self._recent: deque[_Failure] = deque()
        self._met = 0
        self._lock = threading.RLock()  # reentrant: a collected object's finalizer may read samples too

    def add(self, index: int, error: BaseException) -> None:
        with self._lock:
            self._by_index.pop(index, None)
            made = self._by_index[index] = _Failure(index, error)  # the last in order
            if len(self._by_index) > _KEPT:
                del self._by_index[next(iter(self._by_index))]
            self._recent.append(made)
            self._met += 1
            if len(self._recent) > _WITH_FRAMES:
                self._grow_old(self._recent.popleft())

    def _grow_old(self, failure: _Failure) -> None:
        if self._met <= 2 * _WITH_FRAMES:
            return  # one of the first
        if not failure.told:
            _strip(failure.error)
        elif self._by_index.get(failure.index) is failure:
            del self._by_index[failure.index]

    def recent(self) -> dict[int, BaseException]:
        with self._lock:
            for failure in self._recent:
                failure.told = True
            return {failure.index: failure.error for failure in self._recent}

    def of(self, index: int) -> Optional[BaseException]:
        with self._lock:
            failure = self._by_index.get(index)
            if failure is None:
                return None
            failure.told = True
            return failure.error


def _strip(error: BaseException) -> None:
    """Drops the frames, also those of its causes."""
    chain, seen = [error], set[int]()
    while chain:
        one = chain.pop()
        if id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = None
            chain += [other for other in (one.__cause__, one.__context__) if other is not None]
