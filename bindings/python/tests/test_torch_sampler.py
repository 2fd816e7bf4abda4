"""dataline.torch.Sampler: the states of an order that PyTorch's own loader reads by.

The cases follow torchdata's tests of its StatefulDistributedSampler (meta-pytorch/data,
test/stateful_dataloader/test_sampler.py), whose functions each of them names, and are written anew.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader as PyTorch  # noqa: E402

from dataline.torch import Sampler  # noqa: E402


def rest(loader: Any, count: int = 10**6) -> list[list[int]]:
    return [batch.tolist() for batch in itertools.islice(loader, count)]


# test_dataloader_state_dict, test_sampler_state_dict, test_sampler_load_state_dict, test_sampler_next_yielded
def test_a_sampler_for_pytorchs_loader_has_states_too() -> None:
    def sampler() -> Sampler:
        return Sampler(100, shuffle=True, seed=42, batch_size=10)

    whole = sampler()
    given = rest(PyTorch(range(100), batch_size=10, sampler=whole))
    first = sampler()
    assert rest(PyTorch(range(100), batch_size=10, sampler=first), 5) == given[:5]
    assert first.state_dict() == {"epoch": 0, "taken": 50}
    again = sampler()
    again.load_state_dict(first.state_dict())
    assert rest(PyTorch(range(100), batch_size=10, sampler=again)) == given[5:]
    indices = iter(again)  # of the next epoch
    next(indices)
    assert again.state_dict() == {"epoch": 1, "taken": 1}
    again.load_state_dict({"epoch": 0, "taken": 5})
    assert next(indices) == sum(given, [])[5]
    assert again.state_dict() == {"epoch": 0, "taken": 6}
    wrong: list[dict[str, int]] = [{"epoch": 0, "taken": -1}, {"epoch": -1, "taken": 0}, {"epoch": 0, "taken": 101}, {}]
    for state in wrong:
        with pytest.raises(ValueError, match="state of a"):
            again.load_state_dict(state)
    assert again.state_dict() == {"epoch": 0, "taken": 6}


# test_drop_last_effect, test_data_order_with_shuffle, test_data_order_without_shuffle,
# test_data_distribution_across_replicas
@pytest.mark.parametrize("shuffle", [False, True])
def test_samplers_of_all_ranks_share_the_samples(shuffle: bool) -> None:
    def part(rank: int, world_size: int, **options: Any) -> list[int]:
        sampler = Sampler(100, shuffle=shuffle, seed=1, rank=rank, world_size=world_size, **options)
        indices = list(sampler)
        sampler.set_epoch(0)
        assert sum(rest(PyTorch(range(100), sampler=sampler)), []) == indices
        return indices

    assert (part(0, 1) == list(range(100))) is not shuffle
    assert sorted(sum((part(rank, 5) for rank in range(5)), [])) == list(range(100))
    assert [len(part(rank, 3, drop_last=True)) for rank in range(3)] == [33] * 3
    assert [len(part(rank, 3, last_batch="pad")) for rank in range(3)] == [34] * 3
