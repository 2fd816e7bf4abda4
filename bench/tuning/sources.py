"""The ways to get batches that the table compares. Each is iterable, once an epoch, and gives (images, labels) on the device.
Those that copy batches to the device count in `copied_s` the seconds of an epoch that the loop spent on it.
SPDX-License-Identifier: Apache-2.0
"""
import time

import torch

from dataline_ctypes import Loader
from digits import normalized

BATCH_SIZE = 100


class Moved:
    """Batches of host memory, copied to the device when they are used: `images.to(device)` in the loop."""

    def __init__(self, batches, device, non_blocking=False):
        self.batches, self.device, self.non_blocking, self.copied_s = batches, device, non_blocking, 0.0

    def __iter__(self):
        self.copied_s = 0.0
        for images, labels in self.batches:
            begin = time.perf_counter()
            moved = (images.to(self.device, non_blocking=self.non_blocking),
                     labels.to(self.device, non_blocking=self.non_blocking))
            self.copied_s += time.perf_counter() - begin
            yield moved


class Prefetcher:
    """The data_prefetcher that projects write by hand: the next batch is copied, as it is stored, in a stream of its own and
    normalised there while the current one is used; record_stream keeps its memory until it was."""

    def __init__(self, batches, device):
        self.batches, self.device, self.stream, self.copied_s = batches, device, torch.cuda.Stream(device), 0.0

    def __iter__(self):
        self.copied_s = 0.0
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
        begin = time.perf_counter()
        with torch.cuda.stream(self.stream):
            images, labels = (tensor.to(self.device, non_blocking=True) for tensor in batch)
            moved = normalized(images), labels
        self.copied_s += time.perf_counter() - begin
        return moved


class WholeSet:
    """The whole set, normalised, on the device beforehand; an epoch is a permutation there. What no loader can beat."""

    def __init__(self, stored, device):
        self.images, self.labels = normalized(stored.images.to(device)), stored.labels.to(device)

    def __iter__(self):
        order = torch.randperm(len(self.labels), device=self.labels.device)
        for rows in order.split(BATCH_SIZE):
            yield self.images[rows], self.labels[rows]


def dataline(library, folder, device, **options):
    if device.type != "cpu":
        options.update(device=str(device), stream=torch.cuda.current_stream(device).cuda_stream)
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
