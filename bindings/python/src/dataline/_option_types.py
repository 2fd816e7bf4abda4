"""The options as types, for editors and type checkers. Written by option_types.py from the library's table.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Optional, TypedDict, Union


class _Order(TypedDict, total=False):
    """What concerns the order."""

    sample_indices: Optional[Iterable[int]]
    """The caller's own order, the same each epoch. Not with shuffle or weights."""
    weights: Optional[Iterable[float]]
    """One weight a sample: draws as PyTorch's WeightedRandomSampler. Not with shuffle or sample_indices."""
    replacement: Optional[bool]
    """Whether a weighted draw may repeat a sample. Default: true."""
    samples_per_epoch: Optional[int]
    """Draws in an epoch, with weights only; when not set, as many as there are samples."""
    seed: Optional[int]
    """Fixes every order and augmentation, on any number of workers and ranks. Default: 0."""
    last_batch: Optional[Literal["keep", "drop", "pad"]]
    """The epoch's last step when it is short: keep it shorter, drop it, or pad it with the epoch's first samples.
    Default: keep."""
    rank: Union[None, int, Literal["auto"]]
    """Which of world_size processes this is. auto: what the launcher says (torchrun, mpirun, srun, ...). Default:
    0."""
    world_size: Union[None, int, Literal["auto"]]
    """Processes that share each step. auto: what the launcher says. Default: 1."""
    shuffle_block: Union[None, int, str]
    """With shuffle=window: the largest block, a run of neighbouring samples of one file that are read together; at
    least one sample. What is open takes page cache: up to twice shuffle_block x shuffle_blocks. Default: 8MiB."""
    shuffle_blocks: Optional[int]
    """With shuffle=window: about how many blocks the samples are drawn from at a time, over all ranks. For batches
    as mixed as with full, at least global_batch_size. Default: 512."""


class LoaderOptions(_Order, total=False):
    """Options beside the arguments of ``dataline.torch.DataLoader``."""

    global_batch_size: Optional[int]
    """Samples in a step over all ranks; the stream is then the same for every world_size. Instead of
    batch_size."""
    epochs: Optional[int]
    """Epochs of the whole job; 0: for ever. Default: 0."""
    start_epoch: Optional[int]
    """Epoch to begin with, counted from 0. Default: 0."""
    start_step: Optional[int]
    """Step of that epoch to begin with, counted from 0. Default: 0."""
    prefetch_depth: Optional[int]
    """Batches in flight ahead of the consumer, an epoch's at most. auto: 4; with tune=on it is also what stands
    for a value that is not set, and up to 16. Default: 4."""
    max_leases: Optional[int]
    """Batches the consumer may hold at once: up to 1024 of them in slots of the arena, others as copies made when
    they are delivered. Default: 4."""
    lease_overflow: Optional[Literal["copy", "error", "wait"]]
    """What next does beyond max_leases: deliver a copy, fail, or wait for a release. Default: copy."""
    memory_budget: Union[None, int, str]
    """Limit for all host memory of the dataset, and of the loader. auto: what the plan needs, refused above half
    of what this process may use. Default: auto."""
    max_bytes_per_sample: Union[None, int, str]
    """Room for each sample of a ragged field, and for each decoded image of its own size; a larger sample is bad.
    Memory is taken by what samples need of it. Not set: with batch_size=1 a decoded image has room up to
    max_pixels. Default: 1MiB."""
    max_pixels: Optional[int]
    """An image of more pixels, by its header, is a bad sample; nothing of it is decoded. Default: 178956970."""
    max_scans: Optional[int]
    """A progressive JPEG of more scans is a bad sample: each scan costs a pass over the whole image. Default:
    100."""
    max_decoded_bytes: Union[None, int, str]
    """Room of each worker for one image on its way: its pixels and what its decoder holds. An image that needs
    more is a bad sample. Only where something is decoded. Default: 64MiB."""
    io: Optional[Literal["auto", "mmap", "pread", "memory", "device"]]
    """How files are read: mapped, by pread (network mounts, files that others change), or held in memory. device:
    the loader holds the set in the memory of its device, where only sample indices are sent for each batch.
    Default: auto."""
    bad_files: Optional[Literal["error", "skip", "keep"]]
    """What to do with a file of a set of several that cannot be opened (cut, corrupt, missing, not readable): skip
    leaves it out, with a warning and a note, and the others are the set. keep, with checksums=files: the samples
    of a damaged file keep their indices and are bad samples. Default: error."""
    checksums: Optional[Literal["records", "files"]]
    """files: when a dataset is opened, compares each file with the checksum that is stored for it: the CRC-32C in
    the dataline.manifest of a set, the CRC-32 of a stored member of an .npz; and the files with those that the
    manifest lists. Reads each byte once. What differs is an error, or what bad_files chooses. records: only what a
    format checks as it reads. Default: records."""
    fault_guard: Optional[bool]
    """Installs a SIGBUS handler for the mapped files of the dataset: one that is cut, or whose disk fails, while
    it is read gives an error where the process would end. See dl_dataset_open. Default: false."""
    pack_length: Optional[int]
    """Packs documents (one ragged field of tokens) into samples of exactly so many tokens, with the fields x, y,
    segment, position and cu_seqlens."""
    pack_method: Optional[Literal["concat", "best_fit"]]
    """How documents become rows: joined and cut, or fitted whole into rows that may end with padding. Default:
    concat."""
    pack_window: Optional[int]
    """With pack_method=best_fit: neighbouring documents that are packed together. Default: 4096."""
    pack_split: Optional[bool]
    """With pack_method=best_fit: a document longer than pack_length is split; false: it is an error. Default:
    true."""
    on_error: Optional[Literal["raise", "replace", "quarantine"]]
    """A sample that cannot be delivered: raise an error, let another sample of the epoch stand in, or that and
    list it. Default: raise."""
    on_warning: Optional[Literal["accept", "error"]]
    """A JPEG in whose data libjpeg finds damage that it only warns of (wrong codes, data that ends early): deliver
    what it makes of it, as Pillow does, and count it, or take it for a bad sample. Default: accept."""
    max_bad: Optional[int]
    """Distinct bad samples a job survives; -1: no limit. Default: -1."""
    bucket_edges: Optional[str]
    """Batches by length, as in 128,256,512: each batch has samples of one bucket, whose lengths are at most its
    edge. pad_to(bucket) fills rows up to it; the field 'length' tells how long each was. With bucket_by=aspect the
    shapes of images, as in 448x576,512x512."""
    bucket_by: Optional[Literal["length", "aspect"]]
    """What bucket_edges are: lengths, or shapes of images (height x width). By aspect each image goes to the shape
    whose aspect ratio is nearest, by its header, which is read when the loader is made; resize(bucket) gives it
    that shape, and the field 'size' tells its own. Default: length."""
    lengths: Optional[Iterable[int]]
    """The length of each sample, for bucket_edges; when not set, the items of the set's first ragged field."""
    max_tokens: Optional[int]
    """With bucket_edges: a batch has as many rows as fit, rows x edge (of images their pixels). Of this rank, as
    batch_size; with global_batch_size, over all ranks. If one of these is set too, a batch has no more rows than
    it says."""
    homogeneous: Optional[Literal["none", "batch"]]
    """Of a mix: batch takes each step, over all ranks, from one part. Parts may then have sizes of their own.
    Default: none."""
    transform: Optional[str]
    """What is done to each field, as in 'image: normalize(mnist), flatten; label: one_hot(10)'."""
    cache: Optional[str]
    """A directory, made if it is not there, that keeps samples as they are after the operators of the transform
    that draw nothing (decode, resize), for later epochs and jobs. Any number of jobs may share it; files that
    change are made anew."""
    cache_bytes: Union[None, int, str]
    """The most that the directory of cache may take, whatever is in it; caches that nobody uses go first. auto: a
    tenth of its file system stays free. Only with cache. Default: auto."""
    cache_quality: Optional[int]
    """Keeps decoded images of 1 or 3 channels as JPEG of this quality: about a tenth of the bytes, and the pixels
    are no longer quite those without a cache. When it is not set they are. Only with cache."""
    device_sync: Optional[Literal["stream", "host"]]
    """With device=cuda: stream lends batches while their copies are in flight, ordered by dl_batch_wait; host
    lends complete ones, for consumers that know no streams. Default: stream."""
    cuda_library: Optional[str]
    """File of the CUDA driver. Only with device=cuda or pin_memory. Default: libcuda.so.1."""
    stats: Optional[Literal["basic", "full"]]
    """What is measured: basic counts; full also tells where the time of each worker and of the consumer goes, by
    stage, at a cost of at most 1 %, or 0.1 us a batch. Default: basic."""
    trace: Optional[str]
    """File for a trace from create to destroy, in Chrome's format (Perfetto, speedscope): what each thread does,
    and each batch from claim to release. The file is new, empty or an older trace: nothing else is overwritten. At
    most 256 MiB; measures as stats=full does."""
    tune: Optional[Literal["off", "watch", "on"]]
    """Whether workers are added and parked, and the depth moves, while the job runs, by the batches that the
    consumer gets and the time that it waits. on: from 1 up to num_workers, or with auto to the CPUs, 8 at least,
    as far as memory_budget allows; watch: only says what it would try. The bytes are the same. Default: off."""


