"""What a program adds to the library: formats, operators, storages, plug-ins.

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
    """How certain a format is of a file."""

    NO = 0
    GUESS = 1
    LIKELY = 2
    """A header that other data could start with by chance."""
    CERTAIN = 3
    """A magic that is long enough."""


class _Request:
    """What a callback is given: usable until it returns, on its thread."""

    def __init__(self, path: str, lent: _core.Lent) -> None:
        self.path = path
        self._lent = lent

    def file(self, path: Optional[str] = None) -> _core.File:
        """A file, local or ``scheme://...`` of a storage that the caller's options know; ``path`` None: the request's."""
        return self._lent.file(self.path if path is None else path)

    @property
    def cancelled(self) -> bool:
        """Nobody wants it any more."""
        return self._lent.cancelled()


class FormatRequest(_Request):
    """What a format is to open: one ``path`` of the URI, and ``values`` by key, as given, else the default, else None."""

    def __init__(self, path: str, values: Mapping[str, Optional[str]], lent: _core.Lent) -> None:
        super().__init__(path, lent)
        self.values = values

    def open(self, uri: str) -> Dataset:
        """As ``dataline.open``, with the caller's options."""
        made = Dataset()
        self._lent.open(made, uri)
        return made


class StorageRequest(_Request):
    """What a storage is to open: ``path``, whole, with its scheme. A storage that wraps another opens a ``file`` of that."""


class Stored(Protocol):
    """An object of a storage. It is read from several threads.

    It may have ``fingerprint``, a text that differs when the object has other bytes, such as a version or an ETag. Without
    it the option ``cache``, and conversions that resume, refuse the object.
    """

    @property
    def size(self) -> int: ...

    def read(self, offset: int, length: int, /) -> Any:
        """Exactly ``length`` bytes, within the object, as ``bytes`` or any other buffer."""


class OperatorUse:
    """One use of an operator in a transform.

    ``field`` is what comes in, and ``arguments`` are the values by name: a float, a tuple of floats, a text, or None where
    it is absent. ``given`` names those that the user wrote. ``prepare`` sets ``result``, the field that comes out
    (``field`` until then; of a ragged one ``nbytes`` is the most of a sample); ``draws``, where rows depend on slot, epoch
    and seed too; ``heavy``, where a row takes 100 us or more.
    """

    def __init__(self, field: Field, arguments: Mapping[str, Any], given: frozenset[str]) -> None:
        self.field = field
        self.arguments = arguments
        self.given = given
        self.result = field
        self.draws = False
        self.heavy = False

    def error(self, text: str, argument: Optional[str] = None) -> errors.CallError:
        """An error that points at ``argument``; ``raise use.error("expected 0 or more", "noise")``."""
        failure = _UseError(text, _BAD_TRANSFORM)
        failure.wrong = -1 if argument is None else list(self.arguments).index(argument)
        return failure


class OperatorRow:
    """A row to be made. ``data`` is the row that came in: a memoryview of the field's dtype and shape, of bytes where
    memoryview has no such type (f16, bf16, complex); NumPy's ``asarray`` and ``frombuffer`` take it. It may be kept."""

    def __init__(self, data: memoryview, place: tuple[int, ...]) -> None:
        self.data = data
        self.slot, self.epoch, self.seed = place[:3]
        self._draw = place[3:]

    def random(self, number: int = 0) -> int:
        """Draw ``number`` of this operator for this row, 64 bits: a function of seed, epoch, slot, the operator's place in
        the transform and ``number`` alone."""
        return _core.operator_random(self._draw, number)

    def uniform(self, number: int = 0) -> float:
        """A draw in [0, 1): the upper 53 bits of ``random``."""
        return (self.random(number) >> 11) * 2.0**-53


class _UseError(errors.CallError):
    wrong = -1


Prepare = Callable[[OperatorUse], Callable[[OperatorRow], Any]]


class Extensions(_core.Extensions):
    """Formats, operators, storages and plug-ins for what is opened with ``extensions=``.

    What was added so far counts at that time. Callbacks are called on threads of the library, one at a time while Python has
    its lock. An exception becomes the error of the call, with its text: one of ``dataline.errors`` and OSError with their
    meaning (FileNotFoundError, ``DataError`` for corrupt files), any other as ``DL_ERR_READER``. A name that is taken is a
    CallError.
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
        """A format: ``name:path?key=value``, or found by ``sniff(path, first bytes, size)``, a ``Sniff``, or by suffix.

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
        """An operator of transforms, row by row.

        ``prepare(use)`` is called when a loader is made. It checks arguments and field (ValueError, or ``use.error``), says
        what comes out, and returns the function that makes a row: ``apply(row)`` gives an array (anything that a reader may
        give) of the dtype and shape of ``use.result``; an exception makes that sample bad. In a text
        the arguments are given by their places in this order, or by name.
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
        """A storage: where the bytes of paths that begin with ``scheme://`` are. Formats read them as they read files; only
        those that need a directory refuse them. ``open`` returns an object with ``size`` and ``read(offset, length)``."""

        def opened(path: str, lent: _core.Lent) -> tuple[Callable[[int, int], Any], int, str]:
            made = open(StorageRequest(path, lent))
            return made.read, made.size, getattr(made, "fingerprint", "")

        self._add_storage(scheme, opened, doc)

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Loads a plug-in: a path, or a name, for which ``libdataline-NAME.so`` is looked for as the dynamic linker does. It
        stays loaded until the process ends.

        Raises NotFoundError, which says why the linker refused, UnsupportedError: no plug-in, or one for another ABI.
        """
        text = os.fspath(path)
        self._load(text if isinstance(path, str) or os.path.isabs(text) else os.path.join(os.curdir, text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("Extensions cannot be pickled or copied: make them where they are wanted")


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
    """Code, text and the number of the wrong argument (or -1) of what a callback raised. Called by the extension module."""
    code = error.code if isinstance(error, errors.Error) else 0
    if code == 0:
        code = next((code for kind, code in _CODES if isinstance(error, kind)), -52)
    text = str(error)
    if not isinstance(error, (errors.Error, OSError)) or not text:
        text = f"{type(error).__name__}: {text}"
    return code, text.encode("utf-8", "replace").replace(b"\0", b"?"), getattr(error, "wrong", -1)
