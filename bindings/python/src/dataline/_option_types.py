"""The options as types, for editors and type checkers.

Generated from capi/api.json by capi/api/generate.py; do not edit.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Optional, TypedDict, Union


class _Order(TypedDict, total=False):
    """What concerns the order."""

    sample_indices: Optional[Iterable[int]]
    """The caller's own order of samples, the same in every epoch. Cannot be combined with shuffle or weights."""
    weights: Optional[Iterable[float]]
    """One weight per sample, for random draws as in PyTorch's WeightedRandomSampler. Cannot be combined with
    shuffle or sample_indices."""
    replacement: Optional[bool]
    """Whether a weighted draw may repeat a sample. Default: true."""
    samples_per_epoch: Optional[int]
    """With weights: the number of draws per epoch. If not set, the number of samples."""
    seed: Optional[int]
    """Determines the order and all random augmentation, for any number of workers and ranks. Default: 0."""
    last_batch: Optional[Literal["keep", "drop", "pad"]]
    """What to do with a short last step of an epoch: keep it, drop it, or pad it with the epoch's first samples.
    Default: keep."""
    rank: Union[None, int, Literal["auto"]]
    """Number of this process, from 0 to world_size - 1. auto: taken from the launcher (torchrun, mpirun, srun,
    ...). Default: 0."""
    world_size: Union[None, int, Literal["auto"]]
    """Number of processes that share each step. auto: taken from the launcher. Default: 1."""
    shuffle_block: Union[None, int, str]
    """With shuffle=window: the maximum size of a block, a run of neighbouring samples from one file that are read
    together (at least one sample). Open blocks use up to twice shuffle_block x shuffle_blocks of the page cache.
    Default: 8MiB."""
    shuffle_blocks: Optional[int]
    """With shuffle=window: about how many blocks are open at a time, over all ranks. With at least
    global_batch_size blocks, batches are mixed as well as with full. Default: 512."""


