"""Extensions that a program adds to the library: formats, operators, storages, plug-ins.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import enum
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Optional, Protocol, Union

from . import _core, errors
from ._rows import listed, texts
from ._values import PACKING, taker_of
from .dataset import Dataset
from .schema import Field
from .tables import FormatKey, TransformArgument

__all__ = ["Extensions", "FormatRequest", "OperatorRow", "OperatorUse", "Sniff", "StorageRequest", "Stored"]


class Sniff(enum.IntEnum):
    """How certain a format is that a file belongs to it."""

    NO = 0
    GUESS = 1
    LIKELY = 2
    """A header that other data could start with by chance."""
    CERTAIN = 3
    """A magic number that is long enough."""


class _Request:
    """The argument of a callback: usable until it returns, on its thread."""

    def __init__(self, path: str, lent: _core.Lent) -> None:
        self.path = path
        self._lent = lent

    def file(self, path: Optional[str] = None) -> _core.File:
        """Opens a file: a local path, or ``scheme://...`` of a storage in the caller's options. ``path`` None: the path
        of the request."""
        return self._lent.file(self.path if path is None else path)

    @property
    def cancelled(self) -> bool:
        """True if the result is no longer wanted."""
        return self._lent.cancelled()


class FormatRequest(_Request):
    """A request to open a path: one ``path`` of the URI, and ``values`` by key: from the URI, else the default, else
    None."""

    def __init__(self, path: str, values: Mapping[str, Optional[str]], lent: _core.Lent) -> None:
        super().__init__(path, lent)
        self.values = values

    def open(self, uri: str) -> Dataset:
        """Like ``dataline.open``, with the caller's options."""
        made = Dataset()
        self._lent.open(made, uri)
        return made


class StorageRequest(_Request):
    """A request to open an object: ``path`` is the complete path, with its scheme. A storage that wraps another one opens
    a ``file``."""


class Stored(Protocol):
    """An object of a storage. Several threads read from it.

    It may have ``fingerprint``, a text that changes when the object's bytes change, such as a version or an ETag. Without
    one, the option ``cache`` and conversions that resume reject the object.
    """

    @property
    def size(self) -> int: ...

    def read(self, offset: int, length: int, /) -> Any:
        """Returns exactly ``length`` bytes as ``bytes`` or any other buffer. The range is within the object."""


class OperatorUse:
    """One use of an operator in a transform.

    ``field`` is the input field. ``arguments`` are the values by name: a float, a tuple of floats, a text, or None if
    absent. ``given`` names those that the user wrote. ``prepare`` sets ``result``, the output field (initially ``field``;
    for a ragged field ``nbytes`` is the maximum of one sample). It sets ``draws`` if rows depend on slot, epoch and seed
    too, and ``heavy`` if a row takes 100 us or more.
    """

    def __init__(self, field: Field, arguments: Mapping[str, Any], given: frozenset[str]) -> None:
        self.field = field
        self.arguments = arguments
        self.given = given
        self.result = field
        self.draws = False
        self.heavy = False

    def error(self, text: str, argument: Optional[str] = None) -> errors.CallError:
        """An error that points to ``argument``: ``raise use.error("expected 0 or more", "noise")``."""
        failure = _UseError(text, _BAD_TRANSFORM)
        failure.wrong = -1 if argument is None else list(self.arguments).index(argument)
        return failure


class OperatorRow:
    """The context of an output row. ``data`` is the input row: a memoryview of the field's dtype and shape, or of bytes
    if memoryview has no such type (f16, bf16, complex). NumPy's ``asarray`` and ``frombuffer`` accept it. It may be kept.
    """

    def __init__(self, data: memoryview, place: tuple[int, ...]) -> None:
        self.data = data
        self.slot, self.epoch, self.seed = place[:3]
        self._draw = place[3:]

    def random(self, number: int = 0) -> int:
        """Draw ``number`` of this operator for this row, 64 bits. It depends only on seed, epoch, slot, the operator's
        position in the transform and ``number``."""
        return _core.operator_random(self._draw, number)

    def uniform(self, number: int = 0) -> float:
        """A random number in [0, 1), from the upper 53 bits of ``random``."""
        return (self.random(number) >> 11) * 2.0**-53


class _UseError(errors.CallError):
    wrong = -1


Prepare = Callable[[OperatorUse], Callable[[OperatorRow], Any]]


