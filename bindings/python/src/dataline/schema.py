"""What there is in datasets, loaders and batches, as named tuples.

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
    """Of one sample in a dataset, of a batch in a loader. -1: varying. Ragged: the first dim is -1."""
    ragged: bool = False
    """Samples of different length, packed one after another. Bytes and UTF-8 text are ragged u8."""
    axes: str = ""
    """One letter a dim (``"HWC"``), or ``""`` when not known."""
    nbytes: int = 0
    """Bytes of one sample, or of a batch; -1 when varying. For a ragged field of a reader: the most bytes of one sample,
    where it is more than 0 (otherwise the option ``max_bytes_per_sample`` holds)."""


class BatchInfo(NamedTuple):
    """Where a batch is from."""

    epoch: int
    step: int
    samples: int
    """Rows, pads included."""
    valid: int
    """Rows that are not pads."""
    indices: memoryview
    """[samples], i64: index in its source; of the sample that stands in, where one does."""
    sources: memoryview
    """[samples], i64: which dataset of a mix; 0."""


class Position(NamedTuple):
    """What a loader delivered, never what it loaded ahead. ``step`` may be the number of steps: the end is still due."""

    epoch: int
    step: int


class Tuned(NamedTuple):
    """How many workers work and how many batches are in flight, and what tuning makes of it."""

    mode: str
    """``off``, ``watch`` or ``on``."""
    num_workers: int
    """That work now, perhaps only to be tried; 0: the caller's thread."""
    prefetch_depth: int
    """Now."""
    most_workers: int
    """That memory is planned for."""
    most_depth: int
    """That memory is planned for."""
    wanted_workers: int
    """The best so far; with ``watch`` what would be tried next."""
    wanted_depth: int
    """As ``wanted_workers``."""
    changes: int
    """Of what is in force, so far."""
    frozen: bool
    """Nothing is tried now."""
    batches_per_s: float
    """Consumed, in the last whole measurement; 0 before that."""
    wait_share: float
    """Of that time, the consumer waited; 0 to 1."""
    text: str
    """What it does, and why."""


class Stats(NamedTuple):
    """Counters since the loader was made. delivered + skipped + dropped = the rank's slots of the epochs passed through."""

    num_workers: int
    """In use; 0: the caller's thread."""
    batches: int
    """Delivered."""
    samples: int
    """Delivered, without pads."""
    bytes: int
    """Delivered."""
    skipped: int
    """Samples left out because they were bad."""
    dropped: int
    """Slots left out by ``last_batch="drop"``."""
    padded: int
    """Rows added by ``last_batch="pad"``."""
    replaced: int
    """Rows in which another sample stands in."""
    bad: int
    """Distinct bad samples seen."""
    wait_ns: int
    """Consumers waited in ``next``; 0 with ``num_workers=0``."""
    waits: int
    """Calls that had to wait."""
    worker_cpu_ns: int
    """CPU time of worker threads; 0 with ``num_workers=0``."""
    arena_bytes: int
    """The slots."""
    held_bytes: int
    """All host memory the loader holds now."""
    budget_bytes: int
    """The limit in force."""
    leases_held: int
    """Batches held by consumers now."""
    lease_copies: int
    """Batches delivered as a fresh allocation (``lease_overflow="copy"``)."""
    ready_batches: int
    """Loaded and waiting to be taken."""
    pinned_bytes: int
    """Page-locked; 0 where that was refused (told once in the log)."""
    threads_abandoned: int
    """Workers left behind in a reader that never returned."""
    device_bytes: int
    """Device memory the loader holds now."""
    copied_bytes: int
    """Sent over the bus to the device."""
    warned: int
    """Images delivered though their decoder warned of damage (``on_warning="accept"``)."""
    cache_read: int
    """Samples that were found in the cache (``cache=DIR``)."""
    cache_made: int
    """Samples that were not, and were read and made; 0 without a cache."""


class OpenProgress(NamedTuple):
    """How far an opening is. The numbers only grow, the totals too."""

    done: bool
    """``result`` would not wait."""
    files: int
    """Opened."""
    total_files: int
    """That the URI stands for; 0: not known yet."""
    bytes: int
    """Read into memory (``io="memory"``, ``.gz``: as stored, then inflated) or searched (tar)."""
    total_bytes: int
    """Of those files that were begun; 0: only headers are read."""
    entries: int
    """Found in folders, label files and tars."""


class ImageInfo(NamedTuple):
    """What the header of an encoded image says."""

    format: str
    """``"jpeg"``, ``"png"``, ``"webp"``, ``"pnm"``; ``"unknown"``: from a later library."""
    width: int
    """Pixels, as stored: before any Exif orientation."""
    height: int
    channels: int
    """As stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK)."""
    bits: int
    """Of a channel."""
    orientation: int
    """Exif, 1 to 8; 1 where there is none."""
    progressive: bool
    """Or interlaced."""
    nbytes: int
    """Encoded."""


class PixelScale(NamedTuple):
    """What is delivered is ``pixel * scale + offset``."""

    scale: float
    offset: float


class Part(NamedTuple):
    """A part of a mix, as its dataset or a loader describes it."""

    name: str
    uri: str
    """Of a dataset; ``""`` of a loader."""
    samples: int
    """The part has."""
    delivered: int
    """Of a loader: to this rank since it was made, without pads."""
    repeat: float
    """Of a dataset: how often an epoch has each sample; 0: it has a weight."""
    epochs: float
    """Of a loader: how often the job has gone through the part by now, over all ranks."""
    share_asked: float
    """Of the samples drawn now; of a dataset, at the beginning of a job."""
    share_got: float
    """Of a loader: of what was delivered."""
    transform: str
    """Of a dataset: the part's own; ``""`` for none, and of a loader."""


class PlanStage(NamedTuple):
    """A part of a field's way: what the host does, what crosses the bus, what the device does."""

    field: str
    text: str
    """``"gather"``, ``"copy"``, or operators as written: ``"normalize(mnist), chw"``."""
    device: str
    """``"cpu"`` or ``"cuda"``; of a copy, where it goes."""
    bytes_in: int
    """A sample; -1 varying."""
    bytes_out: int


@dataclass(frozen=True)
class BadSample:
    """A bad sample that was met."""

    code: int
    name: str
    """Of the code, as in ``dataline.h``."""
    source: int
    index: int
    epoch: int
    """Where it was first met."""
    step: int
    slot: int
    replacement: Optional[int]
    """The sample that stood in; None: skipped."""
    message: str
