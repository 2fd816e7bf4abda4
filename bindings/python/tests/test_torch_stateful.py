"""dataline.torch: states in the life of a training, as torchdata's StatefulDataLoader has them.

The cases follow torchdata's tests (meta-pytorch/data, test/stateful_dataloader/test_state_dict.py), whose classes and
functions each of them names, and are written anew: over tensors that the library reads, and over objects whose samples
PyTorch's loader makes in this process or in two others. Where torchdata refuses another number of workers, or reads again
what was delivered, more is asked for here; PyTorch's iterable datasets, which it replays, are refused here by name.

Not followed: what a state of torchdata's looks like inside (_snapshot, test_incremental_state.py), and every_n_steps: here
each state is as cheap as any other.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dataline

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader as PyTorch  # noqa: E402
from torch.utils.data import Dataset, RandomSampler, SequentialSampler, TensorDataset  # noqa: E402
from torch.utils.data.distributed import DistributedSampler  # noqa: E402

from dataline.torch import DataLoader  # noqa: E402

COUNT = 23
STEPS = 6


class Records(Dataset):  # type: ignore[misc]
    def __init__(self) -> None:
        self.read: list[int] = []  # in this process

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> Any:
        self.read.append(index)
        return {"id": index, "strcol": f"strcol_{index}", "listcol": [index, index + 1, index + 2]}


class Draws(Records):
    def __getitem__(self, index: int) -> Any:
        return index, int(torch.randint(1000, (1,)))


class Torn(Records):
    def __getitem__(self, index: int) -> Any:
        if index == 9:
            raise ValueError("Iteration error")
        return index


class Backwards:
    """A sampler of one's own."""

    read = 0

    def __iter__(self) -> Iterator[int]:
        self.read += 1
        return iter(range(COUNT - 1, -1, -1))

    def __len__(self) -> int:
        return COUNT


class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined]
    def __iter__(self) -> Iterator[int]:
        return iter(range(COUNT))


KINDS: dict[str, Any] = {"tensors": lambda: TensorDataset(torch.arange(COUNT)), "objects": Records}
ALL = list(itertools.product(KINDS, (0, 2)))
of_each_kind = pytest.mark.parametrize(("kind", "workers"), ALL, ids=str)


def of_each_kind_and(name: str, *values: Any) -> pytest.MarkDecorator:
    """Each kind with the first value; with the others without workers: processes are slow to start."""
    cases = [(kind, workers, values[0]) for kind, workers in ALL]
    cases += [(kind, 0, value) for kind in KINDS for value in values[1:]]
    return pytest.mark.parametrize(("kind", "workers", name), cases, ids=str)


def make(kind: str, workers: int, **options: Any) -> DataLoader[Any, Any, Any]:
    usual = {"batch_size": 4, "shuffle": True, "persistent_workers": workers > 0}
    return DataLoader(KINDS[kind](), num_workers=workers, **{**usual, **options})


def plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return list(map(plain, value)) if isinstance(value, (list, tuple)) else value


def rest(loop: Any, count: int = 10**6) -> list[Any]:
    """What a loop, or a loader, gives next."""
    return [plain(batch) for batch in itertools.islice(loop, count)]


