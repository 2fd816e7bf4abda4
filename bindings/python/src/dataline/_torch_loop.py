"""A loop over one epoch that returns tensors.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import threading
from typing import Any, Optional, Protocol

from . import _core
from ._rows import nanoseconds
from ._torch_device import InFlight


class Owner(Protocol):
    """The owner of the loop."""

    timeout: float
    _in_flight: InFlight

    def __len__(self) -> int: ...

    def _sample(self, batch: _core.Batch) -> tuple[Any, Optional[dict[str, Any]]]:
        """The loop's item, and the sources of copies that may still be running when the loop requests the next one."""


class Loop:
    """One loop's tensors. Threads may share it: each batch goes to one of them."""

    def __init__(self, batches: _core.Epoch, owner: Owner) -> None:
        self._owner = owner
        self._batches = batches
        # What the copies of each thread's last batch may still read.
        self._pinned: dict[int, dict[str, Any]] = {}

    def __iter__(self) -> Loop:
        return self

    def __len__(self) -> int:
        return len(self._owner)

    def __next__(self) -> Any:
        self._settle(threading.get_ident())
        timeout = self._owner.timeout
        batch = self._batches._next(nanoseconds(timeout) if timeout else -1)
        if batch is None:
            raise StopIteration
        sample, pinned = self._owner._sample(batch)
        if pinned is not None:
            self._pinned[threading.get_ident()] = pinned
        return sample

    def _settle(self, thread: int) -> None:
        pinned = self._pinned.pop(thread, None)
        if pinned is not None:
            self._owner._in_flight.hold(pinned)

    def __del__(self) -> None:
        for thread in list(self._pinned):
            self._settle(thread)
