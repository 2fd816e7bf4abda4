"""The ways to get batches that the table compares. Each is iterable, once an epoch, and gives (images, labels) on the device.
SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

from dataline_ctypes import Loader
from digits import Digits, Stored, normalized, open_split

BATCH_SIZE = 100


class Moved:
    """Batches of host memory, copied to the device when they are used: `images.to(device)` in the loop."""

    def __init__(self, batches, device, non_blocking=False):
        self.batches, self.device, self.non_blocking = batches, device, non_blocking

    def __iter__(self):
        for images, labels in self.batches:
            yield (images.to(self.device, non_blocking=self.non_blocking),
                   labels.to(self.device, non_blocking=self.non_blocking))


class Prefetcher:
    """The data_prefetcher that projects write by hand: the next batch is copied, as it is stored, in a stream of its own and
    normalised there while the current one is used; record_stream keeps its memory until it was."""

    def __init__(self, batches, device):
        self.batches, self.device, self.stream = batches, device, torch.cuda.Stream(device)

    def __iter__(self):
        source = iter(self.batches)
        following = self._load(source)
        while following is not None:
            current = torch.cuda.current_stream(self.device)
            current.wait_stream(self.stream)
            for tensor in following:
                tensor.record_stream(current)
            batch, following = following, self._load(source)
            yield batch

    def _load(self, source):
        batch = next(source, None)
        if batch is None:
            return None
        with torch.cuda.stream(self.stream):
            images, labels = (tensor.to(self.device, non_blocking=True) for tensor in batch)
            return normalized(images), labels


class WholeSet:
    """The whole set, normalised, on the device beforehand; an epoch is a permutation there. What no loader can beat."""

    def __init__(self, stored, device):
        self.images, self.labels = normalized(stored.images.to(device)), stored.labels.to(device)

    def __iter__(self):
        order = torch.randperm(len(self.labels), device=self.labels.device)
        for rows in order.split(BATCH_SIZE):
            yield self.images[rows], self.labels[rows]


def dataline(library, folder, workers=None, device=None, **options):
    if device is not None:
        options.update(device=str(device), stream=torch.cuda.current_stream(device).cuda_stream)
    if workers is not None:
        options.update(num_workers=workers)
    return Loader(library, f"mnist:{folder}?split=train", batch_size=BATCH_SIZE, shuffle="full",
                  transform="image: normalize(mnist)", **options)


def dataline_torch(folder, device):
    """Through the Python package, where it is installed."""
    import dataline.torch
    loader = dataline.torch.DataLoader(
        f"mnist:{dataline.escape(str(folder))}?split=train", BATCH_SIZE, shuffle=True, device=device,
        transform="image: normalize(mnist)", fields=("image", "label"))
    loader.close = loader.loader.close
    return loader


def on_the_cpu(folder, library):
    digits = open_split(folder, "train")

    def pytorch(**options):
        return DataLoader(digits, batch_size=BATCH_SIZE, shuffle=True, **options)

    whole = BatchSampler(RandomSampler(digits), BATCH_SIZE, drop_last=False)
    return [
        ("pytorch w0", pytorch),
        ("pytorch w1", lambda: pytorch(num_workers=1)),
        ("pytorch w2", lambda: pytorch(num_workers=2)),
        ("pytorch w2 prefetch_factor=8", lambda: pytorch(num_workers=2, prefetch_factor=8)),
        ("pytorch w2 persistent", lambda: pytorch(num_workers=2, persistent_workers=True)),
        ("pytorch w2 persistent prefetch_factor=8",
         lambda: pytorch(num_workers=2, persistent_workers=True, prefetch_factor=8)),
        ("pytorch batched w0", lambda: DataLoader(digits, sampler=whole, batch_size=None)),
        ("whole set in memory", lambda: WholeSet(open_split(folder, "train", Stored), "cpu")),
        ("dataline w0", lambda: dataline(library, folder, 0)),
        ("dataline w1", lambda: dataline(library, folder, 1)),
    ]


def on_a_gpu(folder, library, device, workers):
    """(a) to (g) of the guides; each of PyTorch's with the settings that serve it best."""
    digits, stored = open_split(folder, "train"), open_split(folder, "train", Stored)

    def pytorch(dataset=digits, **options):
        return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, **options)

    many = {"num_workers": workers, "persistent_workers": True}
    rows = [
        ("pytorch w0", lambda: Moved(pytorch(), device)),
        (f"pytorch w{workers}", lambda: Moved(pytorch(**many), device)),
        (f"pytorch w{workers} pinned non_blocking", lambda: Moved(pytorch(pin_memory=True, **many), device, True)),
        (f"pytorch w{workers} pinned prefetcher",
         lambda: Prefetcher(pytorch(stored, pin_memory=True, prefetch_factor=8, **many), device)),
        ("whole set on the device", lambda: WholeSet(stored, device)),
        ("dataline cuda", lambda: dataline(library, folder, device=device)),
        ("dataline cuda io=device", lambda: dataline(library, folder, device=device, io="device")),
    ]
    try:
        import dataline.torch  # noqa: F401
    except ImportError:
        return rows
    return [*rows, ("dataline.torch cuda", lambda: dataline_torch(folder, device))]
