"""Loops, positions and states.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import dataline
from conftest import epoch_of, loader_of, numbers


def test_a_for_is_one_epoch_and_its_length_is_known() -> None:
    loader = loader_of(10, batch_size=4)
    assert len(loader) == 3
    assert epoch_of(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert epoch_of(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert loader.position == (2, 0)


def test_after_the_last_epoch_a_for_is_empty_and_next_raises() -> None:
    loader = loader_of(4, batch_size=4, epochs=2)
    assert [epoch_of(loader) for _ in range(3)] == [[[0, 1, 2, 3]], [[0, 1, 2, 3]], []]
    empty = iter(loader)
    empty.interrupt()  # there is no wait that it could end
    assert operator.length_hint(empty) == 0
    assert list(empty) == []
    with pytest.raises(dataline.EndOfJob) as caught:
        loader.next()
    assert isinstance(caught.value, EOFError)
    assert caught.value.name == "DL_END"


def test_a_seek_out_of_range_is_an_error_of_the_data() -> None:
    loader = loader_of(10, batch_size=4)
    for epoch, step in ((0, 4), (-1, 0), (0, -1)):
        with pytest.raises(dataline.DataError) as caught:
            loader.seek(epoch, step)
        assert caught.value.name == "DL_ERR_OUT_OF_RANGE"


def test_next_gives_none_at_the_end_of_each_epoch() -> None:
    loader = loader_of(4, batch_size=2, epochs=2)
    sizes = []
    for _ in range(6):
        batch = loader.next(timeout=60)
        sizes.append(None if batch is None else len(batch["x"]))
    assert sizes == [2, 2, None, 2, 2, None]


def test_a_loop_has_a_length_hint() -> None:
    loader = loader_of(10, batch_size=4)
    loop = iter(loader)
    assert iter(loop) is loop
    assert operator.length_hint(loop) == 3
    next(loop)
    assert operator.length_hint(loop) == 2
    assert len(list(loop)) == 2
    assert operator.length_hint(loop) == 0
    with pytest.raises(StopIteration):
        next(loop)


@pytest.mark.parametrize(
    "end",
    [iter, lambda loader: loader.seek(1), lambda loader: [loader.next() for _ in range(3)], dataline.Loader.close],
)
def test_the_length_hint_of_a_loop_that_was_ended_is_0(end: Callable[[dataline.Loader], object]) -> None:
    loader = loader_of(10, batch_size=4)
    loop = iter(loader)
    next(loop)
    end(loader)
    if loader.closed:
        with pytest.raises(dataline.WrongStateError, match="closed"):
            operator.length_hint(loop)
    else:
        assert operator.length_hint(loop) == 0


def test_a_loop_that_a_newer_one_ended_raises_what_the_library_says() -> None:
    loader = loader_of(40, batch_size=10)
    with pytest.raises(dataline.WrongStateError, match="this epoch was ended") as caught:
        list(zip(loader, loader))
    assert caught.value.name == "DL_ERR_WRONG_STATE"


def test_a_finished_loop_stays_so_after_its_loader_was_closed_and_another_raises() -> None:
    loader = loader_of(10, batch_size=4)
    finished = iter(loader)
    list(finished)
    other = iter(loader)
    loader.close()
    assert operator.length_hint(finished) == 0
    assert list(finished) == []
    other.interrupt()
    for _ in range(2):
        with pytest.raises(dataline.WrongStateError, match="the loader is closed"):
            next(other)


def test_tqdm_knows_the_total() -> None:
    tqdm = pytest.importorskip("tqdm")
    bar = tqdm.tqdm(loader_of(10, batch_size=4), disable=None)
    assert bar.total == 3
    assert len(list(bar)) == 3


def test_the_stream_does_not_depend_on_threads_or_depth() -> None:
    streams = [
        [epoch_of(loader) for _ in range(2)]
        for workers in (0, 1, 2)
        for depth in (1, 4)
        for loader in [loader_of(1000, batch_size=7, shuffle=True, seed=5, num_workers=workers, prefetch_depth=depth)]
    ]
    assert all(stream == streams[0] for stream in streams)
    assert streams[0][0] != streams[0][1]


def test_a_list_of_all_batches_works_past_max_leases() -> None:
    loader = loader_of(100, batch_size=1, max_leases=2, prefetch_depth=2)
    batches = list(loader)
    assert [int(batch["x"][0]) for batch in batches] == list(range(100))
    assert loader.stats().lease_copies > 0


def test_too_many_leases_are_an_error_when_asked_for() -> None:
    loader = loader_of(100, batch_size=1, max_leases=2, lease_overflow="error")
    kept = [loader.next(), loader.next()]
    with pytest.raises(dataline.MachineError, match="max_leases") as caught:
        loader.next()
    assert caught.value.name == "DL_ERR_LEASES_HELD"
    kept.clear()
    assert loader.next() is not None


def test_a_state_goes_on_where_it_was_saved() -> None:
    options = {"batch_size": 7, "shuffle": True, "seed": 2}
    whole = loader_of(100, **options)
    stream = [*epoch_of(whole), *epoch_of(whole)]
    first = loader_of(100, **options)
    taken = [batch["x"].tolist() for _, batch in zip(range(5), first)]
    state = first.state_dict()
    assert state == {"dataline": first.save_state()}
    assert len(state["dataline"]) < 4096
    second = loader_of(100, num_workers=2, prefetch_depth=1, **options)
    second.load_state_dict(state)
    assert taken + epoch_of(second) + epoch_of(second) == stream


def test_states_that_do_not_fit_are_refused_with_both_values() -> None:
    state = loader_of(100, seed=1).save_state()
    other = loader_of(100, seed=2)
    with pytest.raises(dataline.StateError, match=r"1.*2|2.*1") as caught:
        other.load_state(state)
    assert caught.value.name == "DL_ERR_STATE_REFUSED"
    for damaged in ("", "nonsense", state.replace("seed: 1", "seed: 2")):
        with pytest.raises(ValueError, match=r"\w") as refused:
            other.load_state(damaged)
        assert isinstance(refused.value, dataline.StateError)
    with pytest.raises(ValueError, match="state of a loader"):
        other.load_state_dict({"epoch": 1})
    assert len(epoch_of(other)) == 4


def test_several_threads_share_one_stream() -> None:
    loader = loader_of(1000, batch_size=10, epochs=1)

    def take(_: int) -> list[int]:
        found = []
        try:
            while (batch := loader.next()) is not None:
                found += batch["x"].tolist()
        except dataline.EndOfJob:
            pass  # another thread saw the end of the epoch
        return found

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(take, range(4)))
    assert sorted(sum(parts, [])) == list(range(1000))


def test_stats_add_up() -> None:
    loader = loader_of(10, batch_size=4, last_batch="drop")
    list(loader)
    stats = loader.stats()
    assert (stats.batches, stats.samples, stats.dropped, stats.bytes) == (2, 8, 2, 64)
    assert loader.fields == (dataline.Field("x", "i64", (-1,), nbytes=-1),)


def test_ranks_joined_step_by_step_are_the_whole() -> None:
    options = {"global_batch_size": 12, "shuffle": True, "seed": 4}
    whole = epoch_of(loader_of(100, **options))
    ranks = [epoch_of(loader_of(100, rank=rank, world_size=3, **options)) for rank in range(3)]
    assert [sum(parts, []) for parts in zip(*ranks)] == whole


def test_close_is_final_and_may_be_repeated() -> None:
    with loader_of(10) as loader:
        assert not loader.closed
    loader.close()
    assert loader.closed
    for use in (loader.next, loader.save_state, loader.stats, loader.fileno, lambda: iter(loader), lambda: len(loader),
                lambda: loader.position, lambda: loader.seek(0), lambda: loader.fields, loader.bad_samples):  # fmt: skip
        with pytest.raises(dataline.WrongStateError, match="closed"):
            use()
    loader.cancel()
    loader.interrupt()
    assert "closed" in repr(loader)


def test_a_dataset_may_be_closed_before_its_loader() -> None:
    dataset = numbers(10)
    loader = dataline.Loader(dataset, batch_size=5)
    with dataset:
        pass
    dataset.close()
    assert dataset.closed
    assert epoch_of(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    for use in (
        lambda: len(dataset),
        lambda: dataset.fields,
        lambda: dataset.subset([1]),
        lambda: dataline.Loader(dataset),
    ):
        with pytest.raises(dataline.WrongStateError, match="closed"):
            use()
