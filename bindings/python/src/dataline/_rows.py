"""Rows of numbers that a caller passes beside its data: indices, lengths, weights, offsets.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
import operator
from collections.abc import Callable, Mapping, Set
from typing import Any, TypeVar

from . import _core
from ._borrow import NotAnArrayError, borrow_as

_Item = TypeVar("_Item")
_WHOLE = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_EXPECTED = {"i64": "whole numbers of 64 bits", "f64": "numbers"}


def row(value: Any, dtype: str, what: str) -> _core.Loan:
    """A row of numbers: borrowed if they are packed i64 or f64 already, otherwise copied to the right type.

    A mask is rejected, as are booleans among the numbers: NumPy would select with it, and Python would count it.
    """
    if isinstance(value, (str, Set, Mapping)):
        raise _no_row(value, dtype, what)  # nor would a set say in which order
    try:
        loan = borrow_as(what, value)
    except NotAnArrayError:
        return _core.Loan.of_buffer(_packed(value, dtype, what))
    if len(loan.shape) != 1:
        raise ValueError(f"{what}: expected one dim, got {len(loan.shape)}")
    if loan.dtype == "bool":
        raise _mask(dtype, what)
    if loan.dtype == dtype and (loan.shape[0] < 2 or loan.strides[0] == 8):
        return loan
    if loan.dtype not in _WHOLE and (dtype == "i64" or loan.dtype in ("c64", "c128")):
        raise TypeError(f"{what}: expected {_EXPECTED[dtype]}, got {loan.dtype}")
    return _core.Loan.of_buffer(_packed(value.tolist() if hasattr(value, "tolist") else value, dtype, what))


def _no_row(value: Any, dtype: str, what: str) -> TypeError:
    return TypeError(f"{what}: expected a row of {_EXPECTED[dtype]}, got {type(value).__name__}")


def _mask(dtype: str, what: str) -> ValueError:
    if dtype == "f64":
        return ValueError(f"{what}: expected numbers, got booleans; convert them with mask.astype(float)")
    return ValueError(f"{what}: expected whole numbers, got booleans; for a mask, pass numpy.flatnonzero(mask)")


def _packed(values: Any, dtype: str, what: str) -> array.array[Any]:
    if isinstance(values, range):
        numbers: Any = values
    else:
        try:
            numbers = list(values)
        except TypeError:
            raise _no_row(values, dtype, what) from None
        plain: set[type] = {int} if dtype == "i64" else {int, float}
        if not set(map(type, numbers)) <= plain:
            numbers = [_number(number, dtype, what, at) for at, number in enumerate(numbers)]
    try:
        return array.array("q" if dtype == "i64" else "d", numbers)
    except OverflowError:
        at, number = next((at, number) for at, number in enumerate(numbers) if not _fits(number, dtype))
        raise _wrong(number, dtype, what, at) from None


def _fits(number: Any, dtype: str) -> bool:
    if dtype == "i64":
        return bool(-(2**63) <= number < 2**63)
    try:
        float(number)
    except OverflowError:
        return False
    return True


def _wrong(value: Any, dtype: str, what: str, at: int) -> Exception:
    kind: type[Exception] = ValueError if isinstance(value, int) else TypeError
    return kind(f"{what}: expected {_EXPECTED[dtype]}, got {short(value)} ({type(value).__name__}) at index {at}")


def _number(value: Any, dtype: str, what: str, at: int) -> Any:
    """One value of an iterable, as a Python number."""
    if is_boolean(value):
        raise _mask(dtype, what)
    try:
        if dtype == "i64":
            return operator.index(value)
        if isinstance(value, (str, bytes, complex)):
            raise TypeError
        return value if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        raise _wrong(value, dtype, what, at) from None


def is_boolean(value: Any) -> bool:
    """Whether it is a boolean of Python, NumPy or PyTorch."""
    return isinstance(value, bool) or str(getattr(value, "dtype", "")) in ("bool", "torch.bool")


def flag(value: Any, what: str) -> bool:
    """For arguments that are not options: no text or number counts as True."""
    if is_boolean(value):
        return bool(value)
    raise TypeError(f"{what}: expected True or False, got {short(value)}")


def texts(value: Any, what: str) -> list[str]:
    """Names: one, or several in order, which a set does not have."""
    if isinstance(value, str):
        return [value]
    ordered = hasattr(value, "__iter__") and not isinstance(value, (bytes, Set, Mapping))
    found = list(value) if ordered else [value]
    if not all(isinstance(name, str) for name in found):
        raise TypeError(f"{what}: expected a name or a list of names, got {short(value)}")
    return found


def fields(value: Any) -> list[str]:
    """The argument ``fields``: which ones, in order."""
    found = texts(value, "fields")
    if not found:
        raise ValueError(f"fields: expected at least one name, got {short(value)}; None is all fields")
    return found


def listed(value: Any, kind: Callable[..., _Item], what: str, example: str) -> list[_Item]:
    """One named tuple of a kind, or several in order."""
    if isinstance(value, kind):  # type: ignore[arg-type]
        return [value]
    try:
        items = [] if isinstance(value, (str, Mapping)) else list(value)
        if (not items and value) or any(isinstance(item, str) for item in items):
            raise TypeError
        return [kind(*item) for item in items]
    except TypeError:
        raise TypeError(f"{what}: expected a list, as in [{example}], got {short(value)}") from None


def mapping(value: Any, what: str, example: str) -> Mapping[str, Any]:
    """A dict by name; None: an empty dict."""
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise TypeError(f"{what}: expected a dict by name, as in {example}, got {short(value)}")


def short(value: Any) -> str:
    """A value as errors show it."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def whole(value: Any, what: str) -> int:
    """A whole number of 64 bits, for the library's calls."""
    try:
        number = None if is_boolean(value) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not _fits(number, "i64"):
        kind: type[Exception] = TypeError if number is None else ValueError
        raise kind(f"{what}: expected a whole number of 64 bits, got {short(value)}")
    return number


def real(value: Any, what: str) -> float:
    """A number, of any numeric type of Python or NumPy."""
    try:
        if is_boolean(value) or isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what}: expected a number, got {short(value)}") from None


def nanoseconds(seconds: Any, what: str = "timeout") -> int:
    """A timeout for the library's calls; -1: no limit."""
    number = real(seconds, what)
    if not number >= 0:
        raise ValueError(f"{what}: expected seconds, 0 or more, got {seconds}")
    return -1 if number == float("inf") else int(min(number * 1e9, 2**63 - 1))


def rows(count: Callable[[], int], at: Callable[[int], _Item]) -> list[_Item]:
    """The rows of a table of the library, from its two calls."""
    return [at(index) for index in range(count())]
