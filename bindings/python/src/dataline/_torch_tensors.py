"""Batches as PyTorch tensors.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Union

import torch
from torch.utils.dlpack import from_dlpack

from . import _core, _torch_device
from .ragged import Ragged

_CPU = 1  # DLPack's number of the device
# PyTorch began to give and take versioned capsules, which can say read-only, in one release.
_MAX_VERSION = (1, 0) if "max_version" in inspect.signature(torch.Tensor.__dlpack__).parameters else None


# What copies of `tensors(..., non_blocking=True)` may still read.
_in_flight = _torch_device.InFlight()


def tensors(
    batch: _core.Batch, device: Union[None, str, torch.device] = None, non_blocking: bool = False
) -> dict[str, torch.Tensor]:
    """All fields as tensors over the batch's memory, which hold its lease; a ragged field as a Ragged of two tensors.

    For a batch in device memory they are CUDA tensors. The current stream of that device waits for the batch; the CPU
    does not. The memory is not reused before the work that is in the stream when the last tensor is dropped is done. Name
    any other stream that reads them: ``batch.wait(stream)``.

    A read-only field (``tensor.read_only``) is shared too, although PyTorch has no read-only tensors. With a PyTorch
    older than DLPack 1.0 it is copied, and in device memory it is an error (BufferError). ``device``: copies the tensors
    there, as ``Tensor.to`` does. ``non_blocking`` applies to these copies: page-locked memory is kept until they are
    done.
    """
    parts = batch.tensors()
    made = over(batch, parts)
    if device is None:
        return made
    moved = {name: _to(value, device, non_blocking) for name, value in made.items()}
    if non_blocking and torch.device(device).type == "cuda" and any(part.pinned for part in parts):
        _in_flight.hold(made)
    return moved


def over(batch: _core.Batch, parts: Sequence[_core.Tensor]) -> dict[str, torch.Tensor]:
    where, index = parts[0].__dlpack_device__() if parts else (_CPU, 0)
    if where != _CPU:
        _torch_device.wait_here(batch, index)
    return {part.name: _tensor(part, where == _CPU) for part in parts}


def _tensor(tensor: _core.Tensor, on_host: bool) -> Any:
    if on_host:
        copy = True if _MAX_VERSION is None and tensor.read_only else None
        made = from_dlpack(tensor.__dlpack__(max_version=_MAX_VERSION, copy=copy))
    else:  # the stream waits already, for all fields at once
        made = from_dlpack(tensor.__dlpack__(stream=-1, max_version=_MAX_VERSION))
    offsets = tensor.offsets
    return made if offsets is None else Ragged(made, torch.tensor(offsets, dtype=torch.int64))


def _to(value: Any, device: Union[str, torch.device], non_blocking: bool) -> Any:
    if isinstance(value, Ragged):
        return Ragged(_to(value.data, device, non_blocking), _to(value.offsets, device, non_blocking))
    return value.to(device, non_blocking=non_blocking)
