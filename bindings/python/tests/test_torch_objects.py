"""dataline.torch: batches made by Python code, in the library's order.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline

torch = pytest.importorskip("torch")
from torch.utils.data import (  # noqa: E402
    BatchSampler,
    Dataset,
    RandomSampler,
    SequentialSampler,
    TensorDataset,
    get_worker_info,
)
from torch.utils.data import DataLoader as PyTorch  # noqa: E402
from torch.utils.data.distributed import DistributedSampler  # noqa: E402

from dataline.torch import DataLoader  # noqa: E402

Point = namedtuple("Point", "x y")
COUNT = 30


class Numbers(Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        if index >= COUNT:
            raise IndexError(index)
        return np.float32(index), index


class Points(Numbers):
    def __getitem__(self, index: int) -> Any:
        return Point(index, {"name": str(index), "place": [torch.tensor(index), 0.5]})


class Processes(Numbers):
    def __getitem__(self, index: int) -> Any:
        worker = get_worker_info()
        return index, os.getpid(), -1 if worker is None else worker.id, random.getrandbits(30)


class Torn(Numbers):
    def __getitem__(self, index: int) -> Any:
        if index == 3:
            raise OSError("the tape is torn")
        return index


class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined]
    def __iter__(self) -> Iterator[int]:
        worker = get_worker_info()
        return iter(range(10)) if worker is None else iter(range(worker.id, 10, worker.num_workers))


class ByLength:
    """Batches of different sizes, others each epoch."""

    epoch = 0

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[list[int]]:
        start = 10 * self.epoch
        return iter([[start], [start + 1, start + 2], [start + 3, start + 4, start + 5]])

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, dict):
        return type(ours) is type(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return type(ours) is type(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, torch.Tensor):
        return bool(ours.dtype == theirs.dtype and torch.equal(ours, theirs))
    return bool(ours == theirs)


def lists(samples: list[Any]) -> list[int]:
    return [int(index) for _, index in samples]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("dataset", [Numbers(), Points()])
def test_batches_are_those_of_pytorch(dataset: Any, workers: int) -> None:
    changes: list[dict[str, Any]] = [{}, {"drop_last": True}, {"collate_fn": list}, {"batch_size": None}]
    for change in changes:
        options = {"batch_size": 4, **change}
        ours: Any = DataLoader(dataset, num_workers=workers, **options)
        theirs = PyTorch(dataset, num_workers=workers, **options)
        assert len(ours) == len(theirs)
        assert all(map(same, list(ours), list(theirs)))


def test_the_order_does_not_depend_on_worker_processes() -> None:
    options: dict[str, Any] = {"batch_size": 4, "shuffle": True, "seed": 3}
    loaders: list[Any] = [DataLoader(Numbers(), num_workers=workers, **options) for workers in (0, 1, 2, None)]
    loaders.append(DataLoader(Numbers(), num_workers=2, on_error="replace", **options))
    for _ in range(2):
        epochs = [list(loader) for loader in loaders]
        assert all(same(epoch, epochs[0]) for epoch in epochs)


def test_each_epoch_has_its_own_order_and_a_left_one_is_over() -> None:
    loader = DataLoader(Numbers(), 4, True, collate_fn=lists, seed=3)
    library = dataline.Loader(dataline.from_arrays({"x": np.arange(COUNT)}), batch_size=4, shuffle=True, seed=3)
    epochs = [[batch["x"].tolist() for batch in library] for _ in range(4)]
    assert list(loader) == epochs[0]
    for batch in loader:
        assert batch == epochs[1][0]
        break
    assert list(loader) == epochs[2]
    loader.loader.seek(1, 5)
    assert list(loader) == epochs[1][5:]
    assert list(loader) == epochs[2]
    assert list(DataLoader(Numbers(), 4, True, collate_fn=lists, seed=3, start_epoch=2, start_step=1)) == epochs[2][1:]


def test_epochs_end_the_job() -> None:
    loader = DataLoader(Numbers(), 10, collate_fn=lists, epochs=2)
    assert [len(list(loader)) for _ in range(4)] == [3, 3, 0, 0]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("others", [0, 1])
def test_a_state_goes_on_in_mid_epoch_with_other_workers(workers: int, others: int) -> None:
    def make(count: int) -> DataLoader[Any, Any, Any]:
        return DataLoader(Numbers(), 4, True, num_workers=count)

    torch.manual_seed(1)
    first = make(workers)
    batches = iter(first)
    taken = [next(batches) for _ in range(3)]
    state = first.state_dict()
    rest = list(batches)
    after = list(first)
    torch.manual_seed(2)  # another seed is drawn, and gives way
    second = make(others)
    second.load_state_dict(state)
    assert same(list(second), rest)
    assert same(list(second), after)
    assert len(taken) + len(rest) == len(first)


def test_a_state_of_the_same_place_is_gone_back_to() -> None:
    loader = DataLoader(Numbers(), 4, collate_fn=lists)
    for _ in loader:
        break
    loader.load_state_dict(loader.state_dict())
    assert next(iter(loader)) == [4, 5, 6, 7]


def test_workers_are_processes_that_pytorch_knows() -> None:
    started: list[int] = []
    loader = DataLoader(Processes(), 5, num_workers=2, worker_init_fn=started.append, persistent_workers=True, seed=1)
    epochs = [list(loader) for _ in range(2)]
    processes = {int(one) for epoch in epochs for _, made_in, _, _ in epoch for one in made_in}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert {int(one) for epoch in epochs for _, _, worker, _ in epoch for one in worker} == {0, 1}
    assert started == []  # here


def test_what_worker_processes_draw_depends_on_seed_and_epoch() -> None:
    def drawn(**options: Any) -> list[int]:
        loader = DataLoader(Processes(), 5, num_workers=1, multiprocessing_context="fork", **options)
        return [int(one) for _, _, _, draws in loader for one in draws]

    assert drawn(seed=1) == drawn(seed=1)
    assert drawn(seed=1) != drawn(seed=2)
    assert drawn(seed=1, start_epoch=1) == drawn(seed=1, start_epoch=1) != drawn(seed=1)


def test_exceptions_are_those_of_the_dataset() -> None:
    for workers in (0, 1):
        loader = DataLoader(Torn(), 2, num_workers=workers, collate_fn=list)
        batches = iter(loader)
        assert next(batches) == [0, 1]
        with pytest.raises(OSError, match="the tape is torn"):
            next(batches)
        assert next(batches) == [4, 5]
        assert loader.loader.position == (0, 3)


def test_options_about_samples_keep_to_the_librarys_threads() -> None:
    loader = DataLoader(Torn(), 10, num_workers=2, on_error="replace")
    assert [len(batch) for batch in loader] == [10, 10, 10]
    assert [bad.index for bad in loader.loader.bad_samples()] == [3]
    assert loader.loader.stats().num_workers == 2


def test_a_dataset_of_the_library_is_collated_sample_by_sample(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6))
    for dataset in (f"npy:x={tmp_path}/x.npy", dataline.from_arrays({"x": np.arange(6)})):
        loader = DataLoader(dataset, 4, collate_fn=lambda samples: [int(sample["x"]) for sample in samples])
        assert list(loader) == [[0, 1, 2, 3], [4, 5]]


def test_an_iterable_dataset_decides_itself_what_comes() -> None:
    plain: Any = DataLoader(Stream(), 4)
    assert [batch.tolist() for batch in plain] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    loader: Any = DataLoader(Stream(), 4, num_workers=2, drop_last=True)
    assert sorted(tuple(batch.tolist()) for batch in loader) == [(0, 2, 4, 6), (1, 3, 5, 7)]
    single: Any = DataLoader(Stream(), None)
    assert list(single) == list(range(10))
    with pytest.raises(TypeError, match="no position to resume from"):
        loader.state_dict()
    with pytest.raises(ValueError, match="shuffle: an IterableDataset decides"):
        DataLoader(Stream(), 4, True)
    with pytest.raises(TypeError, match="transform needs the library"):
        DataLoader(Stream(), 4, transform="cast(f32)")


def test_a_batch_sampler_of_pytorchs_becomes_options() -> None:
    def order(sampler: Any, **options: Any) -> list[list[int]]:
        loader = DataLoader(pairs, batch_sampler=BatchSampler(sampler, 4, drop_last=True), **options)
        assert loader.batch_size == 4
        return [indices.tolist() for (indices,) in loader]

    pairs = TensorDataset(torch.arange(COUNT))
    assert order(SequentialSampler(pairs)) == [list(range(at, at + 4)) for at in range(0, 28, 4)]
    wanted = [indices.tolist() for (indices,) in DataLoader(pairs, 4, True, drop_last=True, seed=5)]
    assert order(RandomSampler(pairs), seed=5) == wanted
    with pytest.raises(ValueError, match="mutually exclusive"):
        DataLoader(pairs, 4, batch_sampler=BatchSampler(RandomSampler(pairs), 4, False))


def test_a_batch_sampler_of_ones_own_is_gone_on_with() -> None:
    loader = DataLoader(Numbers(), batch_sampler=ByLength(), collate_fn=lists)
    assert list(loader) == [[0], [1, 2], [3, 4, 5]]
    batches = iter(loader)
    assert next(batches) == [10]
    state = loader.state_dict()
    again = DataLoader(Numbers(), batch_sampler=ByLength(), collate_fn=lists)
    again.load_state_dict(state)
    assert list(again) == list(batches) == [[11, 12], [13, 14, 15]]
    assert list(again) == [[20], [21, 22], [23, 24, 25]]


def test_a_second_loop_ends_the_first_one() -> None:
    loader = DataLoader(Numbers(), 4, collate_fn=lists)
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(dataline.WrongStateError):
        next(first)
    assert next(second) == [0, 1, 2, 3]


def test_a_distributed_sampler_becomes_rank_and_world_size() -> None:
    def ranks(dataset: Any, **options: Any) -> tuple[list[DistributedSampler], list[DataLoader[Any, Any, Any]]]:
        samplers = [DistributedSampler(dataset, 2, rank, seed=4) for rank in range(2)]
        return samplers, [DataLoader(dataset, 4, sampler=sampler, **options) for sampler in samplers]

    pairs = TensorDataset(torch.arange(COUNT))
    parts = [[int(index) for (indices,) in loader for index in indices] for loader in ranks(pairs)[1]]
    assert len(parts[0]) == len(parts[1])
    assert {*parts[0], *parts[1]} == set(range(COUNT))
    by_options = [DataLoader(pairs, 4, True, rank=rank, world_size=2, seed=4, last_batch="pad") for rank in range(2)]
    samplers, loaders = ranks(pairs)
    assert all(same(list(one), list(two)) for one, two in zip(loaders, by_options))
    for sampler, loader, other in zip(samplers, loaders, by_options):
        sampler.set_epoch(7)
        other.loader.seek(7)
        assert same(list(loader), list(other))
        state = loader.state_dict()
        loader.load_state_dict(state)
        assert same(list(loader), list(other))
    with pytest.raises(ValueError, match="rank=1, but the DistributedSampler has 0"):
        DataLoader(pairs, 4, sampler=samplers[0], rank=1)


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_two_processes_train_on_all_samples_once(tmp_path: Path) -> None:
    code = f"""
import sys, torch, torch.distributed as dist
from torch.utils.data import TensorDataset
from dataline.torch import DataLoader
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://{tmp_path}/meet", rank=rank, world_size=2)
data = TensorDataset(torch.arange(64.).reshape(64, 1), torch.arange(64))
loader = DataLoader(data, batch_size=8, shuffle=True, seed=1, rank=dist.get_rank(), world_size=dist.get_world_size())
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
for epoch in range(2):
    seen = torch.zeros(64, dtype=torch.int64)
    for x, index in loader:
        model(x).mean().backward()
        seen[index] += 1
    dist.all_reduce(seen)
    assert seen.tolist() == [1] * 64
gathered = [None, None]
dist.all_gather_object(gathered, [p.grad.tolist() for p in model.parameters()])
assert gathered[0] == gathered[1]
dist.destroy_process_group()
"""
    job = tmp_path / "job.py"
    job.write_text(code)
    jobs = [subprocess.Popen([sys.executable, job, str(rank)]) for rank in range(2)]
    try:
        assert [one.wait(timeout=120) for one in jobs] == [0, 0]
    finally:
        for one in jobs:
            one.kill()
            one.wait()
