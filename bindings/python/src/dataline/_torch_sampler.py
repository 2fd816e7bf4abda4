"""The library's order for PyTorch's own loader.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, Union

import torch
import torch.utils.data

from . import _torch_datasets
from ._rows import whole
from .dataset import from_arrays
from .errors import of_code
from .loader import Loader

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import SamplerOptions


class Sampler(torch.utils.data.Sampler):  # type: ignore[misc]
    """The indices of a map-style dataset in the order of a Loader, for PyTorch's own DataLoader::

        sampler = dataline.torch.Sampler(dataset, shuffle=True, seed=7, batch_size=64, rank=rank, world_size=world_size)
        for images, labels in torch.utils.data.DataLoader(dataset, batch_size=64, sampler=sampler, num_workers=8):
            ...

    The order is the same in every language, differs in each epoch, and needs no memory: no permutation is stored.
    ``data`` is the dataset, or its sample count. Options are those of a Loader that concern the order: ``shuffle``,
    ``seed``, ``weights``, ``replacement``, ``samples_per_epoch``, ``sample_indices``, ``last_batch``, ``drop_last``,
    ``rank``, ``world_size`` and ``batch_size``. Set ``batch_size`` to that of the training, because ranks share each
    global batch. With ``shuffle="window"`` a block is ``shuffle_block`` samples, because a sampler does not know bytes.

    A ``for`` over it is one epoch; the next ``for`` continues with the next epoch. ``set_epoch`` selects an epoch, as with
    DistributedSampler. ``state_dict`` is the position, restored in O(1). PyTorch's loader requests indices ahead, for
    as many batches as it prefetches, and these count as taken.
    """

    def __init__(self, data: Union[int, Sized], batch_size: int = 1, **options: Unpack[SamplerOptions]) -> None:
        count = len(data) if hasattr(data, "__len__") else whole(data, "data")
        batch_size = whole(batch_size, "batch size")
        samples = from_arrays({"x": torch.zeros(1, dtype=torch.uint8).expand(count)})
        self.loader = _torch_datasets.loader(Loader, samples, batch_size=batch_size, num_workers=0, **options)
        self._batch_size = batch_size
        self._epoch = self._taken = self._loads = 0
        self._length = self._count_of_an_epoch()

    def _count_of_an_epoch(self) -> int:
        steps = len(self.loader)  # only the last one may be shorter
        if steps == 0:
            return 0
        self.loader.seek(0, steps - 1)
        last = self.loader.next()
        self.loader.seek(0)
        return (steps - 1) * self._batch_size + (0 if last is None else last.info.samples)

    def __len__(self) -> int:
        """The number of indices per epoch, for this rank."""
        return self._length

    def __iter__(self) -> Iterator[int]:
        loads = -1
        while loads != self._loads:  # a state that is loaded meanwhile leads elsewhere
            loads = self._loads
            yield from self._rest(loads)

    def _rest(self, loads: int) -> Iterator[int]:
        epoch, taken = self._epoch, self._taken
        if taken >= self._length:
            epoch, taken = epoch + 1, 0
        self.loader.seek(epoch, taken // self._batch_size)
        skipped = taken % self._batch_size
        for batch in self.loader:
            for index in batch.info.indices.tolist()[skipped:]:
                taken += 1
                self._epoch, self._taken = epoch, taken
                yield index
                if loads != self._loads:
                    return
            skipped = 0
        self._epoch, self._taken = epoch + 1, 0

    def set_epoch(self, epoch: int) -> None:
        """Makes the next ``for`` this epoch, from 0."""
        self._epoch, self._taken = epoch, 0

    def state_dict(self) -> dict[str, int]:
        """The position: the epoch, and how many of its indices were taken."""
        return {"epoch": self._epoch, "taken": self._taken}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Seeks to a position: the next ``for`` continues in the middle of the epoch, as does a running one."""
        if not {"epoch", "taken"} <= set(state):
            raise ValueError(f"expected the state of a sampler, with epoch and taken, got a dict of {list(state)}")
        epoch, taken = int(state["epoch"]), int(state["taken"])
        if epoch < 0 or not 0 <= taken <= self._length:
            raise of_code(
                "DL_ERR_STATE_REFUSED",
                f"state of another order: expected epoch from 0, taken 0 to {self._length}, got {epoch} and {taken}",
            )
        self._epoch, self._taken = epoch, taken
        self._loads += 1


class OfLoader:
    """The indices of a loader's current epoch, like those of a ``sampler`` of PyTorch's loader."""

    def __init__(self, sampler: Sampler, epoch: int, by_blocks: bool) -> None:
        self._sampler, self._epoch, self._by_blocks = sampler, epoch, by_blocks

    def __len__(self) -> int:
        return len(self._sampler)

    def __iter__(self) -> Iterator[int]:
        if self._by_blocks:
            raise TypeError('with shuffle="window" the order depends on the files; see batch.info.indices')
        self._sampler.set_epoch(self._epoch)
        return iter(self._sampler)
