"""Descriptions of datasets, loaders and batches, as named tuples.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

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


class Tuned(NamedTuple):
    """The workers and depth in use, and what tuning would change."""

    mode: str
    """``off``, ``watch`` or ``on``."""
    num_workers: int
    """Active workers, possibly only to try this number; 0: the caller's thread."""
    prefetch_depth: int
    """Now."""
    most_workers: int
    """The maximum workers that memory is planned for."""
    most_depth: int
    """The maximum depth that memory is planned for."""
    wanted_workers: int
    """The best number so far; with ``watch`` the number to try next."""
    wanted_depth: int
    """The best depth so far; with ``watch`` the depth to try next."""
    changes: int
    """Changes of workers and depth so far."""
    frozen: bool
    """Nothing is being tried now."""
    batches_per_s: float
    """Batches consumed per second, in the last complete measurement; 0 before that."""
    wait_share: float
    """The share of that time that the consumer waited, 0 to 1."""
    text: str
    """What tuning does, and why."""


class Stats(NamedTuple):
    """Counters since the loader was created. delivered + skipped + dropped = the rank's slots of the epochs so far."""

    num_workers: int
    """Workers in use; 0: the caller's thread."""
    batches: int
    """Delivered."""
    samples: int
    """Samples delivered, without pads."""
    bytes: int
    """Delivered."""
    skipped: int
    """Samples skipped because they were bad."""
    dropped: int
    """Slots dropped by ``last_batch="drop"``."""
    padded: int
    """Rows added by ``last_batch="pad"``."""
    replaced: int
    """Rows filled with a replacement sample."""
    bad: int
    """Distinct bad samples seen."""
    wait_ns: int
    """Nanoseconds that consumers waited for batches; 0 with ``num_workers=0``."""
    waits: int
    """Calls that had to wait."""
    worker_cpu_ns: int
    """CPU time of worker threads; 0 with ``num_workers=0``."""
    arena_bytes: int
    """The bytes of the slots."""
    held_bytes: int
    """All host memory the loader holds now."""
    budget_bytes: int
    """The current memory limit."""
    leases_held: int
    """Batches that consumers hold now."""
    lease_copies: int
    """Batches delivered in a separate allocation (``lease_overflow="copy"``)."""
    ready_batches: int
    """Batches that are loaded and not taken yet."""
    pinned_bytes: int
    """Page-locked bytes; 0 if the system refused (logged once)."""
    threads_abandoned: int
    """Workers abandoned in a reader that never returned."""
    device_bytes: int
    """Device memory the loader holds now."""
    copied_bytes: int
    """Bytes sent over the bus to the device."""
    warned: int
    """Images delivered although their decoder warned of damage (``on_warning="accept"``)."""
    cache_read: int
    """Samples found in the cache (``cache=DIR``)."""
    cache_made: int
    """Samples not found in the cache, which were read and computed; 0 without a cache."""


class OpenProgress(NamedTuple):
    """The progress of an opening. The numbers only grow, including the totals."""

    done: bool
    """``result`` would not wait."""
    files: int
    """Opened."""
    total_files: int
    """Files that the URI matches; 0: not known yet."""
    bytes: int
    """Bytes read into memory (``io="memory"``, ``.gz``: as stored, then decompressed) or searched (tar)."""
    total_bytes: int
    """Bytes of the files that were started; 0: only headers are read."""
    entries: int
    """Entries found in folders, label files and tars."""


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


class Part(NamedTuple):
    """A part of a mix, described by its dataset or by a loader."""

    name: str
    uri: str
    """Dataset: the URI. Loader: ``""``."""
    samples: int
    """The sample count of the part."""
    delivered: int
    """Loader: samples delivered to this rank since the loader was created, without pads."""
    repeat: float
    """Dataset: how often an epoch repeats each sample; 0: the part has a weight."""
    epochs: float
    """Loader: how many passes over the part the job has made so far, over all ranks."""
    share_asked: float
    """Loader: the requested share of the samples drawn now. Dataset: the share at the start of a job."""
    share_got: float
    """Loader: the share of the delivered samples."""
    transform: str
    """Dataset: the part's own transform, ``""`` for none. Loader: ``""``."""


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
