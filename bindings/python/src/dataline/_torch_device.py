"""Devices, streams and buffers for PyTorch's tensors.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import torch

from . import _core
from ._launcher import launcher
from ._rows import is_boolean
from .schema import Field

Buffers = Union[Mapping[str, torch.Tensor], Sequence[torch.Tensor]]


def device_of(device: Union[str, int, torch.device]) -> torch.device:
    """The device with its index. ``"cuda"`` is PyTorch's current device. If that is device 0 because none was selected,
    and a launcher started one process per device, it is the device of the local rank."""
    if is_boolean(device):
        raise TypeError(f"device: expected cpu, cuda or cuda:N, got {device!r}")
    made = torch.device(device)
    if made.type == "cpu":
        return made
    if made.type != "cuda":
        raise ValueError(f"device: expected cpu, cuda or cuda:N, got {device!r}")
    if not torch.cuda.is_available():
        why = "was built without CUDA" if torch.version.cuda is None else "found no CUDA device"
        raise RuntimeError(f"device={str(device)!r}: PyTorch {torch.__version__} {why}; device='cpu' works")
    count = torch.cuda.device_count()
    index = made.index
    if index is None:
        local = launcher().local_rank or 0
        index = torch.cuda.current_device()
        if index == 0 and local < count:
            index = local
    if index >= count:
        raise RuntimeError(f"device={str(device)!r}: PyTorch found {count} CUDA devices, numbered from 0")
    return torch.device("cuda", index)


def wait_here(batch: _core.Batch, index: int) -> None:
    """Makes the current stream of that CUDA device wait for the batch; the CPU does not wait."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "a batch was requested while the stream is capturing a CUDA graph: request it earlier, and let the graph read "
            "buffers that into= fills"
        )
    batch.wait(torch.cuda.current_stream(index).cuda_stream)


class InFlight:
    """Page-locked memory that copies to a device may still read.

    ``hold`` keeps an object until the work that is now in the current streams is done. At most two are kept: with a
    third, it waits for the first, so that the CPU does not run further ahead than there are slots.
    """

    def __init__(self) -> None:
        self._held: deque[tuple[list[Any], Any]] = deque()
        self._lock = threading.Lock()

    def hold(self, kept: Any) -> None:
        events = [torch.cuda.current_stream(index).record_event() for index in _devices_in_use()]
        with self._lock:
            self._held.append((events, kept))
            while self._held and (len(self._held) > 2 or all(event.query() for event in self._held[0][0])):
                for event in self._held[0][0]:
                    event.synchronize()
                self._held.popleft()


def _devices_in_use() -> Iterable[int]:
    """Devices that have a context; requesting a stream of another device would create one."""
    has_context = getattr(torch._C, "_cuda_hasPrimaryContext", None)
    if has_context is None:
        return [torch.cuda.current_device()]
    return [index for index in range(torch.cuda.device_count()) if has_context(index)]


def dtype_of(name: str) -> Any:
    """PyTorch's dtype by the library's name; None if this PyTorch does not have it."""
    if name in ("bool", "bf16"):
        return {"bool": torch.bool, "bf16": torch.bfloat16}[name]
    words = {"u": "uint", "i": "int", "f": "float", "c": "complex"}
    return getattr(torch, words[name[0]] + name[1:], None)


class Into:
    """Tensors of the caller into which every batch is copied, for example static inputs of a CUDA graph."""

    def __init__(self, given: Buffers, names: Sequence[str], fields: Sequence[Field], device: torch.device) -> None:
        self.given = given
        if isinstance(given, Mapping):
            self.targets = dict(given)
        elif len(given) == len(names):
            self.targets = dict(zip(names, given))
        else:
            raise ValueError(f"into: expected tensors for {list(names)}, got {len(given)}")
        known = {field.name: field for field in fields}
        for name, target in self.targets.items():
            if name not in known:
                raise KeyError(f"into: expected some of {list(known)}, got {name!r}")
            _check(known[name], target, device)

    def fill(self, batch: _core.Batch, sources: Mapping[str, torch.Tensor], in_flight: InFlight) -> Buffers:
        """Copies in the order of the current stream, which already waits for the batch, and releases the slot."""
        pinned = False
        with torch.no_grad():
            for name, target in self.targets.items():
                source = sources[name]
                if source.shape != target.shape:
                    raise ValueError(
                        f"into: a batch of {tuple(source.shape)} does not fit {tuple(target.shape)} of {name!r} (if bad "
                        "samples were skipped, on_error='replace' keeps the size)"
                    )
                from_pinned = target.is_cuda and not source.is_cuda and batch.tensor(name).pinned
                target.copy_(source, non_blocking=source.is_cuda or from_pinned)
                pinned = pinned or from_pinned
        if pinned:
            in_flight.hold(dict(sources))
        batch.release()
        return self.given


def _check(field: Field, target: torch.Tensor, device: torch.device) -> None:
    if field.ragged:
        raise ValueError(f"into: {field.name!r} is ragged, so its batches differ in size; use pad_to(length)")
    dtype, shape = dtype_of(field.dtype), (*target.shape[:1], *field.shape[1:])  # how many rows, each batch tells
    if field.shape[0] >= 0:
        shape = field.shape
    if (target.dtype, tuple(target.shape)) != (dtype, shape):
        raise ValueError(
            f"into: {field.name!r} is {dtype} {shape}, got a tensor of {target.dtype} {tuple(target.shape)}"
        )
    if device.type == "cuda" and target.device != device:
        raise ValueError(f"into: {field.name!r} is on {device}, got a tensor on {target.device}")
