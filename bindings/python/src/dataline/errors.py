"""Exceptions, grouped by what has to change to fix the error. If Python has a matching exception, it is a base class too.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import builtins
from typing import Optional

from . import _status

__all__ = [
    "CallError",
    "CancelledError",
    "DataError",
    "DeviceError",
    "EndOfJob",
    "Error",
    "ForkedError",
    "InternalError",
    "Interrupted",
    "MachineError",
    "MemoryShortError",
    "NoPermissionError",
    "NoSuchFieldError",
    "NotFoundError",
    "StateError",
    "SystemCallError",
    "Timeout",
    "TooManyFilesError",
    "UnknownOptionError",
    "UnsupportedError",
    "WrongStateError",
]


class Error(Exception):
    """An error: one line with the file, offset, sample or option, the expected and the actual value.

    ``code`` and ``name`` are those of ``dataline.h`` (-45, ``"DL_ERR_CORRUPT"``). ``sample_index`` is the (first) sample
    concerned, ``column`` the 1-based column in a URI or transform text, ``errno`` the system's error number. A missing
    value is None.
    """

    code: int
    name: str
    message: str
    sample_index: Optional[int]
    column: Optional[int]
    errno: Optional[int]

    def __init__(
        self,
        message: str,
        code: int = 0,
        name: str = "",
        sample_index: Optional[int] = None,
        column: Optional[int] = None,
        errno: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name
        self.sample_index = sample_index
        self.column = column
        self.errno = errno

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[Error], tuple[object, ...]]:
        return type(self), (self.message, self.code, self.name, self.sample_index, self.column, self.errno)


class CallError(Error, ValueError):
    """The call: an argument, an option, a URI, a transform."""


class UnknownOptionError(CallError, TypeError):
    """No such option; names the nearest one."""


class NoSuchFieldError(CallError, KeyError):
    """No such field."""


class UnsupportedError(CallError, NotImplementedError):
    """Known, but not in this build, this release or this kind of dataset."""


class WrongStateError(CallError, RuntimeError):
    """Not possible now: closed, released."""


class ForkedError(CallError, RuntimeError):
    """The loader belongs to the parent process."""


class MachineError(Error, RuntimeError):
    """The machine: memory, threads, open files, leases held."""


class MemoryShortError(MachineError, MemoryError):
    """Out of memory, or ``memory_budget`` is too small."""


class TooManyFilesError(MachineError, OSError):
    """The process has too many open files."""


class DataError(Error):
    """The data: files, samples, a reader."""


class NotFoundError(DataError, FileNotFoundError):
    """No such file."""


class NoPermissionError(DataError, PermissionError):
    """No permission to read the file."""


class SystemCallError(DataError, OSError):
    """Reading failed, or it is not a readable file."""


class StateError(Error, ValueError):
    """A saved state: damaged, or of another dataset or configuration; names both values."""


class DeviceError(Error, RuntimeError):
    """The accelerator."""


class InternalError(Error, RuntimeError):
    """A bug in the library; please report it."""


class CancelledError(Error):
    """Cancelled, until a seek; by a token permanently."""


class Interrupted(Error):
    """``interrupt`` ended the wait, or was called while no thread waited; no batch is lost."""


class Timeout(Error, builtins.TimeoutError):
    """No batch was ready in time; nothing is lost."""


class EndOfJob(Error, EOFError):
    """The last of ``epochs`` epochs is over."""


_BY_NAME: dict[str, type[Error]] = {name: globals()[kind] for name, kind in _status.EXCEPTIONS.items()}

# The bands of numbers that the header promises, for codes of a later library.
_BANDS: tuple[tuple[int, type[Error]], ...] = (
    (-20, CallError),
    (-40, MachineError),
    (-70, DataError),
    (-80, StateError),
    (-90, DeviceError),
)


def of_code(name: str, message: str) -> Error:
    """An error that the package finds itself: the name of its status code."""
    return _BY_NAME[name](message, _status.NUMBERS[name], name)


def from_status(code: int, name: str, message: str, sample_index: int, column: int, errno: int) -> Error:
    """The exception of a ``dl_error``."""
    kind = _BY_NAME.get(name)
    if kind is None:
        kind = next((kind for below, kind in _BANDS if below < code < 0), InternalError)
    return kind(message, code, name, None if sample_index < 0 else sample_index, column or None, errno or None)
