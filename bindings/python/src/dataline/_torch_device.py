"""Where PyTorch wants its tensors: devices, streams, and buffers of its own.

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
    """The device by its number. ``"cuda"`` is PyTorch's current one; where that is the first because nobody chose, and
    a launcher started one process for each, the one of its local rank."""
    if is_boolean(device):
        raise TypeError(f"device: expected cpu, cuda or cuda:N, got {device!r}")
    made = torch.device(device)
    if made.type == "cpu":
        return made
    if made.type != "cuda":
        raise ValueError(f"device: expected cpu, cuda or cuda:N, got {device!r}")
    if not torch.cuda.is_available():
        why = "was built without CUDA" if torch.version.cuda is None else "finds no CUDA device"
        raise RuntimeError(f"device={str(device)!r}: PyTorch {torch.__version__} {why}; device='cpu' works")
    count = torch.cuda.device_count()
    index = made.index
    if index is None:
        local = launcher().local_rank or 0
        index = torch.cuda.current_device()
        if index == 0 and local < count:
            index = local
    if index >= count:
        raise RuntimeError(f"device={str(device)!r}: PyTorch sees {count} CUDA devices, numbered from 0")
    return torch.device("cuda", index)


def wait_here(batch: _core.Batch, index: int) -> None:
    """The current stream of that CUDA device waits for the batch; the CPU does not."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "a batch was asked for while the stream captures a CUDA graph: ask for it before, and let the graph read "
            "buffers that into= fills"
        )
    batch.wait(torch.cuda.current_stream(index).cuda_stream)


class InFlight:
    """Page-locked memory that copies to a device may still read.

    ``hold`` keeps an object until the work that the current streams have now is done. At most two are kept: with a third
    it waits for the first, so that the CPU does not run further ahead than there are slots.
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
    """Those that have a context; asking another for a stream would make one."""
    has_context = getattr(torch._C, "_cuda_hasPrimaryContext", None)
    if has_context is None:
        return [torch.cuda.current_device()]
    return [index for index in range(torch.cuda.device_count()) if has_context(index)]


def dtype_of(name: str) -> Any:
    """PyTorch's dtype by the library's name; None where this PyTorch has none."""
    if name in ("bool", "bf16"):
        return {"bool": torch.bool, "bf16": torch.bfloat16}[name]
    words = {"u": "uint", "i": "int", "f": "float", "c": "complex"}
    return getattr(torch, words[name[0]] + name[1:], None)


class Into:
    """Tensors of the caller's that every batch is copied into, as the static inputs of a CUDA graph want it."""

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
        """Copies in the order of the current stream, which waits for the batch already, and gives the slot back."""
        pinned = False
        with torch.no_grad():
            for name, target in self.targets.items():
                source = sources[name]
                if source.shape != target.shape:
                    raise ValueError(
                        f"into: a batch of {tuple(source.shape)} does not fit {tuple(target.shape)} of {name!r} (where bad "
                        "samples were left out, on_error='replace' keeps it whole)"
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
        raise ValueError(f"into: {field.name!r} is ragged, its batches have no one size; pad_to(length) makes one")
    dtype, shape = dtype_of(field.dtype), (*target.shape[:1], *field.shape[1:])  # how many rows, each batch tells
    if field.shape[0] >= 0:
        shape = field.shape
    if (target.dtype, tuple(target.shape)) != (dtype, shape):
        raise ValueError(
            f"into: {field.name!r} is {dtype} {shape}, got a tensor of {target.dtype} {tuple(target.shape)}"
        )
    if device.type == "cuda" and target.device != device:
        raise ValueError(f"into: {field.name!r} is on {device}, got a tensor on {target.device}")
