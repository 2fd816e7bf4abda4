"""Checks the arguments of PyTorch's loader. An argument that cannot have its effect is an error, never ignored.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any, Optional

from . import _rows
from ._options import parsed
from ._rows import whole


def flag(value: Any, name: str) -> bool:
    """For arguments that are not options. None is False, as in PyTorch."""
    return value is not None and _rows.flag(value, name)


def option_flag(value: Any, name: str) -> bool:
    """For arguments that are options, as the library's table reads them."""
    return value is not None and parsed(name, value) == "true"


def option_number(value: Any, name: str) -> Optional[int]:
    """The same; None: the library's choice."""
    number = None if value is None else parsed(name, value)
    return None if number is None or number == "auto" else int(number)


def function(value: Any, name: str) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a function, got {type(value).__name__}")


def prefetch_factor(value: Any, num_workers: Optional[int], prefetch_depth: Any) -> Optional[int]:
    if value is None:
        return None
    number = whole(value, "prefetch_factor")
    if number < 1:
        raise ValueError(f"prefetch_factor: expected batches per worker, 1 or more, got {number}")
    if prefetch_depth is not None:
        raise ValueError("prefetch_factor and prefetch_depth: set only one of the two")
    if not num_workers:
        raise ValueError(
            f"prefetch_factor: counts batches per worker, but num_workers is {num_workers}: set num_workers, or "
            "prefetch_depth, which counts all batches"
        )
    return number


def pin_memory_device(value: Any, pin_memory: bool, on_host: bool) -> None:
    if value and not (pin_memory and on_host):
        raise ValueError(f'pin_memory_device={str(value)!r}: needs pin_memory=True and device="cpu"')


def of_processes(why: Optional[str], num_workers: Optional[int], given: dict[str, Any]) -> None:
    """Arguments for worker processes, where there may be none. ``why`` Python code makes the batches; None: it does not."""
    if why is not None and num_workers:
        return
    if why is None and num_workers != 0:
        reason, advice = "the library's threads make the batches", "omit it"
    else:
        reason, advice = "this process makes the batches", "set num_workers above 0, or omit it"
    needless = [name for name in ("multiprocessing_context",) if given[name] is not None]
    if given["worker_init_fn"] is not None and num_workers != 0 and why is None:
        needless.append("worker_init_fn")
    if given["persistent_workers"] and (why is not None or num_workers == 0):
        needless.append("persistent_workers")
    if given["timeout"] and why is not None:
        needless.append("timeout")
    if needless:
        raise ValueError(f"{', '.join(needless)}: there are no worker processes, because {reason}: {advice}")
