"""dataline.torch: seeds, launchers, loops and what a checkpoint has to hold.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dataline

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader as PyTorch  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402

from dataline.torch import DataLoader  # noqa: E402

COUNT = 60


def numbers() -> Any:
    return TensorDataset(torch.arange(COUNT))


def make(**options: Any) -> DataLoader[Any, Any, Any]:
    return DataLoader(numbers(), **{"batch_size": 7, "shuffle": True, **options})


def order(loader: Any) -> list[int]:
    return [int(value) for (values,) in loader for value in values]


def test_an_order_without_a_seed_is_drawn_from_pytorchs_generator() -> None:
    orders = [order(make()) for _ in range(4)]
    assert len({tuple(one) for one in orders}) == 4
    assert all(sorted(one) == list(range(COUNT)) for one in orders)
    torch.manual_seed(5)
    first = [order(make()), order(make())]
    torch.manual_seed(5)
    assert [order(make()), order(make())] == first
    assert first[0] != first[1]
    torch.manual_seed(6)
    assert order(make()) != first[0]


def test_each_epoch_has_another_order() -> None:
    torch.manual_seed(1)
    loader = make()
    assert len({tuple(order(loader)) for _ in range(5)}) == 5


def test_a_seed_that_is_given_is_that_of_the_library_and_draws_nothing() -> None:
    wanted = [
        int(value)
        for batch in dataline.Loader(dataline.from_arrays({"x": np.arange(COUNT)}), shuffle=True, seed=7, batch_size=7)
        for value in batch["x"]
    ]
    torch.manual_seed(3)
    before = torch.get_rng_state()
    generator = torch.Generator()
    generator.manual_seed(7)
    assert order(make(seed=7)) == order(make(generator=generator)) == wanted
    assert order(make(seed=0)) == order(make(seed=0))
    assert order(make(shuffle=False)) == list(range(COUNT))
    assert torch.equal(torch.get_rng_state(), before)


def test_random_weights_and_transforms_are_drawn_too() -> None:
    def weighted() -> list[int]:
        return order(make(shuffle=False, weights=[1.0] * COUNT))

    def flipped() -> list[Any]:
        image = torch.arange(64 * 8, dtype=torch.uint8).reshape(64, 1, 8, 1)
        dataset = dataline.from_arrays({"image": image}, axes={"image": "HWC"})
        return [batch["image"].flatten().tolist() for batch in DataLoader(dataset, 64, transform="hflip(0.5)")]

    for draw in (weighted, flipped):
        torch.manual_seed(1)
        first, second = draw(), draw()
        torch.manual_seed(1)
        assert draw() == first
        assert second != first


def test_ranks_agree_on_an_order_without_a_seed_as_those_of_a_distributed_sampler_do() -> None:
    parts = []
    for rank in range(2):
        torch.manual_seed(100 + rank)
        parts.append(order(make(rank=rank, world_size=2)))
    assert sorted(parts[0] + parts[1]) == list(range(COUNT))
    assert order(make(rank=0, world_size=1)) == order(make(rank=0, world_size=1))


@pytest.mark.parametrize(("epochs", "steps", "rows_left"), [(0, 0, 60), (0, 3, 39), (0, 9, 0), (1, 3, 39)])
def test_a_checkpoint_holds_the_seed_that_was_drawn(epochs: int, steps: int, rows_left: int) -> None:
    whole = make()
    for _ in range(epochs):
        order(whole)
    loop = iter(whole)
    for _ in range(steps):
        next(loop)
    state = whole.state_dict()
    assert state["dataline"] == whole.loader.save_state()
    resumed = make(num_workers=2)
    old, left = resumed.loader, iter(resumed)
    resumed.load_state_dict(state)
    assert resumed.loader is not old
    assert old.closed
    with pytest.raises(dataline.WrongStateError):
        next(left)
    rest = order(loop)
    assert len(rest) == rows_left
    assert order(resumed) == rest
    assert order(resumed) == order(whole)
    assert resumed.state_dict() == whole.state_dict()
    resumed.load_state_dict(state)  # the seed is its own now: the loader stays
    assert order(resumed) == rest


def test_a_state_that_is_refused_changes_nothing() -> None:
    loader = make()
    before = loader.loader
    state = loader.state_dict()
    other = DataLoader(TensorDataset(torch.arange(5)), batch_size=7, shuffle=True).state_dict()
    for wrong in (other, {**state, "seed": 5}, {"seed": 5, "dataline": "nonsense"}):
        with pytest.raises(dataline.StateError):
            loader.load_state_dict(wrong)
    assert loader.loader is before
    assert loader.state_dict() == state
    assert sorted(order(loader)) == list(range(COUNT))
    with pytest.raises(dataline.StateError, match="seed"):  # a seed that was asked for stays
        make(seed=1).load_state_dict(make(seed=2).state_dict())


def test_a_nested_loop_raises() -> None:
    loader = make(shuffle=False)

    def nested() -> int:
        return sum(1 for _ in loader for _ in loader)

    with pytest.raises(dataline.WrongStateError, match="this epoch was ended"):
        nested()
    loader.timeout = 60
    with pytest.raises(dataline.WrongStateError, match="this epoch was ended"):
        nested()


@pytest.mark.parametrize("timeout", [0, 60])
def test_threads_share_an_iterator(timeout: float) -> None:
    loader = make(batch_size=1, timeout=timeout)
    for _ in range(10):
        shared = iter(loader)
        together = threading.Barrier(3)

        def take(_: int) -> list[int]:
            together.wait()
            return order(shared)

        with ThreadPoolExecutor(3) as pool:
            assert sorted(sum(pool.map(take, range(3)), [])) == list(range(COUNT))
        assert order(shared) == []
    assert loader.loader.position == (10, 0)


def test_an_iterator_has_the_length_of_the_loader_as_pytorchs() -> None:
    loaders: list[Any] = [make(), PyTorch(numbers(), batch_size=7)]
    for loader in loaders:
        assert len(iter(loader)) == 9
        assert iter(iter(loader)) is not None


def test_under_a_launcher_each_process_has_its_part_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = order(make(rank=1, world_size=4, seed=3))
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "1")
    assert dataline.launcher()[:3] == ("torchrun", 1, 4)
    assert order(make(seed=3)) == order(make(seed=3, rank="auto", world_size=4)) == expected
    assert order(make()) == order(make(seed=0))  # ranks agree on an order
    assert sorted(order(make(rank=0, world_size=1))) == list(range(COUNT))
    with pytest.raises(ValueError, match=r"world_size is 3, and the environment has RANK=1 WORLD_SIZE=4"):
        make(world_size=3)
    monkeypatch.setenv("WORLD_SIZE", "many")
    with pytest.raises(ValueError, match="WORLD_SIZE=many"):
        make()
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert len(dataline.Loader(dataline.from_arrays({"x": np.arange(8)}), batch_size=4)) == 2  # asked for nothing


def test_processes_that_were_started_without_a_launcher_are_those_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 2)
    assert order(make(seed=1)) == order(make(seed=1, rank=2, world_size=3))
    with pytest.raises(ValueError, match=r"world_size=2, but torch\.distributed reports 3"):
        make(world_size=2)


def test_two_processes_of_a_launcher_get_every_sample_once() -> None:
    code = (
        "import torch; from dataline.torch import DataLoader\n"
        "data = torch.utils.data.TensorDataset(torch.arange(60))\n"
        "loader = DataLoader(data, batch_size=4, shuffle=True)\n"
        "print(*[int(v) for (values,) in loader for v in values])\n"
    )
    found: list[str] = []
    for rank in range(2):
        environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}
        found += subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).split()
    assert sorted(map(int, found)) == list(range(COUNT))


# Debian 12's PyTorch (1.13) has a torchrun that fails by itself under Python 3.11; the one of today does not.
def test_torchrun_gives_each_process_its_part(tmp_path: pathlib.Path) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    nothing = tmp_path / "nothing.py"
    nothing.write_text("")
    alone = subprocess.run([*launch, str(nothing)], capture_output=True, text=True, timeout=120)
    if alone.returncode != 0:
        pytest.skip(
            f"torchrun of PyTorch {torch.__version__} does not run here: {alone.stderr.strip().splitlines()[-1]}"
        )
    job = tmp_path / "job.py"
    job.write_text(
        "import os, pathlib, torch; from dataline.torch import DataLoader\n"
        "data = torch.utils.data.TensorDataset(torch.arange(60))\n"
        "loader = DataLoader(data, batch_size=4, shuffle=True)\n"
        "text = ' '.join(str(int(v)) for (values,) in loader for v in values)\n"
        f"pathlib.Path({str(tmp_path)!r}, 'rank' + os.environ['RANK']).write_text(text)\n"
    )
    subprocess.run([*launch, str(job)], check=True, timeout=120)
    parts = [(tmp_path / f"rank{rank}").read_text().split() for rank in range(2)]
    assert [len(part) for part in parts] == [COUNT // 2, COUNT // 2]
    assert sorted(map(int, parts[0] + parts[1])) == list(range(COUNT))
