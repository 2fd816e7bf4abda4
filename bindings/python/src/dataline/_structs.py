"""Structs of the header, as named tuples.

Generated from capi/api.json by capi/api/generate.py; do not edit.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """A part of a mix, as its dataset or a loader describes it."""

    name: str
    """Name in the mix;."""
    uri: str
    """Dataset: as in the recipe, or as its dataset was opened; loader: ``""``."""
    samples: int
    """The sample count of the part."""
    delivered: int
    """Loader: samples delivered to this rank since create, without pads."""
    repeat: float
    """Dataset: its repeat; 0: it has a weight."""
    epochs: float
    """Loader: how many passes over the part the job has made at its position, over all ranks."""
    share_asked: float
    """The requested share of the samples drawn now; dataset: at the start of a job."""
    share_got: float
    """Loader: the share of what was delivered."""
    transform: str
    """Dataset: the part's own transform, "" for none; loader: ``""``."""


class OpenProgress(NamedTuple):
    """The progress of an opening. All numbers only grow. The library lists files before it opens the first one, so
    totals grow as well, but a total is never less than the part that is done. Log lines with ``"progress"``
    contain the same numbers."""

    done: bool
    """``Opening.result`` would not wait."""
    files: int
    """Files opened so far."""
    total_files: int
    """Files of the URI; 0: not known yet."""
    bytes: int
    """Bytes read into memory (``io="memory"``, .gz: as stored, then decompressed) or searched."""
    total_bytes: int
    """Size of the files that were started; 0: only headers are read."""
    entries: int
    """Entries found in folders, label files and tars."""


class Stall(NamedTuple):
    """A call of ``Loader.next`` that took 10 ms or more. If calls end with Timeout or Interrupted, their time is
    added to the next call that delivers a batch. The time between the calls does not count."""

    epoch: int
    """Epoch of the batch that was delivered."""
    step: int
    """Step of that batch."""
    wait_ns: int
    """Duration of the call."""
    cause: str
    """What the workers spent that time on, as ``Metric.part``; "leases": the consumer held max_leases batches."""


class Stats(NamedTuple):
    """Counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank in
    the epochs so far."""

    num_workers: int
    """Workers in use; 0: the caller's thread."""
    batches: int
    """Batches delivered."""
    samples: int
    """Samples delivered, without pads."""
    bytes: int
    """Bytes delivered."""
    skipped: int
    """Bad samples that were skipped."""
    dropped: int
    """Slots dropped by ``last_batch="drop"``."""
    padded: int
    """Rows added by ``last_batch="pad"``."""
    replaced: int
    """Rows filled with a replacement sample."""
    bad: int
    """Distinct bad samples seen."""
    wait_ns: int
    """Time that consumers waited in ``Loader.next``; 0 with ``num_workers=0``."""
    waits: int
    """Calls of ``Loader.next`` that had to wait."""
    worker_cpu_ns: int
    """CPU time of worker threads; 0 with ``num_workers=0``."""
    arena_bytes: int
    """Size of the slots; for rows without a fixed size, the part touched so far."""
    held_bytes: int
    """All host memory that the loader holds now."""
    budget_bytes: int
    """The memory limit in force."""
    leases_held: int
    """Batches held by consumers now."""
    lease_copies: int
    """Batches delivered as a new allocation, beyond the slots for leases."""
    ready_batches: int
    """Batches loaded, not yet delivered."""
    pinned_bytes: int
    """Page-locked memory; 0 if the system refused it (logged once)."""
    threads_abandoned: int
    """Workers abandoned in a host callback that did not return."""
    device_bytes: int
    """Device memory that the loader holds now."""
    copied_bytes: int
    """Bytes copied over the bus to the device."""
    warned: int
    """Images delivered although the decoder warned of damage (``on_warning="accept"``)."""
    cache_read: int
    """Samples that the cache provided (option cache)."""
    cache_made: int
    """Samples that had to be processed; 0 without a cache."""


class Tuned(NamedTuple):
    """The workers and the depth in use, and what tuning does or would do."""

    mode: str
    """``"off"``, ``"watch"``, ``"on"``."""
    num_workers: int
    """Active workers, perhaps only as a trial; 0: the caller's thread."""
    prefetch_depth: int
    """The depth in use."""
    most_workers: int
    """Memory is planned for this many workers."""
    most_depth: int
    """Memory is planned for this depth."""
    wanted_workers: int
    """The best number so far; with ``"watch"``, the number to try next."""
    wanted_depth: int
    """The best depth so far; with ``"watch"``, the depth to try next."""
    changes: int
    """How often the setting changed so far."""
    frozen: bool
    """Nothing is tried now."""
    batches_per_s: float
    """Batches consumed per second, in the last complete measurement. Before that 0, as is wait_share."""
    wait_share: float
    """Share of that time in which the consumer waited, 0 to 1."""
    text: str
    """What tuning does, and why."""
