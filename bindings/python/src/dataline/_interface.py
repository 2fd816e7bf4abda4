"""NumPy's array interface, version 3: a dict in which an object describes its memory.

Every claim is checked if possible: the dict may come from any object, and memory at an address from it is read without
further checks.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Mapping
from typing import Any

from . import _core

_DTYPES = {
    "b1": "bool", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
    "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128",
}  # fmt: skip
_FOREIGN = ">" if sys.byteorder == "little" else "<"
_MOST = 2**63 - 1


def of_interface(value: Any, dtype: str = "") -> _core.Loan:
    """The memory of an object with ``__array_interface__``. ``dtype``: of items that the interface cannot express.

    Raises TypeError for valid interfaces that the library cannot use, ValueError for invalid ones.
    """
    interface = value.__array_interface__
    if not isinstance(interface, Mapping):
        raise _illegal(value, f"expected a dict, got {type(interface).__name__}")
    version = interface.get("version", 3)  # some leave it out, and NumPy does not ask
    if version not in (2, 3):
        raise _illegal(value, f"expected version 3, got {version!r}")
    if interface.get("mask") is not None:
        raise _unusable(value, "it has a mask; fill the masked items, or pass the mask as a separate field")
    item_bytes, dtype = _items(value, interface, dtype)
    shape = _numbers(value, interface, "shape")
    if min(shape, default=0) < 0:
        raise _illegal(value, f"shape {shape}: a dim is negative")
    strides = _packed(shape, item_bytes)
    if interface.get("strides") is not None:
        strides = _numbers(value, interface, "strides")
        if len(strides) != len(shape):
            raise _illegal(value, f"strides {strides} for shape {shape}")
    first, end = _extent(shape, strides, item_bytes)
    if end - first > _MOST or max(map(abs, strides), default=0) > _MOST:
        raise _illegal(value, f"shape {shape} with strides {strides} is more than 2^63 bytes")
    owner, address = _memory(value, interface, first, end)
    return _core.Loan.of_memory(owner, address, dtype, shape, strides)


def _illegal(value: Any, text: str) -> ValueError:
    return ValueError(f"__array_interface__ of {type(value).__name__}: {text}")


def _unusable(value: Any, text: str) -> TypeError:
    return TypeError(f"__array_interface__ of {type(value).__name__}: {text}")


def _items(value: Any, interface: Mapping[str, Any], dtype: str) -> tuple[int, str]:
    """The bytes of an item, and its dtype."""
    typestr = interface.get("typestr")
    found = re.fullmatch("([<>|=])([tbiufcmMOSUV])([0-9]+)", typestr) if isinstance(typestr, str) else None
    if found is None:
        raise _illegal(value, f"expected a typestr such as '<f4', got {typestr!r}")
    order, kind, count = found[1], found[2], int(found[3])
    if dtype:
        return count, dtype
    dtype = _DTYPES.get(f"{kind}{count}", "")
    if not dtype:
        of = f" of {interface['descr']!r}" if kind == "V" and interface.get("descr") else ""
        raise _unusable(
            value, f"items of type {typestr!r}{of}: expected numbers or booleans of 1 to 8 bytes, or complex"
        )
    if order == _FOREIGN and count > 1:
        raise _unusable(
            value,
            f"items of type {typestr!r}: expected this machine's byte order; use x.astype(x.dtype.newbyteorder('='))",
        )
    return count, dtype


def _numbers(value: Any, interface: Mapping[str, Any], key: str) -> tuple[int, ...]:
    try:
        return tuple(operator.index(number) for number in interface[key])
    except (KeyError, TypeError):
        raise _illegal(value, f"expected {key} as a tuple of integers, got {interface.get(key)!r}") from None


def _packed(shape: tuple[int, ...], item_bytes: int) -> tuple[int, ...]:
    strides: list[int] = []
    for size in reversed(shape):
        strides.append(item_bytes)
        item_bytes *= size
    return tuple(reversed(strides))


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], item_bytes: int) -> tuple[int, int]:
    """The first byte of all items, and the byte after the last, relative to the item at 0."""
    if 0 in shape:
        return 0, 0
    steps = [(size - 1) * stride for size, stride in zip(shape, strides)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0) + item_bytes


def _memory(value: Any, interface: Mapping[str, Any], first: int, end: int) -> tuple[object, int]:
    """The object that keeps the memory alive, and the address of the item at 0."""
    data, offset = interface.get("data"), interface.get("offset")
    offset = 0 if offset is None else operator.index(offset)
    if isinstance(data, tuple):
        if len(data) != 2 or not hasattr(data[0], "__index__"):
            raise _illegal(value, f"expected data as (address, read-only), got {data!r}")
        if offset:
            raise _illegal(value, f"offset {offset} with an address: an offset needs a buffer")
        address = operator.index(data[0])
        if end > first and not (address + first > 0 and address + end <= 2**64):
            raise _illegal(value, f"there is no memory at address {address}")
        return (value, interface), address  # the interface may own what the address is of
    try:  # the bytes of an object; without one the object's own
        loan = _core.Loan.of_bytes(value if data is None else data)
    except TypeError:
        got = "no data, and no buffer" if data is None else f"data of type {type(data).__name__}"
        raise _illegal(value, f"expected data as (address, read-only) or as a buffer, got {got}") from None
    room = loan.shape[0]
    if offset < 0 or (end > first and not (offset + first >= 0 and offset + end <= room)):
        what = f"bytes {offset + first} to {offset + end}" if offset >= 0 else f"offset {offset}"
        raise _illegal(value, f"{what} of a buffer of {room} bytes")
    return (value, loan), loan.address + offset