class Extensions(_core.Extensions):
    """Formats, operators, storages and plug-ins for objects opened with ``extensions=``.

    The extensions added so far apply; later additions do not affect open objects. The library calls callbacks on its own
    threads, one at a time while Python has its lock. An exception becomes the error of the call, with its text.
    Exceptions of ``dataline.errors`` and OSError keep their meaning (FileNotFoundError, ``DataError`` for corrupt files);
    any other is ``DL_ERR_READER``. A name that is already in use is a CallError.
    """

    def add_format(
        self,
        name: str,
        open: Callable[[FormatRequest], Dataset],
        *,
        keys: Sequence[FormatKey] = (),
        suffixes: Sequence[str] = (),
        sniff: Optional[Callable[[str, bytes, int], int]] = None,
        doc: str = "",
    ) -> None:
        """Adds a format, opened as ``name:path?key=value``, or matched by ``sniff(path, first bytes, size)``, which
        returns a ``Sniff``, or by suffix.

        ``open`` is called for each path of a URI and returns a Dataset.
        """
        keys = listed(keys, FormatKey, "keys", 'FormatKey("skip", "INTEGER", "0")')
        names = tuple(key.name for key in keys)

        def opened(path: str, values: tuple[Optional[str], ...], lent: _core.Lent) -> Dataset:
            return open(FormatRequest(path, dict(zip(names, values)), lent))

        told = tuple((key.name, key.values, key.default, key.doc) for key in keys)
        self._add_format(name, (opened, sniff), told, " ".join(texts(suffixes, "suffixes")), doc)

    def add_operator(
        self,
        name: str,
        prepare: Prepare,
        *,
        arguments: Sequence[TransformArgument] = (),
        doc: str = "",
        source: str = "",
    ) -> None:
        """Adds an operator of transforms: one field in, one field out, row by row.

        ``prepare(use)`` is called when a loader is created. It checks the arguments and the field (ValueError, or
        ``use.error``), sets the output field, and returns the function that makes a row. That function, ``apply(row)``,
        returns an array of the dtype and shape of ``use.result``, of any type that a reader may return. An exception
        makes that sample bad. Arguments are passed by position in this order, or by name.
        """
        arguments = listed(arguments, TransformArgument, "arguments", 'TransformArgument("value", "number")')
        names = tuple(argument.name for argument in arguments)

        def prepared(values: tuple[tuple[Any, ...], ...], field: tuple[Any, ...]) -> tuple[Any, ...]:
            use = OperatorUse(
                Field(*field),
                {name: _value(text, numbers) for name, (text, numbers, _) in zip(names, values)},
                frozenset(name for name, (_, _, given) in zip(names, values) if given),
            )
            try:
                apply = prepare(use)
            except errors.Error:
                raise
            except ValueError as error:
                raise _UseError(str(error), _BAD_TRANSFORM) from error
            if not callable(apply):
                raise TypeError(f"prepare: expected a function of a row, got {type(apply).__name__}")
            result = use.result
            most = result.nbytes if result.ragged and result.nbytes > 0 else -1
            made = _rows(use.field, result, apply)
            return made, result.dtype, tuple(result.shape), result.ragged, result.axes, most, use.draws, use.heavy

        self._add_operator(name, prepared, tuple(map(tuple, arguments)), doc, source)

    def add_storage(self, scheme: str, open: Callable[[StorageRequest], Stored], *, doc: str = "") -> None:
        """Adds a storage, which stores the bytes of ``scheme://`` paths. Formats read them like files. Formats that need
        a directory reject them. ``open`` returns an object with ``size`` and ``read(offset, length)``."""

        def opened(path: str, lent: _core.Lent) -> tuple[Callable[[int, int], Any], int, str]:
            made = open(StorageRequest(path, lent))
            return made.read, made.size, getattr(made, "fingerprint", "")

        self._add_storage(scheme, opened, doc)

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Loads a plug-in: a path, or a name. For a name, the dynamic linker searches for ``libdataline-NAME.so``. The
        plug-in stays loaded until the process ends.

        Raises NotFoundError, with the linker's message, and UnsupportedError: not a plug-in, or built for another ABI.
        """
        text = os.fspath(path)
        self._load(text if isinstance(path, str) or os.path.isabs(text) else os.path.join(os.curdir, text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("Extensions cannot be pickled or copied: create them where they are needed")


def _value(text: Optional[str], numbers: Optional[tuple[float, ...]]) -> Any:
    if numbers is None:
        return text
    return numbers[0] if len(numbers) == 1 else numbers


def _rows(
    field: Field, result: Field, apply: Callable[[OperatorRow], Any]
) -> Callable[[bytes, tuple[int, ...]], _core.Loan]:
    code: Any = PACKING.get(field.dtype, "")
    take = taker_of(result)
    item = math.prod(field.shape[1:] if field.ragged else field.shape)

    def row(raw: bytes, place: tuple[int, ...]) -> _core.Loan:
        data = memoryview(raw)
        if code and len(raw) > 0 and (code != "e" or sys.version_info >= (3, 12)):
            flat = data.cast(code)
            shape = (len(flat) // item, *field.shape[1:]) if field.ragged else field.shape
            data = flat if len(shape) == 1 else data.cast(code, shape)
        return take(apply(OperatorRow(data, place)))

    return row


_BAD_TRANSFORM = -5
# What exceptions mean, the first that fits; those of the library that have a code keep it.
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (FileNotFoundError, -40),
    (PermissionError, -41),
    (IsADirectoryError, -42),
    (MemoryError, -20),
    (NotImplementedError, -7),
    (errors.CancelledError, 4),
    (OSError, -43),
    (errors.DataError, -45),
)


def describe(error: BaseException) -> tuple[int, bytes, int]:
    """Code, text and the number of the wrong argument (or -1) of an exception from a callback. Called by the extension
    module."""
    code = error.code if isinstance(error, errors.Error) else 0
    if code == 0:
        code = next((code for kind, code in _CODES if isinstance(error, kind)), -52)
    text = str(error)
    if not isinstance(error, (errors.Error, OSError)) or not text:
        text = f"{type(error).__name__}: {text}"
    return code, text.encode("utf-8", "replace").replace(b"\0", b"?"), getattr(error, "wrong", -1)