class LoaderOptions(_Order, total=False):
    """Options beside the arguments of ``dataline.torch.DataLoader``."""

    global_batch_size: Optional[int]
    """Samples per step over all ranks, instead of batch_size. The stream is then the same for every world_size."""
    epochs: Optional[int]
    """Epochs of the whole job. 0: no limit. Default: 0."""
    start_epoch: Optional[int]
    """First epoch, counted from 0. Default: 0."""
    start_step: Optional[int]
    """First step of that epoch, counted from 0. Default: 0."""
    prefetch_depth: Union[None, int, Literal["auto"]]
    """Batches in flight ahead of the consumer, at most those of one epoch. auto: 4. In a loader that tunes itself,
    auto may grow to 16, and a value that is not set means auto. Default: 4."""
    max_leases: Optional[int]
    """Batches that the consumer may hold simultaneously. Up to 1024 of them use slots of the arena; the others are
    copied when they are delivered. Default: 4."""
    lease_overflow: Optional[Literal["copy", "error", "wait"]]
    """What next does when max_leases batches are held: deliver a copy, fail, or wait for a release. Default:
    copy."""
    memory_budget: Union[None, int, str]
    """Limit for all host memory of the dataset and the loader. auto: what the plan needs, but at most half of the
    memory that this process may use. Default: auto."""
    max_bytes_per_sample: Union[None, int, str]
    """Limit for each sample of a ragged field, and for each decoded image that keeps its own size. A larger sample
    is bad. Samples use only the memory they need. If not set, with batch_size=1 a decoded image may have up to
    max_pixels. Default: 1MiB."""
    max_pixels: Optional[int]
    """An image with more pixels, as stated in its header, is a bad sample and is not decoded. Default:
    178956970."""
    max_scans: Optional[int]
    """A progressive JPEG with more scans is a bad sample, because each scan costs a pass over the whole image.
    Default: 100."""
    max_decoded_bytes: Union[None, int, str]
    """Memory that each worker may use for the image that it decodes: its pixels and the decoder's state. An image
    that needs more is a bad sample. Used only if the transform decodes images. Default: 64MiB."""
    io: Optional[Literal["auto", "mmap", "pread", "memory", "device"]]
    """How files are read: mapped, with pread (for network mounts and files that other programs change), or loaded
    into memory. device: the loader keeps the set in device memory, and sends only sample indices for each batch.
    Default: auto."""
    bad_files: Optional[Literal["error", "skip", "keep"]]
    """What to do if one of several files cannot be opened (truncated, corrupt, missing, not readable). skip: leave
    it out, with a warning and a note. keep, with checksums=files: the samples of a damaged file keep their indices
    and are bad samples. Default: error."""
    checksums: Optional[Literal["records", "files"]]
    """files: when a dataset is opened, compares each file with its stored checksum, and the list of files with the
    manifest. Stored checksums are the CRC-32C in the dataline.manifest of a set, and the CRC-32 of a stored member
    of an .npz. Reads each byte once. A difference is an error, or handled by bad_files. records: only the checks
    that the format makes while it reads. Default: records."""
    fault_guard: Optional[bool]
    """Installs a SIGBUS handler for the mapped files of the dataset. If a file is truncated or its disk fails
    during a read, you get an error, and the process is not killed. See dl_dataset_open. Default: false."""
    pack_length: Optional[int]
    """Packs documents (one ragged field of tokens) into samples of exactly this many tokens, with the fields x, y,
    segment, position and cu_seqlens."""
    pack_method: Optional[Literal["concat", "best_fit"]]
    """How documents become rows. concat: all documents are joined and cut into rows. best_fit: documents are kept
    in one piece, and rows may end with padding. Default: concat."""
    pack_window: Optional[int]
    """With pack_method=best_fit: the number of neighbouring documents that are packed together. Default: 4096."""
    pack_split: Optional[bool]
    """With pack_method=best_fit: whether to split documents that are longer than pack_length. false: such a
    document is an error. Default: true."""
    on_error: Optional[Literal["raise", "replace", "quarantine"]]
    """What to do with a sample that cannot be delivered. raise: return an error. replace: deliver another sample
    of the epoch. quarantine: replace and list it. Default: raise."""
    on_warning: Optional[Literal["accept", "error"]]
    """What to do with a JPEG that libjpeg decodes with a warning (wrong codes, data that ends early). accept:
    deliver it, as Pillow does, and count it. error: it is a bad sample. Default: accept."""
    max_bad: Optional[int]
    """Maximum number of distinct bad samples in a job. -1: no limit. Default: -1."""
    bucket_edges: Optional[str]
    """Makes batches by length, as in 128,256,512: each batch has samples of one bucket, whose lengths are at most
    its edge. pad_to(bucket) pads rows to that edge; the field 'length' has the original lengths. With
    bucket_by=aspect: image shapes, as in 448x576,512x512."""
    bucket_by: Optional[Literal["length", "aspect"]]
    """What bucket_edges contains: lengths, or image shapes (height x width). aspect: each image is assigned to the
    shape with the nearest aspect ratio, by its header, which is read when the loader is created. resize(bucket)
    scales it to that shape; the field 'size' has its original size. Default: length."""
    lengths: Optional[Iterable[int]]
    """With bucket_edges: the length of each sample. If not set, the number of items in the set's first ragged
    field."""
    max_tokens: Optional[int]
    """With bucket_edges: limits each batch to this many rows x edge (for images rows x pixels). Counts per rank,
    or over all ranks with global_batch_size. If batch_size or global_batch_size is set too, it also limits the
    rows."""
    homogeneous: Optional[Literal["none", "batch"]]
    """For a mix. batch: all rows of a step, over all ranks, come from one part. Parts may then have different
    sizes. Default: none."""
    transform: Optional[str]
    """Operators for each field, as in 'image: normalize(mnist), flatten; label: one_hot(10)'."""
    cache: Optional[str]
    """A directory, created if missing, that stores samples for later epochs and jobs. It stores the result of the
    first operators of the transform, up to the first random one (decode, resize). Any number of jobs may share it.
    If a file changes, its samples are stored again."""
    cache_bytes: Union[None, int, str]
    """Limit for everything in the cache directory. Caches that no job uses are removed first. auto: a tenth of the
    file system stays free. Only with cache. Default: auto."""
    cache_quality: Optional[int]
    """Stores decoded images of 1 or 3 channels as JPEG of this quality: about a tenth of the bytes, with slightly
    different pixels. If not set, the pixels are the same as without a cache. Only with cache."""
    device_sync: Optional[Literal["stream", "host"]]
    """With device=cuda. stream: delivers batches while their copies are in flight, ordered by dl_batch_wait. host:
    delivers complete batches, for consumers without streams. Default: stream."""
    cuda_library: Optional[str]
    """File name of the CUDA driver. Only with device=cuda or pin_memory. Default: libcuda.so.1."""
    stats: Optional[Literal["basic", "full"]]
    """What is measured. basic: counts. full: also where each worker and the consumer spend their time, by stage,
    at a cost of at most 1 %, or 0.1 us per batch. Default: basic."""
    trace: Optional[str]
    """Writes a trace to this file from create to destroy, in Chrome's format (Perfetto, speedscope): what each
    thread does, and each batch from claim to release. The file must be new, empty or an older trace; other files
    are not overwritten. At most 256 MiB. Also measures what stats=full measures."""
    tune: Optional[Literal["auto", "off", "watch", "on"]]
    """Whether the loader adds and parks workers and changes the prefetch depth while the job runs. It decides by
    the batches that the consumer receives and by the time that it waits. The batches stay the same. auto: on with
    num_workers=auto, otherwise off. on: 1 to num_workers workers; with num_workers=auto up to the number of CPUs,
    or 8 if that is more, as far as memory_budget allows. watch: only reports what it would try. Default: auto."""


