"""Descriptions of datasets, loaders and batches, as named tuples.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

from ._structs import OpenProgress, Part, Stats, Tuned

__all__ = [
    "BadSample",
    "BatchInfo",
    "Field",
    "ImageInfo",
    "OpenProgress",
    "Part",
    "PixelScale",
    "PlanStage",
    "Position",
    "Stats",
    "Tuned",
]


class Field(NamedTuple):
    """A field of a schema."""

    name: str
    """Nested names use ``/``."""
    dtype: str
    """``bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128``."""
    shape: tuple[int, ...] = ()
    """The shape of one sample in a dataset, of a batch in a loader. -1: varying. Ragged: the first dim is -1."""
    ragged: bool = False
    """Samples differ in length and are stored contiguously. Bytes and UTF-8 text are ragged u8."""
    axes: str = ""
    """One letter per dim (``"HWC"``), or ``""`` if unknown."""
    nbytes: int = 0
    """The bytes of one sample, or of a batch; -1 if they vary. For a ragged field of a reader: the maximum bytes of one
    sample, if greater than 0 (otherwise the option ``max_bytes_per_sample``)."""


class BatchInfo(NamedTuple):
    """Position, size and samples of a batch."""

    epoch: int
    step: int
    samples: int
    """Rows, including pads."""
    valid: int
    """Rows that are not pads."""
    indices: memoryview
    """[samples], i64: the sample index of each row. For a replaced sample, the index of its replacement."""
    sources: memoryview
    """[samples], i64: the part of a mix that each row comes from; 0 without a mix."""


class Position(NamedTuple):
    """The position of a loader. Counts batches that were delivered, not those loaded ahead. If ``step`` is the number of
    steps, the end of the epoch has not been returned yet."""

    epoch: int
    step: int


class ImageInfo(NamedTuple):
    """The header of an encoded image."""

    format: str
    """``"jpeg"``, ``"png"``, ``"webp"``, ``"pnm"``; ``"unknown"``: from a later library."""
    width: int
    """Pixels, as stored: before any Exif orientation."""
    height: int
    channels: int
    """As stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK)."""
    bits: int
    """Bits per channel."""
    orientation: int
    """Exif orientation, 1 to 8; 1 if absent."""
    progressive: bool
    """Progressive or interlaced."""
    nbytes: int
    """Encoded."""


class PixelScale(NamedTuple):
    """The delivered value is ``pixel * scale + offset``."""

    scale: float
    offset: float


class PlanStage(NamedTuple):
    """A stage of a sample on its way from the file to the batch: on the host, a copy over the bus, or on the device."""

    field: str
    text: str
    """``"gather"``, ``"copy"``, or operators as written: ``"normalize(mnist), chw"``."""
    device: str
    """``"cpu"`` or ``"cuda"``; for a copy, the destination."""
    bytes_in: int
    """Bytes of one sample before the stage; -1: varying."""
    bytes_out: int


@dataclass(frozen=True)
class BadSample:
    """A bad sample that a loader found."""

    code: int
    name: str
    """The name of the code, as in ``dataline.h``."""
    source: int
    index: int
    epoch: int
    """The epoch where it was first found."""
    step: int
    slot: int
    replacement: Optional[int]
    """The sample that replaced it; None: skipped."""
    message: str