class SamplerOptions(_Order, total=False):
    """Options of ``dataline.torch.Sampler``."""

    shuffle: Union[None, bool, Literal["none", "full", "window"]]
    """Order of an epoch: none is file order, full a new permutation of all samples each epoch; window permutes
    blocks of neighbours and shuffles the samples of a few hundred at a time, so that storage is read in long
    pieces. Default: none."""
    drop_last: Optional[bool]
    """PyTorch's name for last_batch=drop. Default: false."""


class Options(LoaderOptions, total=False):
    """All options: keyword arguments of ``Loader`` and ``open``."""

    batch_size: Optional[int]
    """Samples in a batch of this rank, as in PyTorch. Default: 32."""
    shuffle: Union[None, bool, Literal["none", "full", "window"]]
    """Order of an epoch: none is file order, full a new permutation of all samples each epoch; window permutes
    blocks of neighbours and shuffles the samples of a few hundred at a time, so that storage is read in long
    pieces. Default: none."""
    num_workers: Union[None, int, Literal["auto"]]
    """Worker threads. auto (-1): the CPUs this process is granted, less one for the trainer, at least 1, but 0
    where there is one CPU and samples are only copied and converted; 0: the thread that calls next does the work.
    Default: auto."""
    drop_last: Optional[bool]
    """PyTorch's name for last_batch=drop. Default: false."""
    pin_memory: Optional[bool]
    """Page-locks the slots, for a consumer that copies cpu batches to a device itself; needs a CUDA context of the
    thread that creates the loader, or pin_memory_device. With device=cuda they always are. Default: false."""
    pin_memory_device: Optional[str]
    """The CUDA device, as cuda:N, that page-locks with pin_memory; its context takes memory of it. When not set,
    that of the CUDA context that the thread has. Only with pin_memory."""
    device: Optional[str]
    """Where batches are delivered: cpu, or cuda:N, CUDA device N (cuda: device 0), whose driver is opened then.
    Default: cpu."""
