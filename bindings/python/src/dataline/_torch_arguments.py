"""The keyword arguments of ``dataline.torch.DataLoader``, for editors and type checkers.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Optional, Union

import torch

from ._option_types import LoaderOptions

Shuffle = Union[None, bool, Literal["none", "full", "window"]]


class Arguments(LoaderOptions, total=False):
    """Those that do not change what a loop gives."""

    sampler: Any
    batch_sampler: Any
    num_workers: Optional[int]
    pin_memory: bool
    drop_last: bool
    timeout: float
    worker_init_fn: Optional[Callable[[int], Any]]
    multiprocessing_context: Any
    generator: Optional[torch.Generator]
    prefetch_factor: Optional[int]
    persistent_workers: bool
    pin_memory_device: str
    in_order: bool
    device: Union[None, str, int, torch.device]
