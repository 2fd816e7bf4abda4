"""Borrows the memory of arrays, without a copy. Information beside an array's numbers (a mask, missing values, a unit of
time) is not dropped silently: such an array is rejected, and the error names an alternative.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._interface import of_interface
from .errors import Error

_HOST = (1, 3)  # CPU, and page-locked memory of the CPU
_EXPECTED = "expected an array (buffer protocol, DLPack or __array_interface__), got "
# NumPy's kinds of items that are not numbers, and how to convert them.
_NO_NUMBERS = {
    "M": "x.astype('i8') converts it to ticks",
    "m": "x.astype('i8') converts it to ticks",
    "O": "x.astype(float) converts them to numbers",
    "S": "a reader's samples may be bytes or text; x.view('u1') is the bytes",
    "U": "a reader's samples may be bytes or text",
    "T": "a reader's samples may be bytes or text",
    "V": "pass members of a record as separate fields, x['name'], or cast other types",
}


class NotAnArrayError(TypeError):
    """The value is not an array, and does not describe memory."""


class NotLentError(TypeError, BufferError):
    """The value is an array that does not lend its memory, or whose memory is not in host memory."""


def borrow(value: Any) -> _core.Loan:
    """Any array in host memory: by the buffer protocol, DLPack, ``__array_interface__`` or ``__array__``.

    Raises NotAnArrayError, TypeError for an array that the library cannot use, CallError, ValueError for an inconsistent
    interface.
    """
    module = type(value).__module__
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if module != "numpy" and module != "torch":
        _refuse_what_is_missing(value)
    if kind in _NO_NUMBERS:
        if value.dtype.name != "bfloat16":
            raise TypeError(f"expected numbers, got items of type {value.dtype}; {_NO_NUMBERS[kind]}")
        if hasattr(value, "__array_interface__"):
            return of_interface(value, "bf16")
    if module == "torch":
        try:
            value = value.numpy()  # sooner than by DLPack
        except (TypeError, RuntimeError):
            pass  # bf16, on a device, part of a graph
    try:
        return _core.Loan.of_buffer(value)
    except TypeError:
        pass  # it has none
    except Error:
        raise
    except (BufferError, ValueError) as error:  # it has one that it does not lend
        raise NotLentError(
            f"expected an array whose memory can be lent, got {type(value).__name__}: {error}"
        ) from error
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    if hasattr(value, "__array_interface__"):
        return of_interface(value)
    if hasattr(value, "__array__"):
        made = value.__array__()
        if made is not value:
            return borrow(made)
    raise NotAnArrayError(_EXPECTED + type(value).__name__)


def borrow_as(what: str, value: Any) -> _core.Loan:
    """The same; errors start with ``what``."""
    try:
        return borrow(value)
    except Error as error:
        raise type(error)(f"{what}: {error}", error.code, error.name) from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from error


def borrow_field(name: str, value: Any) -> _core.Loan:
    """The same for a caller's field. Raises a plain TypeError instead of NotAnArrayError."""
    try:
        return borrow_as(f"field '{name}'", value)
    except NotAnArrayError as error:
        raise TypeError(str(error)) from error


def _refuse_what_is_missing(value: Any) -> None:
    """Masks and missing values: at their positions the memory contains anything, or NaN."""
    mask = getattr(value, "mask", None)
    if mask is not None and hasattr(value, "filled"):  # numpy.ma
        count = int(mask.sum()) if hasattr(mask, "sum") else int(bool(mask))
        if count:
            raise TypeError(
                f"expected an array without a mask, got {type(value).__name__} with {count} masked items; fill them "
                "with x.filled(v), and pass x.mask as a separate field"
            )
    if hasattr(value, "get_mask"):  # torch.masked
        raise TypeError(f"expected an array without a mask, got {type(value).__name__}; fill it with x.to_tensor(v)")
    nulls = getattr(value, "null_count", 0)  # Arrow's arrays, and those of Polars
    if callable(nulls):
        nulls = nulls()
    if not nulls and hasattr(
        getattr(value, "dtype", None), "na_value"
    ):  # pandas' own types; NaN of NumPy's is a number
        nulls = value.isna().sum()
    if nulls:
        raise TypeError(
            f"expected an array without missing values, got {type(value).__name__} with {nulls}; fill them "
            "(fill_null, fillna), or use dataline.from_arrow(table, nulls=...)"
        )


def _of_dlpack(value: Any) -> _core.Loan:
    try:
        device = value.__dlpack_device__()
        if device[0] not in _HOST:
            raise NotLentError(
                f"expected an array in host memory, got one on DLPack device {tuple(device)}; copy it to the CPU"
            )
        try:
            capsule = value.__dlpack__(max_version=(1, 0))
        except TypeError:  # made before there were versions
            try:
                capsule = value.__dlpack__()
            except (BufferError, RuntimeError):  # nor could it say bool, or read-only
                if not hasattr(value, "__array__"):
                    raise
                return borrow(value.__array__())
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, (Error, NotLentError)):
            raise
        raise NotLentError(f"expected a dense array in host memory, got {type(value).__name__}: {error}") from error
    try:
        return _core.Loan.of_capsule(capsule)
    except BufferError as error:
        raise NotLentError(f"expected an array of a supported type, got {type(value).__name__}: {error}") from error