class SamplerOptions(_Order, total=False):
    """Options of ``dataline.torch.Sampler``."""

    shuffle: Union[None, bool, Literal["none", "full", "window"]]
    """Order of an epoch. none: file order. full: a new permutation of all samples in each epoch. window: permutes
    blocks of neighbouring samples, and shuffles the samples of a few hundred blocks at a time, so that storage is
    read in long sequential blocks. Default: none."""
    drop_last: Optional[bool]
    """PyTorch's name for last_batch=drop. Default: false."""


class Options(LoaderOptions, total=False):
    """All options: keyword arguments of ``Loader`` and ``open``."""

    batch_size: Optional[int]
    """Samples per batch on this rank, as in PyTorch. Default: 32."""
    shuffle: Union[None, bool, Literal["none", "full", "window"]]
    """Order of an epoch. none: file order. full: a new permutation of all samples in each epoch. window: permutes
    blocks of neighbouring samples, and shuffles the samples of a few hundred blocks at a time, so that storage is
    read in long sequential blocks. Default: none."""
    num_workers: Union[None, int, Literal["auto"]]
    """Worker threads. auto (-1): starts with one for each CPU that this process may use, and tunes the number
    while the job runs (see tune); on a single CPU where samples are only copied and converted, 0. 0: the thread
    that calls next does the work. Default: auto."""
    drop_last: Optional[bool]
    """PyTorch's name for last_batch=drop. Default: false."""
    pin_memory: Optional[bool]
    """Page-locks the slots, for a consumer that copies batches from host memory to a device itself. Needs a CUDA
    context in the thread that creates the loader, or pin_memory_device. With device=cuda, slots are always page-
    locked. Default: false."""
    pin_memory_device: Optional[str]
    """The CUDA device, as cuda:N, whose context page-locks the slots with pin_memory. The context uses memory of
    the device. If not set, the device of the thread's CUDA context is used. Only with pin_memory."""
    device: Optional[str]
    """Where batches are delivered: cpu, or cuda:N for CUDA device N (cuda: device 0), which loads the CUDA driver.
    Default: cpu."""
