"""Memory of the host's arrays, without a copy.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
from typing import Any

from . import _core
from ._interface import of_interface

_HOST = (1, 3)  # CPU, and page-locked memory of the CPU


def borrow(value: Any) -> _core.Loan:
    """Any array in host memory: by the buffer protocol, DLPack, ``__array_interface__`` or ``__array__``."""
    dtype: Any = getattr(value, "dtype", None)
    # NumPy's own dtypes have another kind, and tell it sooner than their name.
    if getattr(dtype, "kind", "") == "V" and dtype.name == "bfloat16" and hasattr(value, "__array_interface__"):
        return of_interface(value, "bf16")
    if type(value).__module__ == "torch":
        try:
            value = value.numpy()  # sooner than by DLPack
        except (TypeError, RuntimeError):
            pass  # bf16, on a device, part of a graph
    try:
        return _core.Loan.of_buffer(value)
    except TypeError:
        pass  # it has none
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    if hasattr(value, "__array_interface__"):
        return of_interface(value)
    if hasattr(value, "__array__"):
        made = value.__array__()
        if made is not value:
            return borrow(made)
    raise TypeError(f"expected an array (buffer protocol, DLPack or __array_interface__), got {type(value).__name__}")


def _of_dlpack(value: Any) -> _core.Loan:
    device = value.__dlpack_device__()
    if device[0] not in _HOST:
        raise BufferError(f"expected an array in host memory, got one on DLPack device {tuple(device)}")
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # made before there were versions
        try:
            capsule = value.__dlpack__()
        except (BufferError, RuntimeError):  # nor could it say bool, or read-only
            if not hasattr(value, "__array__"):
                raise
            return borrow(value.__array__())
    return _core.Loan.of_capsule(capsule)


def row(value: Any, dtype: str, what: str) -> _core.Loan:
    """Numbers in a row: borrowed when they are packed i64 or f64 already, else a copy of the right type."""
    try:
        loan = borrow(value)
    except TypeError:
        loan = None  # a list, a range, an iterator
    if loan is not None:
        if len(loan.shape) != 1:
            raise ValueError(f"{what}: expected one dim, got {len(loan.shape)}")
        if loan.dtype == "bool" and dtype == "i64":
            raise ValueError(f"{what}: expected indices, got a mask; numpy.flatnonzero(mask) gives them")
        if loan.dtype == dtype and (loan.shape[0] < 2 or loan.strides[0] == 8):
            return loan
    numbers = value.tolist() if hasattr(value, "tolist") else value
    return _core.Loan.of_buffer(array.array("q" if dtype == "i64" else "d", numbers))
