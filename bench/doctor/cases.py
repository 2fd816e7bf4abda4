"""The planted bottlenecks: what is wrong, how doctor is called, and the causes that name it.

`causes`: the words of `dataline doctor --json` that are right. Two, where either tells the truth.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import typing

import beside

DECODE = "decode, resize(160), center_crop(128)"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    uri: str  # in the folder of plant_data
    options: str
    causes: str
    transform: str = ""
    beside: typing.Callable = beside.nothing
    slow: str = ""  # environment of slow_storage.c

    def words(self):
        return [self.uri, *self.options.split(), *(["--transform", self.transform] if self.transform else [])]


def photos(name, options, causes, uri="folder:photos", **rest):
    return Case(name, uri, "--shuffle full --batch-size 16 " + options, causes, transform=DECODE, **rest)


def rows(name, options, causes, uri="npy:rows.npy", **rest):
    return Case(name, uri, "--shuffle full " + options, causes, **rest)


CASES = [
    # Storage
    rows("storage of 20 MB/s for all", "--batch-size 64 --num-workers 2", "storage",
         uri="npy:slow://rows.npy", slow="SLOW_MB_S=20"),
    rows("storage that takes 2 ms a read", "--batch-size 16 --num-workers 1", "storage",
         uri="npy:slow://rows.npy", slow="SLOW_US=2000"),
    photos("pictures by a storage of 5 ms a read", "--num-workers 2", "storage",
           uri="tar:slow://photos.tar", slow="SLOW_US=5000"),
    rows("cold file", "--batch-size 64 --num-workers 1 --io pread", "storage", beside=beside.cold),
    rows("cold file, and others that sync", "--batch-size 64 --num-workers 1 --io pread", "storage",
         beside=beside.cold_and_synced),
    Case("thousands of tiny files", "folder:tiny", "--shuffle full --batch-size 64 --num-workers 2", "storage"),
    # What is done with samples
    Case("heavy operator", "raw:pixels.raw?fields=image:u8[96x96x3]", "--batch-size 16 --num-workers 2",
         "transform", transform="image: gaussian_blur(23), hflip(0.5)"),
    photos("heavy decoding", "--num-workers 2", "transform cpu"),
    photos("huge pictures", "--num-workers 2", "large_images", uri="folder:huge"),
    photos("one slow picture in ten", "--num-workers 2 --consumer-ms 20", "uneven_samples transform cpu",
           uri="folder:one_in_ten"),
    photos("one slow picture in a hundred", "--num-workers 2 --prefetch-depth 2 --consumer-ms 15",
           "uneven_samples", uri="folder:one_in_hundred"),
    photos("nothing in flight, uneven pictures", "--num-workers 2 --prefetch-depth 1 --consumer-ms 15",
           "prefetch_depth uneven_samples", uri="folder:one_in_hundred"),
    # Threads
    photos("one worker of two CPUs", "--num-workers 1", "too_few_workers"),
    photos("no worker, a consumer that computes", "--num-workers 0 --consumer-ms 10 --consumer-cpu",
           "too_few_workers"),
    photos("no worker, a consumer that sleeps", "--num-workers 0 --consumer-ms 10", "too_few_workers"),
    photos("workers and a consumer on two CPUs", "--num-workers 2 --consumer-ms 4 --consumer-cpu", "transform cpu"),
    photos("sixteen workers", "--num-workers 16", "too_many_workers"),
    photos("half a CPU by a cgroup", "--num-workers 2", "cpu_quota", beside=beside.half_a_cpu),
    photos("one CPU by affinity", "--num-workers 1", "cpu transform", beside=beside.one_cpu),
    photos("others on all CPUs", "--num-workers 2", "cpu_contended", beside=beside.busy_cpus),
    # The consumer and its memory
    photos("a consumer that sleeps", "--num-workers 2 --consumer-ms 60", "consumer"),
    photos("a consumer that computes", "--num-workers 1 --consumer-ms 60 --consumer-cpu", "consumer"),
    rows("leases held", "--batch-size 64 --num-workers 1 --max-leases 2 --consumer-holds 8", "leases_held"),
    rows("a tiny budget", "--batch-size 4096 --memory-budget 64KiB", "memory_budget"),
    rows("pinning refused", "--batch-size 64 --pin-memory --cuda-library /nowhere/libcuda.so.1", "pin_refused"),
    # Nothing
    rows("rows that are only copied", "--batch-size 256 --num-workers 2", "memory_bandwidth"),
    photos("nothing wrong", "--num-workers 2", "cpu transform balanced"),
]
