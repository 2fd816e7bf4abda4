"""dataline.torch: each argument has its effect or is an error that says why, and attributes are those of PyTorch's loader.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import png

torch = pytest.importorskip("torch")
from torch.utils.data import (  # noqa: E402
    BatchSampler,
    Dataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
)
from torch.utils.data import DataLoader as PyTorch  # noqa: E402
from torch.utils.data.distributed import DistributedSampler  # noqa: E402

import dataline.torch as ours  # noqa: E402
from dataline.torch import DataLoader as Ours  # noqa: E402

COUNT = 12
DataLoader: Any = Ours  # wrong arguments too


def numbers() -> Any:
    return TensorDataset(torch.arange(COUNT))


def order(**options: Any) -> list[int]:
    loader: Any = DataLoader(numbers(), **{"batch_size": 5, "seed": 1, **options})
    return [int(value) for (values,) in loader for value in values]


class Squares(Dataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> int:
        return index * index


class Orders(Sampler):  # type: ignore[misc]
    """Another order each time that it is read."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return COUNT

    def __iter__(self) -> Iterator[int]:
        self.reads += 1
        return iter(np.random.RandomState(self.reads).permutation(COUNT).tolist())


class Backwards(SequentialSampler):  # type: ignore[misc]
    """A subclass of one of PyTorch's, with an order of its own."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(COUNT - 1, -1, -1))


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("none", False), ("false", False), ("full", True), ("true", True), (np.bool_(False), False), (np.bool_(True), True),
        (None, False),
    ],
)  # fmt: skip
def test_shuffle_is_read_by_the_words_of_the_table(word: Any, means: bool) -> None:
    assert order(shuffle=word) == order(shuffle=means)
    assert order(shuffle=False) == list(range(COUNT)) != order(shuffle=True)


def test_shuffle_by_windows_is_that_of_the_library() -> None:
    library = dataline.Loader(numbers_of_the_library(), batch_size=5, seed=1, shuffle="window")
    assert order(shuffle="window") == [value for batch in library for value in batch["0"].tolist()]
    assert order(shuffle="window") != order(shuffle="full")


def numbers_of_the_library() -> dataline.Dataset:
    return dataline.from_arrays({"0": np.arange(COUNT)})


@pytest.mark.parametrize("wrong", ["maybe", "", "True", "no", 0, 1, 2.0, "None"])
def test_another_word_for_shuffle_is_the_error_of_the_table(wrong: Any) -> None:
    with pytest.raises(dataline.CallError) as library:
        dataline.Loader(numbers_of_the_library(), shuffle=wrong)
    for make in (
        lambda: DataLoader(numbers(), shuffle=wrong),
        lambda: DataLoader(Squares(), shuffle=wrong, collate_fn=list),
        lambda: ours.Sampler(COUNT, shuffle=wrong),
        lambda: ours.IterableDataset(numbers(), shuffle=wrong),
    ):
        with pytest.raises(dataline.CallError) as caught:
            make()
        assert str(caught.value) == str(library.value)


def test_a_seed_is_drawn_for_an_order_that_is_random_alone() -> None:
    for word, draws in (("none", False), ("false", False), ("full", True), ("window", True)):
        torch.manual_seed(1)
        before = torch.get_rng_state()
        DataLoader(numbers(), shuffle=word)
        assert torch.equal(torch.get_rng_state(), before) != draws, word


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"drop_last": "no"}, "drop_last: expected true or false"),
        ({"drop_last": 1}, "drop_last: expected true or false"),
        ({"pin_memory": "no"}, "pin_memory: expected true or false"),
        ({"pin_memory_device": "cuda:0"}, "needs pin_memory=True"),
        ({"batch_size": True}, "batch_size: expected a whole number"),
        ({"batch_size": 2.0}, "batch_size: expected a whole number"),
        ({"batch_size": 0}, "batch_size: expected a whole number"),
        ({"batch_size": None, "drop_last": True}, "mutually exclusive with drop_last"),
        ({"batch_size": 2, "global_batch_size": 4}, "only one"),
        ({"num_workers": True}, "num_workers: expected a whole number"),
        ({"num_workers": 1.5}, "num_workers: expected a whole number"),
        ({"num_workers": -2}, "num_workers: expected a whole number"),
        ({"prefetch_factor": 2}, "num_workers is None: set num_workers, or prefetch_depth"),
        ({"prefetch_factor": 2, "num_workers": 0}, "num_workers is 0"),
        ({"prefetch_factor": True, "num_workers": 1}, "prefetch_factor: expected a whole number"),
        ({"prefetch_factor": "2", "num_workers": 1}, "prefetch_factor: expected a whole number"),
        ({"prefetch_factor": 0, "num_workers": 1}, "1 or more, got 0"),
        ({"prefetch_factor": 2, "num_workers": 1, "prefetch_depth": 3}, "only one"),
        ({"persistent_workers": "false"}, "persistent_workers: expected True or False"),
        ({"persistent_workers": True, "num_workers": 0}, "persistent_workers: there are no worker processes"),
        ({"timeout": True}, "timeout: expected a number"),
        ({"timeout": "5"}, "timeout: expected a number"),
        ({"timeout": float("nan")}, "timeout: expected seconds"),
        ({"generator": 5}, "generator: expected a torch.Generator"),
        ({"worker_init_fn": 5}, "worker_init_fn: expected a function"),
        ({"worker_init_fn": print}, "worker_init_fn: there are no worker processes, because the library's threads"),
        (
            {"multiprocessing_context": "spawn", "num_workers": 2},
            "multiprocessing_context: there are no worker processes",
        ),
        ({"in_order": "false"}, "in_order: expected True or False"),
        ({"collate_fn": 5}, "collate_fn: expected a function"),
        ({"collate_fn": list, "timeout": 5}, "timeout: there are no worker processes, because this process"),
        ({"collate_fn": list, "persistent_workers": True}, "persistent_workers: there are no worker processes"),
        (
            {"collate_fn": list, "multiprocessing_context": "fork"},
            "multiprocessing_context: there are no worker processes",
        ),
        ({"fields": 0}, "fields: expected a name or a list"),
        ({"device": True}, "device: expected cpu, cuda"),
        ({"sampler": "12"}, "sampler: expected an iterable"),
        ({"sampler": 5}, "sampler: expected an iterable"),
        ({"sampler": [True, False]}, "booleans"),
        ({"sampler": torch.tensor([True] * COUNT)}, "booleans"),
        ({"sampler": [1.5]}, "at index 0"),
        ({"sampler": [3, 1], "shuffle": "full"}, "mutually exclusive"),
        ({"sampler": SequentialSampler(range(5))}, "draws from 5 samples, but the dataset has 12"),
        ({"sampler": RandomSampler(range(5))}, "draws from 5 samples, but the dataset has 12"),
        ({"sampler": DistributedSampler(range(5), 2, 0)}, "draws from 5 samples, but the dataset has 12"),
    ],
)
def test_an_argument_that_cannot_have_its_effect_is_an_error(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        DataLoader(numbers(), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"batch_size": 5},
        {"batch_size": 5, "drop_last": True},
        {"batch_size": 5, "shuffle": True},
        {"batch_size": None},
        {"batch_size": 5, "num_workers": 2},
        {"num_workers": 0, "worker_init_fn": print},
        {"sampler": [3, 1, 2], "batch_size": 2},
        {"sampler": SubsetRandomSampler([1, 5, 7]), "batch_size": 2},
        {"batch_sampler": [[1, 2], [3]]},
        {"batch_sampler": BatchSampler(SubsetRandomSampler([1, 5, 7]), 2, True)},
        {"num_workers": 1, "prefetch_factor": 3, "persistent_workers": True, "timeout": 60},
        {"collate_fn": list},
    ],
)
@pytest.mark.parametrize("dataset", [numbers(), Squares()])
def test_attributes_are_those_of_pytorchs_loader(dataset: Any, arguments: dict[str, Any]) -> None:
    mine: Any = DataLoader(dataset, **{"num_workers": 0, **arguments})
    theirs = PyTorch(dataset, **arguments)
    names = ["dataset", "num_workers", "pin_memory", "timeout", "persistent_workers", "worker_init_fn", "generator"]
    if not isinstance(arguments.get("batch_sampler"), BatchSampler):  # which is taken apart
        names += ["batch_size", "drop_last"]
    for name in names:
        assert getattr(mine, name) == getattr(theirs, name), name
    if "prefetch_factor" in arguments:
        assert mine.prefetch_factor == theirs.prefetch_factor
    assert len(mine) == len(theirs)
    assert len(mine.dataset) == len(theirs.dataset)
    if not isinstance(arguments.get("batch_sampler"), BatchSampler):
        assert len(mine.sampler) == len(theirs.sampler)
    assert (mine.batch_sampler is None) == (theirs.batch_sampler is None)
    if mine.batch_sampler is not None:
        assert len(mine.batch_sampler) == len(theirs.batch_sampler)
    assert len(list(mine)) == len(theirs)


def test_the_samplers_of_a_loader_give_the_indices_of_its_epoch() -> None:
    loader: Any = DataLoader(numbers(), batch_size=5, shuffle=True, seed=3)
    for _ in range(2):
        indices, batches = list(loader.sampler), list(loader.batch_sampler)
        assert sum(batches, []) == indices
        assert [values.tolist() for (values,) in loader] == batches
    part: Any = DataLoader(numbers(), batch_size=2, rank=1, world_size=2, shuffle=True, seed=3, last_batch="pad")
    assert [values.tolist() for (values,) in part] == list(DataLoader(
        numbers(), batch_size=2, rank=1, world_size=2, shuffle=True, seed=3, last_batch="pad"
    ).batch_sampler)  # fmt: skip
    window = DataLoader(numbers(), batch_size=5, shuffle="window")
    assert len(window.sampler) == COUNT
    with pytest.raises(TypeError, match=r"batch\.info\.indices"):
        iter(window.sampler)


def test_sizes_of_options_are_attributes() -> None:
    assert DataLoader(numbers(), global_batch_size=4, rank=1, world_size=2).batch_size == 2
    assert DataLoader(numbers(), global_batch_size=None, batch_size=5).batch_size == 5
    assert len(DataLoader(numbers(), global_batch_size=None, batch_size=5)) == 3
    assert DataLoader(numbers(), batch_size=5, last_batch="drop").drop_last
    assert not DataLoader(numbers(), batch_size=5, last_batch="pad").drop_last
    by_text: Any = DataLoader(numbers(), batch_size="5", num_workers="2", drop_last="false")
    assert (by_text.batch_size, by_text.num_workers, by_text.drop_last, len(by_text)) == (5, 2, False, 3)
    assert DataLoader(numbers()).num_workers == DataLoader(numbers()).loader.stats().num_workers


def test_a_sampler_that_gives_another_order_is_not_read_once_in_silence() -> None:
    loader: Any = DataLoader(numbers(), batch_size=COUNT, sampler=Orders())
    assert len(list(loader)) == 1
    with pytest.raises(TypeError, match=r"Orders returns different indices each epoch.*batch_sampler=.*BatchSampler"):
        iter(loader)
    advised: Any = DataLoader(numbers(), batch_sampler=BatchSampler(Orders(), COUNT, False))
    theirs = PyTorch(numbers(), batch_sampler=BatchSampler(Orders(), COUNT, False))
    for _ in range(3):
        assert [values.tolist() for (values,) in advised] == [values.tolist() for (values,) in theirs]

    class WithEpoch(Orders):
        def set_epoch(self, epoch: int) -> None: ...

    with pytest.raises(TypeError, match="different indices each epoch"):
        DataLoader(numbers(), sampler=WithEpoch())


def test_a_subclass_of_a_sampler_of_pytorchs_keeps_its_own_order() -> None:
    def of(make: Any, **arguments: Any) -> list[int]:
        return [int(value) for (values,) in make(numbers(), **arguments) for value in values]

    sampler = Backwards(numbers())
    for arguments in ({"sampler": sampler, "batch_size": 5}, {"batch_sampler": BatchSampler(sampler, 5, False)}):
        assert of(DataLoader, **arguments) == of(PyTorch, **arguments) == list(range(COUNT - 1, -1, -1))


def test_a_subset_random_sampler_draws_a_new_order_of_its_samples_each_epoch() -> None:
    indices = [1, 5, 7, 9, 11]
    for dataset in (numbers(), numbers_of_the_library(), Squares()):
        loader: Any = DataLoader(dataset, batch_size=5, sampler=SubsetRandomSampler(indices), seed=1)
        epochs = []
        for _ in range(4):
            (batch,) = loader
            values = batch if isinstance(batch, torch.Tensor) else batch[0] if isinstance(batch, list) else batch["0"]
            epochs.append(values.tolist())
        wanted = [index * index for index in indices] if isinstance(dataset, Squares) else indices
        assert [sorted(epoch) for epoch in epochs] == [wanted] * 4
        assert len({tuple(epoch) for epoch in epochs}) > 1
    with pytest.raises(ValueError, match="booleans"):
        DataLoader(Subset(numbers(), [True, False]), batch_size=4)


def test_the_dataset_of_a_uri_is_the_one_that_was_opened(tmp_path: Path) -> None:
    for name in ("dog", "cat"):
        (tmp_path / name).mkdir()
        for at in range(3):
            (tmp_path / name / f"{at}.png").write_bytes(png(np.full((2, 2, 3), at, np.uint8)))
    for uri in (f"folder:{tmp_path}", tmp_path):
        loader = DataLoader(uri, batch_size=4, transform="image: decode, chw", fields=("image", "label"))
        dataset: Any = loader.dataset
        assert isinstance(loader.dataset, dataline.Dataset)
        # As torchvision's ImageFolder: classes sorted by name, samples by class and name.
        assert len(dataset) == 6
        assert list(dataset.classes) == ["cat", "dog"]
        assert dataset.class_to_idx == {"cat": 0, "dog": 1}
        assert [int(sample["label"]) for sample in dataset] == [0, 0, 0, 1, 1, 1]
        assert bytes(dataset[-1]["image"]) == (tmp_path / "dog" / "2.png").read_bytes()
        assert len(dataset[1:3]) == 2
        for wrong in (6, -7, 2**70):
            with pytest.raises(IndexError):
                dataset[wrong]
        assert len(loader.sampler) == 6
        for name in ("targets", "samples", "imgs"):
            assert not hasattr(dataset, name)
        with pytest.raises(AttributeError, match=r"targets.*\[int\(sample\['label'\]\) for sample in dataset\]"):
            dataset.targets  # noqa: B018
    collated: Any = DataLoader(f"folder:{tmp_path}", batch_size=4, collate_fn=len)
    assert len(collated.dataset) == 6
    assert list(collated) == [4, 2]


def test_a_dataset_without_names_has_no_classes_by_name() -> None:
    dataset: Any = numbers_of_the_library()
    assert dataset.classes == ()
    with pytest.raises(AttributeError, match="has no class names"):
        dataset.class_to_idx  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        dataset.nonsense  # noqa: B018


def test_worker_processes_of_an_iterable_dataset_share_what_the_launcher_gave_their_rank() -> None:
    code = f"""
import torch
from torch.utils.data import DataLoader, TensorDataset
from dataline.torch import IterableDataset
batches = IterableDataset(TensorDataset(torch.arange({COUNT})), batch_size=1, shuffle=True)
print(*(int(value) for (values,) in DataLoader(batches, batch_size=None, num_workers=2) for value in values))
"""
    seen: list[int] = []
    for rank in range(2):
        told = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2"}
        environment = {**os.environ, **told, "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
        output = subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        seen += map(int, output.split())
    assert sorted(seen) == list(range(COUNT))
