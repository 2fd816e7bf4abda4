"""Which process of a job this one is.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple, Optional

from . import _core

__all__ = ["Launcher", "launcher"]


class Launcher(NamedTuple):
    """The values of ``rank="auto"`` and ``world_size="auto"``, and the local rank on this machine, for choosing a device."""

    family: str
    """``"ray"``, ``"torchrun"``, ``"jax"``, ``"openmpi"``, ``"pmi"``, ``"slurm"``, ``"pmix"``, ``"kubernetes"``, or
    ``"none"``: process 0 of 1."""
    rank: int
    world_size: Optional[int]
    """None: the launcher reports only the rank."""
    local_rank: Optional[int]
    """None: the launcher does not report it."""
    local_world_size: Optional[int]
    """None: the launcher does not report it."""


def launcher() -> Launcher:
    """Reads the context of a Ray Train worker, or else the environment, now.

    Raises CallError that names variables that are not ranks, are incomplete, or contradict each other.
    """
    found = _core.launcher(environment())
    family = "ray" if ray_context() is not None else found["family"]
    others = [None if found[name] < 0 else found[name] for name in ("world_size", "local_rank", "local_world_size")]
    return Launcher(family, max(found["rank"], 0), *others)


def ray_context() -> Any:
    """The context of Ray Train if this process is one of its workers, else None. Without Ray's PyTorch backend, a
    worker's rank is only there."""
    train = sys.modules.get("ray.train")
    if train is None:
        return None
    try:
        context = train.get_context()
        return context if context.get_world_size() is not None else None
    except (AttributeError, RuntimeError):  # a program that only imports it
        return None


def environment() -> list[bytes]:
    """The environment for the library: that of the process, or the numbers of a Ray Train worker."""
    context = ray_context()
    if context is None:
        return [name + b"=" + value for name, value in os.environb.items()]
    told = {
        "RANK": context.get_world_rank(),
        "WORLD_SIZE": context.get_world_size(),
        "LOCAL_RANK": context.get_local_rank(),
        "LOCAL_WORLD_SIZE": context.get_local_world_size(),
    }
    return [f"{name}={value}".encode() for name, value in told.items()]
