"""Values that a reader's code returns for a field: accepted if the field's type represents them exactly, rejected otherwise.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Optional

from . import _core
from ._borrow import borrow, borrow_field
from ._rows import flag, short
from .schema import Field

PACKING = {
    "bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
_COMPLEX = {"c64": "f", "c128": "d"}
_SCALARS = ((bool, "bool"), (int, "i64"), (float, "f64"), (complex, "c128"))

Take = Callable[[Any], _core.Loan]


def field_of(name: str, value: Any) -> Field:
    """The field of samples like this one; scalars as PyTorch's collate treats them."""
    if isinstance(value, (str, bytes)):
        return Field(name, "u8", (-1,), ragged=True)
    if not hasattr(value, "dtype"):
        for kind, dtype in _SCALARS:
            if isinstance(value, kind):
                return Field(name, dtype)
    loan = borrow_field(name, value)
    return Field(name, loan.dtype, loan.shape)


def text_of(value: Any) -> Optional[type]:
    """Whether later values of the field are text or bytes, as this one is; None: neither."""
    return str if isinstance(value, str) else bytes if isinstance(value, bytes) else None


def taker_of(field: Field, text: Optional[type] = None) -> Take:
    """The function that borrows a value of this field. ``text``: values are of this type, ``str`` or ``bytes``. None: if
    the field holds bytes, both are accepted."""
    name, dtype, shape = field.name, field.dtype, field.shape
    ragged = flag(field.ragged, f"field '{name}': ragged")
    scalar = None if shape or ragged else _scalar_of(field)

    def take(value: Any) -> _core.Loan:
        if isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype"):
            if scalar is None:
                raise _refused(field, value, f"an array of {dtype} and shape {shape}")
            return _core.Loan.of_buffer(scalar(value))
        if isinstance(value, str):
            if not ragged or dtype != "u8" or text is bytes:
                raise _refused(field, value, "bytes" if text is bytes else _described(field))
            try:
                return borrow(value.encode())
            except UnicodeEncodeError as error:
                raise ValueError(f"field '{name}': expected text that UTF-8 can encode, got {short(value)}") from error
        if text is str:
            raise _refused(field, value, "str")
        if isinstance(value, bytes):
            value = bytes(value)  # NumPy's own type of them lends no bytes
        loan = borrow_field(name, value)
        if loan.dtype != dtype:
            raise TypeError(f"field '{name}': expected {dtype}, got {loan.dtype}{_shown(value, loan)}")
        if ragged:
            if len(loan.shape) != len(shape) or loan.shape[1:] != shape[1:]:
                raise ValueError(f"field '{name}': expected shape {shape}, got {loan.shape}")
        elif loan.shape != shape:
            raise ValueError(f"field '{name}': expected shape {shape}, got {loan.shape}")
        return loan

    return take


def _described(field: Field) -> str:
    return f"{field.dtype} of shape {field.shape}" if field.shape or field.ragged else field.dtype


def _shown(value: Any, loan: _core.Loan) -> str:
    return "" if loan.shape else f" {value}"


def _refused(field: Field, value: Any, expected: str) -> TypeError:
    got = f"{short(value)} ({type(value).__name__})"
    return TypeError(
        f"field '{field.name}': expected {expected}, got {got}; a field has the type of sample 0, or that of fields="
    )


def _scalar_of(field: Field) -> Callable[[Any], bytes]:
    """The function that converts a Python number to bytes. Types do not mix: a boolean is not a number, and a float with
    an integral value is not an int. An int is accepted if the floats have its exact value."""
    dtype = field.dtype
    code = PACKING.get(dtype) or _COMPLEX.get(dtype)
    if code is None:

        def refuse(value: Any) -> bytes:
            raise _refused(field, value, f"an array of {dtype}")

        return refuse
    is_complex = dtype in _COMPLEX
    kind: Any = (
        bool if dtype == "bool" else (int, float, complex) if is_complex else int if dtype[0] in "iu" else (int, float)
    )
    pack = struct.Struct(f"={2 if is_complex else 1}{code}").pack

    def packed(value: Any) -> bytes:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _refused(field, value, dtype)
        try:
            made = pack(complex(value).real, complex(value).imag) if is_complex else pack(value)
        except (struct.error, OverflowError):
            raise ValueError(f"field '{field.name}': {short(value)} does not fit {dtype}") from None
        if isinstance(value, int) and code in "efd" and struct.unpack_from("=" + code, made)[0] != value:
            raise ValueError(f"field '{field.name}': {short(value)} does not fit {dtype}, which cannot represent it")
        return made

    return packed