def states_of(loader: DataLoader[Any, Any, Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The state before each batch of an epoch, after the last one, and after the epoch; and the batches."""
    states, given = [loader.state_dict()], []
    for batch in loader:
        given.append(plain(batch))
        states.append(loader.state_dict())
    return [*states, loader.state_dict()], given


# TestStatefulDataLoaderIterable, TestStatefulDataLoaderMap: test_no_mp, test_mp_x
@of_each_kind_and("change", {}, {"batch_size": None}, {"drop_last": True})
def test_a_state_of_each_step_goes_on(kind: str, workers: int, change: dict[str, Any]) -> None:
    whole = make(kind, workers, **change)
    states, given = states_of(whole)
    assert len(given) == {"batch_size": COUNT, "drop_last": 5}.get("".join(change), STEPS) == len(whole)
    following = rest(whole)
    chosen = range(len(states)) if workers == 0 else (1, len(given) - 1)
    for step in chosen:
        again = make(kind, workers, **change)
        again.load_state_dict(states[step])
        if step <= len(given):
            assert rest(again) == given[step:]
        assert rest(again) == following


# TestStatefulSampler, TestNotStatefulSamplerSDL; test_sampler.py: test_dataloader_state_dict
@pytest.mark.parametrize(
    ("kind", "workers"), [("random", 0), ("in order", 0), ("own", 0), ("own", 2), ("distributed", 0)]
)
def test_samplers_go_on_where_they_were(kind: str, workers: int) -> None:
    def loader() -> DataLoader[Any, Any, Any]:
        dataset = Records()
        samplers: dict[str, Any] = {
            "random": lambda: RandomSampler(dataset, generator=torch.Generator().manual_seed(13)),
            "in order": lambda: SequentialSampler(dataset),
            "own": Backwards,
            "distributed": lambda: DistributedSampler(dataset, 2, 1, seed=4),
        }
        return DataLoader(dataset, 4, sampler=samplers[kind](), num_workers=workers)

    states, given = states_of(loader())
    for step in (1, len(given) // 2, len(given)):
        again = loader()
        again.load_state_dict(states[step])
        assert rest(again) == given[step:]


# TestSnapshotZero: test_map, test_map_shuffle, test_map_iterrupted_shuffle
@of_each_kind
@pytest.mark.parametrize("persistent", [False, True])
def test_a_loader_is_led_back_to_its_beginning_and_to_its_middle(kind: str, workers: int, persistent: bool) -> None:
    loader = make(kind, workers, persistent_workers=persistent and workers > 0)
    loop = iter(loader)
    beginning = loader.state_dict()
    given = rest(loop, 4)
    middle = loader.state_dict()
    loader.load_state_dict(middle)
    given += rest(loader)
    assert len(given) == STEPS
    loader.load_state_dict(beginning)
    assert rest(loader) == given
    loader.load_state_dict(middle)
    assert rest(loader) == given[4:]


# TestSnapshotEnd: test_map_shuffle, test_generator ("simple restart")
@of_each_kind
def test_a_state_of_the_end_leads_to_the_next_epoch_also_out_of_the_middle_of_another(kind: str, workers: int) -> None:
    whole = make(kind, workers)
    first = rest(whole)
    end = whole.state_dict()
    second = rest(whole)
    assert second != first
    other = make(kind, workers)
    rest(iter(other), 2)
    other.load_state_dict(end)
    assert rest(other) == second
    in_order = make(kind, workers, shuffle=False)
    assert rest(in_order) == rest(in_order)


# TestSnapshotEnd.test_map: what worker processes draw goes on with the generator
def test_after_a_state_of_the_end_worker_processes_draw_the_same() -> None:
    def loader() -> DataLoader[Any, Any, Any]:
        return DataLoader(Draws(), 4, num_workers=2, generator=torch.Generator().manual_seed(15))

    whole = loader()
    first, end, second = rest(whole), whole.state_dict(), rest(whole)
    assert first != second
    other = loader()
    other.load_state_dict(end)
    assert rest(other) == second


# TestStatefulDataLoaderIterable.test_random_state: there the dataset's state holds a generator; here a draw has a place
@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_drawn_by_place_is_drawn_again_in_mid_epoch(workers: int) -> None:
    def noisy(index: int, place: dataline.Place) -> dict[str, Any]:
        return {
            "id": index,
            "draw": float(np.random.default_rng((place.seed, place.epoch or 0, place.slot or 0)).random()),
        }

    dataset = dataline.from_reader(range(COUNT), read=noisy)
    states, given = states_of(DataLoader(dataset, 4, True, num_workers=2 - workers, seed=3))
    for step, state in enumerate(states[: STEPS + 1]):
        again = DataLoader(dataset, 4, True, num_workers=workers, seed=3)
        again.load_state_dict(state)
        assert rest(again) == given[step:]


# TestEndOfEpochBehavior
@of_each_kind_and("shuffle", True, False)
def test_a_state_of_the_last_batch_has_nothing_left_and_one_after_the_loop_a_whole_epoch(
    kind: str, workers: int, shuffle: bool
) -> None:
    whole = make(kind, workers, shuffle=shuffle)
    states, _ = states_of(whole)
    following = rest(whole)
    for state, left in ((states[STEPS], []), (states[STEPS + 1], following)):
        again = make(kind, workers, shuffle=shuffle)
        again.load_state_dict(state)
        assert rest(again) == left
        assert len(rest(again)) == STEPS


# TestMultiEpochSDL, TestMultiEpochState
@of_each_kind_and("shuffle", True, False)
def test_two_epochs_and_two_more_after_a_state_are_four(kind: str, workers: int, shuffle: bool) -> None:
    torch.manual_seed(0)
    first = make(kind, workers, shuffle=shuffle)
    epochs = [rest(first), rest(first)]
    second = make(kind, workers, shuffle=shuffle)
    second.load_state_dict(first.state_dict())
    epochs += [rest(second), rest(second)]
    torch.manual_seed(0)
    whole = make(kind, workers, shuffle=shuffle)
    assert [rest(whole) for _ in range(4)] == epochs
    assert len(sum(epochs, [])) == 4 * STEPS


# TestNumWorkersMismatch: there an AssertionError
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (2, 1)])
def test_a_state_goes_on_with_another_number_of_workers(kind: str, before: int, after: int) -> None:
    first = make(kind, before)
    loop = iter(first)
    rest(loop, 2)
    second = make(kind, after)
    second.load_state_dict(first.state_dict())
    assert rest(second) == rest(loop)
    assert second.state_dict() == first.state_dict()


# TestConcurrentDataLoaders
@pytest.mark.parametrize("workers", [0, 2])
def test_two_loaders_at_once_do_not_disturb_each_other_nor_pytorchs(workers: int) -> None:
    dataset = Records()
    wanted = rest(PyTorch(dataset, batch_size=4, num_workers=workers))
    loaders = [DataLoader(dataset, 4, num_workers=workers) for _ in range(2)]
    one, two = map(iter, loaders)
    taken = rest(one, 3)
    assert rest(two) == wanted
    assert loaders[0].loader.position == (0, 3)
    assert taken + rest(one) == wanted


# TestFastStateDictRequest, TestFastStateDictRequestRoundRobin
@of_each_kind
def test_a_state_asked_for_soon_after_a_load_is_the_one_of_that_step(kind: str, workers: int) -> None:
    first = make(kind, workers)
    loop = iter(first)
    rest(loop, 2)
    state = first.state_dict()
    rest(loop, 2)
    later = first.state_dict()
    left = rest(loop)
    first.load_state_dict(state)
    rest(iter(first), 2)
    assert first.state_dict() == later
    second = make(kind, workers)
    second.load_state_dict(first.state_dict())
    assert rest(second) == left


# TestJsonSerDe, TestDynamicStateIterableDataset (a state does not change afterwards)
@of_each_kind
def test_a_state_is_plain_text_and_numbers_and_does_not_change_afterwards(kind: str, workers: int) -> None:
    first = make(kind, workers)
    rest(first)
    loop = iter(first)
    rest(loop, 4)
    state = first.state_dict()
    kept = copy.deepcopy(state)
    torch.save(state, file := io.BytesIO())
    file.seek(0)
    left = rest(loop)
    assert state == kept != first.state_dict()
    read = [json.loads(json.dumps(state)), pickle.loads(pickle.dumps(state)), torch.load(file)]
    assert read == [state] * 3
    second = make(kind, workers)
    second.load_state_dict(read[0])
    assert rest(second) == left


# TestInitialState: test_initial_state, test_load_state_after_initial_state_dict, test_load_state_before_initial_state_dict,
# test_load_then_state
@of_each_kind
def test_a_state_may_be_asked_for_before_the_first_loop_and_after_a_load(kind: str, workers: int) -> None:
    loader = make(kind, workers)
    fresh = loader.state_dict()
    assert loader.state_dict() == fresh
    given = rest(loader)
    rest(iter(loader), 2)
    loader.load_state_dict(fresh)
    assert loader.state_dict() == fresh
    assert rest(loader) == given
    for asked_before in (False, True):
        loop = iter(loader)
        rest(loop, 2)
        state, left = loader.state_dict(), rest(loop)
        again = make(kind, workers)
        assert not asked_before or again.state_dict() != state
        again.load_state_dict(state)
        assert again.state_dict() == state
        assert rest(again) == left


# torchdata's tests do not cover a loop that is under way when a state is loaded.
@of_each_kind
def test_a_load_ends_a_loop_that_is_under_way(kind: str, workers: int) -> None:
    loader = make(kind, workers)
    states, given = states_of(loader)
    loop = iter(loader)
    rest(loop, 2)
    loader.load_state_dict(states[3])
    for _ in range(2):
        with pytest.raises(dataline.WrongStateError, match="this epoch was ended"):
            next(loop)
    assert loader.state_dict() == states[3]
    loop = iter(loader)
    assert rest(loop) == given[3:]
    assert rest(loop) == []  # a finished loop stays finished
    loader.load_state_dict(states[5])
    assert rest(loop) == []
    assert rest(loader) == given[5:]


def refuse(worker: int) -> None:
    raise ValueError("Worker init error")


# TestInitialState: test_init_error, test_iteration_error
@pytest.mark.parametrize("workers", [0, 2])
def test_errors_are_raised_and_a_state_goes_on_behind_them(workers: int) -> None:
    loader = DataLoader(Torn(), 4, num_workers=workers)
    loop = iter(loader)
    assert rest(loop, 2) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(ValueError, match="Iteration error"):
        next(loop)
    again = DataLoader(Torn(), 4, num_workers=workers)
    again.load_state_dict(loader.state_dict())
    assert rest(again) == rest(loop) == [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22]]
    if workers > 0:
        with pytest.raises(ValueError, match="Worker init error"):
            next(iter(DataLoader(Records(), num_workers=workers, worker_init_fn=refuse)))


# TestSingleIterCalled, TestStateInitializationDataset: there a resume may begin an iterator and step through it
def test_nothing_that_was_delivered_is_read_again() -> None:
    sampler = Backwards()
    first = DataLoader(Records(), 4, sampler=sampler, num_workers=0)
    rest(iter(first), 4)
    again = DataLoader(Records(), 4, sampler=sampler, num_workers=0)
    again.load_state_dict(first.state_dict())
    again.dataset.read.clear()
    rest(again)
    assert again.dataset.read == [6, 5, 4, 3, 2, 1, 0]
    assert sampler.read == 2  # once a loader


# TestOutOfOrderWithCheckpointing; the cases of iterable datasets
def test_what_could_not_be_gone_back_to_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="in_order=False"):
        make("objects", 2, in_order=False)
    state = make("tensors", 0).state_dict()
    loader: Any = DataLoader(Stream(), 4)
    for use in (loader.state_dict, lambda: loader.load_state_dict(state)):
        with pytest.raises(TypeError, match="no position to resume from"):
            use()
    with pytest.raises(dataline.StateError, match="samples is '23' in the state, '5' here"):
        DataLoader(TensorDataset(torch.arange(5)), 4, True).load_state_dict(state)
