"""dataline.torch: the arguments of PyTorch's DataLoader.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import epoch_of, numbers
from dataline import _core

torch = pytest.importorskip("torch")
from torch.utils.data import (  # noqa: E402
    DataLoader as PyTorch,
)
from torch.utils.data import (  # noqa: E402
    Dataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
)

from dataline.torch import DataLoader, IterableDataset, Sampler, tensors  # noqa: E402


def pairs(count: int = 20) -> Any:
    return TensorDataset(torch.arange(count * 2, dtype=torch.float32).reshape(count, 2), torch.arange(count))


class Samples(Dataset):  # type: ignore[misc]
    """Whatever a function makes."""

    def __init__(self, count: int, make: Any) -> None:
        self.count, self.make = count, make

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return type(ours) is list and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, torch.Tensor):
        return bool(ours.dtype == theirs.dtype and torch.equal(ours, theirs))
    return bool(ours == theirs)


MAKERS: dict[str, Any] = {
    "tuples": lambda at: (torch.full((2, 3), at), at),
    "dicts": lambda at: {"x": torch.full((3,), float(at)), "y": at * 0.5, "name": f"sample {at}"},
    "nested": lambda at: {"a": (at, {"b": torch.tensor(at)})},
    "arrays": lambda at: np.full((2,), at, np.int16),
    "numbers": lambda at: at,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_are_those_of_pytorch(name: str, drop_last: bool) -> None:
    dataset = Samples(7, MAKERS[name])
    ours = list(DataLoader(dataset, batch_size=3, drop_last=drop_last))
    theirs = list(PyTorch(dataset, batch_size=3, drop_last=drop_last))
    assert len(DataLoader(dataset, 3, drop_last=drop_last)) == len(theirs) == len(ours)
    assert all(map(same, ours, theirs))


def test_a_tensor_dataset_is_lent_without_a_copy() -> None:
    dataset = pairs()
    loader = DataLoader(dataset, batch_size=6)
    assert all(map(same, list(loader), PyTorch(dataset, batch_size=6)))
    dataset.tensors[1][0] = 55
    loader.loader.seek(5)
    assert next(iter(loader))[1][0] == 55
    assert loader.loader.dataset.format == "arrays"


def test_a_subset_of_it_is_lent_too() -> None:
    subset = Subset(pairs(), [5, 3, 8])
    assert all(map(same, list(DataLoader(subset, batch_size=2)), PyTorch(subset, batch_size=2)))


def test_tensors_share_memory_and_outlive_everything() -> None:
    loader = dataline.Loader(numbers(10), batch_size=5)
    batch = next(iter(loader))
    made = tensors(batch)["x"]
    assert made.data_ptr() == batch["x"].__array_interface__["data"][0]
    batch.release()
    loader.close()
    del batch, loader
    assert made.tolist() == [0, 1, 2, 3, 4]


def test_bf16_arrives() -> None:
    values = torch.tensor([1.5, -2.0, 3.0])
    loader = DataLoader(dataline.from_arrays({"x": values}), batch_size=3, transform="cast(bf16)")
    (batch,) = loader
    assert batch["x"].dtype == torch.bfloat16
    assert torch.equal(batch["x"], values.to(torch.bfloat16))


def test_tensors_go_to_a_device() -> None:
    batch = next(iter(dataline.Loader(numbers(3))))
    assert tensors(batch, device="cpu", non_blocking=True)["x"].tolist() == [0, 1, 2]
    assert tensors(batch, device="meta")["x"].device.type == "meta"


def test_ragged_fields_are_ragged_of_tensors() -> None:
    ragged = dataline.Ragged(np.arange(5, dtype=np.float32), np.array([0, 2, 5]))
    (batch,) = DataLoader(dataline.from_arrays({"x": ragged}), batch_size=2)
    assert [row.tolist() for row in batch["x"]] == [[0, 1], [2, 3, 4]]
    assert batch["x"].offsets.tolist() == [0, 2, 5]
    moved = tensors(next(iter(dataline.Loader(dataline.from_arrays({"x": ragged})))), device="meta")["x"]
    assert moved.data.device.type == "meta"


def test_read_only_fields_are_tensors_of_the_right_values(tmp_path: Path) -> None:
    np.arange(1000, dtype=np.int32).tofile(tmp_path / "tokens.bin")
    loader = DataLoader(f"tokens:{tmp_path}/tokens.bin?length=8&views=true&dtype=i32", batch_size=2)
    batch = next(iter(loader))
    assert batch["y"].tolist() == [list(range(1, 9)), list(range(9, 17))]


def test_shuffle_is_decided_by_the_seed_or_the_generator() -> None:
    def order(**options: Any) -> list[int]:
        return [int(y) for _, ys in DataLoader(pairs(), batch_size=4, shuffle=True, **options) for y in ys]

    generator = torch.Generator()
    generator.manual_seed(7)
    assert order(seed=7) == order(generator=generator)
    assert order(seed=7) != order(seed=8)
    assert sorted(order()) == list(range(20))
    wanted = sum(epoch_of(dataline.Loader(numbers(20), shuffle="full", seed=7)), [])
    assert order(seed=7) == wanted
    generator.manual_seed(-1)
    assert sorted(order(generator=generator)) == list(range(20))
    with pytest.raises(TypeError, match="not both"):
        order(seed=1, generator=generator)


def test_a_sampler_is_its_indices() -> None:
    for sampler in ([4, 2, 2], torch.tensor([4, 2, 2]), iter([4, 2, 2])):
        loader = DataLoader(pairs(), batch_size=2, sampler=sampler)
        assert [ys.tolist() for _, ys in loader] == [[4, 2], [2]]
        assert [ys.tolist() for _, ys in loader] == [[4, 2], [2]]
    assert len(DataLoader(pairs(), batch_size=20, sampler=SequentialSampler(pairs()))) == 1


def test_other_arguments_become_options() -> None:
    loader = DataLoader(
        pairs(), batch_size=1, num_workers=2, prefetch_factor=3, persistent_workers=True, drop_last=True
    )
    assert loader.loader.stats().num_workers == 2
    assert DataLoader(pairs(), num_workers=0).loader.stats().num_workers == 0
    whole = DataLoader(pairs(), global_batch_size=4, rank=1, world_size=2)
    assert next(ys.tolist() for _, ys in whole) == [2, 3]
    with pytest.raises(dataline.UnknownOptionError, match="transform"):
        DataLoader(pairs(), transfrom="cast(f32)")  # type: ignore[call-arg]


def test_fields_gives_a_list_in_that_order() -> None:
    dataset = dataline.from_arrays({"x": np.arange(4), "y": np.arange(4) * 2, "z": np.arange(4)})
    (batch,) = DataLoader(dataset, batch_size=4, fields=("y", "x"))
    assert [part.tolist() for part in batch] == [[0, 2, 4, 6], [0, 1, 2, 3]]
    with pytest.raises(KeyError, match="fields"):
        DataLoader(dataset, fields=("w",))


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({"in_order": False}, "in order"),
        ({"sampler": RandomSampler(range(3), replacement=True)}, "weights="),
        ({"sampler": WeightedRandomSampler([1.0], 1)}, "weights="),
        ({"batch_sampler": iter([[1]])}, "__len__"),
        ({"batch_sampler": [[1]], "rank": 1, "world_size": 2}, "rank, world_size: the batch_sampler decides"),
        (
            {"collate_fn": list, "transform": "cast(f32)"},
            "collate_fn: Python code makes its batches, but transform",
        ),
    ],
)
def test_what_is_not_supported_says_what_to_use(arguments: dict[str, Any], advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        DataLoader(pairs(), **arguments)


def test_wrong_values_and_datasets_are_refused() -> None:
    with pytest.raises(TypeError, match="__getitem__"):
        DataLoader(5)
    with pytest.raises(ValueError, match="exclusive"):
        DataLoader(pairs(), shuffle=True, sampler=[1])
    with pytest.raises(ValueError, match="timeout"):
        DataLoader(pairs(), timeout=-1)


def test_pin_memory_without_cuda_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="CUDA"):
        assert len(DataLoader(pairs(), pin_memory=True)) == 20


def test_pin_memory_with_cuda_is_the_librarys_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    asked: dict[str, Any] = {}
    monkeypatch.setattr("dataline.torch.Loader", lambda dataset, **options: asked.update(options))
    for named, wanted in (("", "cuda:3"), ("cuda", "cuda:3"), ("cuda:1", "cuda:1")):
        DataLoader(pairs(), pin_memory=True, pin_memory_device=named)
        assert (asked["pin_memory"], asked["pin_memory_device"]) == (True, wanted)


def test_a_time_out_is_one() -> None:
    import threading

    gate = threading.Event()
    dataset = Samples(3, lambda at: at)
    loader: Any = DataLoader(dataset, batch_size=3, timeout=60)
    assert next(iter(loader)).tolist() == [0, 1, 2]
    dataset.make = lambda at: gate.wait(60) and at
    loader.loader.seek(50)
    loader.timeout = 0.05
    with pytest.raises(TimeoutError):
        list(loader)
    gate.set()
    loader.timeout = 60
    assert next(iter(loader)).tolist() == [0, 1, 2]


def test_a_state_goes_on_in_mid_epoch() -> None:
    def make() -> DataLoader[Any, Any, Any]:
        return DataLoader(pairs(), batch_size=3, shuffle=True, seed=9)

    whole = [ys.tolist() for _, ys in make()]
    first = make()
    taken = [ys.tolist() for _, (_, ys) in zip(range(3), first)]
    state = first.state_dict()
    second = make()
    second.load_state_dict(state)
    assert taken + [ys.tolist() for _, ys in second] == whole
    with pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(second)
    assert pickle.loads(pickle.dumps(state)) == state


def test_the_context_manager_closes_it() -> None:
    with DataLoader(pairs()) as loader:
        pass
    assert loader.loader.closed


def test_each_argument_of_pytorch_is_taken_and_documented() -> None:
    ours = inspect.signature(DataLoader.__init__).parameters
    for name in inspect.signature(PyTorch.__init__).parameters:
        assert name in ours, name
        assert name == "self" or f"``{name}``" in (DataLoader.__doc__ or "")
    positional = [name for name, one in ours.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    theirs = [
        name
        for name, one in inspect.signature(PyTorch.__init__).parameters.items()
        if one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    assert positional[: len(theirs)] == theirs[: len(positional)]


def test_torch_is_imported_when_asked_for_alone() -> None:
    code = (
        "import dataline, sys; assert 'torch' not in sys.modules; import dataline.torch; assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd="/")


def test_pinned_and_strided_tensors_are_lent() -> None:
    rows = torch.arange(24).reshape(6, 4)
    dataset = dataline.from_arrays({"x": rows[::2]})
    assert next(iter(dataline.Loader(dataset)))["x"].tolist() == rows[::2].tolist()
    loan = _core.Loan.of_capsule(rows[::2].__dlpack__())
    assert loan.strides == (64, 8)


def test_a_sampler_gives_pytorchs_loader_the_order_of_ours() -> None:
    options: dict[str, Any] = {"shuffle": True, "seed": 7, "batch_size": 4, "world_size": 3}
    for rank in range(3):
        sampler = Sampler(pairs(50), rank=rank, **options)
        ours = dataline.Loader(numbers(50), rank=rank, **options)
        theirs = PyTorch(pairs(50), batch_size=4, sampler=sampler)
        for _ in range(2):  # another order each epoch
            expected = sum(epoch_of(ours), [])
            assert [int(index) for _, indices in theirs for index in indices] == expected
            assert len(sampler) == len(expected)
    assert list(Sampler(5)) == [0, 1, 2, 3, 4]
    assert len(set(list(Sampler(1000, shuffle=True, seed=1))[:5]) - set(range(5))) > 0
    assert sorted(Sampler(6, sample_indices=[5, 5, 0])) == [0, 5, 5]


def test_a_sampler_goes_on_where_it_was() -> None:
    def make() -> Sampler:
        return Sampler(20, shuffle=True, seed=3, batch_size=6)

    whole, one = make(), make()
    first, second = list(whole), list(whole)
    taken = iter(one)
    before = [next(taken) for _ in range(9)]
    state = one.state_dict()
    again = make()
    again.load_state_dict(state)
    assert before + list(again) == first
    assert list(again) == second
    again.set_epoch(0)
    assert list(again) == first


def test_an_iterable_dataset_is_a_jobs_batches_in_pytorchs_loader(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(100))
    uri = f"npy:x={tmp_path}/x.npy"
    options: dict[str, Any] = {"batch_size": 8, "shuffle": True, "seed": 5}
    batches = IterableDataset(uri, **options)
    theirs = PyTorch(batches, batch_size=None)
    ours = dataline.Loader(uri, **options)
    for _ in range(2):
        assert [batch["x"].tolist() for batch in theirs] == epoch_of(ours)
    assert len(theirs) == 13
    batches.set_epoch(0)
    ours.seek(0)
    assert [batch["x"].tolist() for batch in theirs] == epoch_of(ours)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_worker_processes_of_pytorch_share_an_iterable_dataset(tmp_path: Path, start: str) -> None:
    np.save(tmp_path / "x.npy", np.arange(100))
    code = f"""
import dataline.torch, torch, sys
def main():
    batches = dataline.torch.IterableDataset("npy:x={tmp_path}/x.npy", batch_size=8, shuffle=True)
    loader = torch.utils.data.DataLoader(batches, batch_size=None, num_workers=2, multiprocessing_context="{start}")
    epochs = []
    for epoch in range(2):
        batches.set_epoch(epoch)
        epochs.append([index for batch in loader for index in batch["x"].tolist()])
    assert [sorted(one) for one in epochs] == [list(range(100))] * 2, epochs
    assert epochs[0] != epochs[1]
if __name__ == "__main__":
    main()
"""
    file = tmp_path / "job.py"
    file.write_text(code)
    subprocess.run([sys.executable, file], check=True, timeout=120)
