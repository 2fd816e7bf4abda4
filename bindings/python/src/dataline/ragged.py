"""Samples of different length.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Ragged"]

Array = TypeVar("Array")


class Ragged(Generic[Array]):
    """Packed rows and where each sample starts: sample i is ``data[offsets[i]:offsets[i + 1]]``.

    ``data`` and ``offsets`` ([samples + 1], i64) are arrays of the same library. A batch returns it for ragged fields,
    and ``from_arrays`` accepts it.
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: Array, offsets: Any) -> None:
        self.data = data
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Array:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"sample {index}: the field has {count}")
        index %= count
        data: Any = self.data
        part: Array = data[int(self.offsets[index]) : int(self.offsets[index + 1])]
        return part

    def __iter__(self) -> Iterator[Array]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<dataline.Ragged, {len(self)} samples of {self.data!r}>"
