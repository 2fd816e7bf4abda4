"""Jobs that go on in mid-epoch with other ranks and other workers.

The cases follow LitData's tests/streaming/test_elastic.py (Lightning-AI/litData, pull request 878, of August 2026), which
each of them names, and are written anew. LitData deals what is left of an epoch out again and promises a set without
repeats: a place that is no multiple of the new global batch is rounded down, a chunk that was begun is left out under its
window shuffle. The order here knows neither ranks nor workers, so more is asked for: the same samples in the same order,
none left out.

Not followed: what its own parts compute (worker_plan_to_chunks) and its states of version 1.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline

Steps = list[list[int]]
ORDERS: dict[str, dict[str, Any]] = {
    "in order": {"shuffle": False},
    "full": {"shuffle": True, "seed": 42},
    "window": {"shuffle": "window", "shuffle_block": 64, "shuffle_blocks": 3, "seed": 42},  # blocks of 8 numbers
}


def shards(folder: Path, sizes: Sequence[int]) -> str:
    """The URI of numbers counted through files of these sizes: LitData's chunks."""
    ends = np.cumsum(sizes)
    for number, (end, size) in enumerate(zip(ends, sizes)):
        np.save(folder / f"{number}.npy", np.arange(end - size, end))
    return f"npy:{dataline.escape(folder)}"


def ranks(uri: str, world_size: int, workers: int = 1, state: Optional[str] = None, **options: Any) -> list[Any]:
    made = [
        dataline.Loader(uri, rank=rank, world_size=world_size, num_workers=workers, **options)
        for rank in range(world_size)
    ]
    for loader in made:
        if state is not None:
            loader.load_state(state)
    return made


def take(loaders: list[Any], count: Optional[int] = None, field: str = "data") -> Steps:
    """So many steps, each joined over the ranks; without a count, what is left of the epoch."""
    steps: Steps = []
    while count is None or len(steps) < count:
        batches = [loader.next() for loader in loaders]
        if batches[0] is None:
            assert batches == [None] * len(loaders)  # every rank has as many steps
            break
        steps.append([value for batch in batches for value in batch[field].ravel().tolist()])
    return steps


def state_of(loaders: list[Any]) -> str:
    """The one that all ranks save."""
    (state,) = {loader.save_state() for loader in loaders}
    assert isinstance(state, str)
    return state


# test_topology_changed_and_sample_in_epoch, test_elastic_second_checkpoint_advances_cursor
def test_a_position_counts_the_samples_of_all_ranks_and_a_second_save_counts_on(tmp_path: Path) -> None:
    uri = shards(tmp_path, [64] * 6)
    job: dict[str, Any] = {"global_batch_size": 32, **ORDERS["full"]}
    whole = take(ranks(uri, 1, **job))
    states = []
    for world_size, workers in ((8, 2), (2, 2), (8, 8), (1, 0)):
        loaders = ranks(uri, world_size, workers, **job)
        take(loaders, 7)
        states.append(state_of(loaders))
        assert {loader.position for loader in loaders} == {(0, 7)}  # 224 samples, of which each rank had its part
    assert len(set(states)) == 1
    second = ranks(uri, 4, 0, states[0], **job)
    rest = take(second, 3)
    third = ranks(uri, 1, 0, state_of(second), **job)
    assert third[0].position == (0, 10)
    assert [*rest, *take(third)] == whole[7:]


# test_restripe_item_no_duplicates_and_drop_prefix, test_restripe_workers_2_to_8_same_remaining_set,
# test_restripe_world_size_2_to_1, test_dataloader_elastic_workers_2_to_8, test_dataloader_workers_8_to_2,
# test_dataloader_strict_resume_same_workers_not_elastic, test_simulated_world_size_2_to_1_canonical,
# test_world_size_2_to_1_from_fresh_canonical_epoch, test_same_topology_pause_resume_equals_full_epoch,
# test_worker_change_does_not_repeat_consumed_samples, test_window_shuffle_chunk_granularity_resume
@pytest.mark.parametrize("order", ORDERS)
def test_the_rest_of_an_epoch_is_the_same_for_all_ranks_and_workers(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [8] * 16)
    job: dict[str, Any] = {"global_batch_size": 16, **ORDERS[order]}
    one = ranks(uri, 1, 0, **job)
    whole, following = take(one), take(one)
    assert sorted(sum(whole, [])) == list(range(128))
    topologies = [(1, 0), (1, 2), (1, 8), (2, 1), (8, 1)]
    for before in topologies:
        loaders = ranks(uri, *before, **job)
        taken = take(loaders, 3)
        state = state_of(loaders)
        for after in topologies:
            resumed = ranks(uri, *after, state, **job)
            assert taken + take(resumed) == whole, (before, after)
            assert take(resumed) == following, (before, after)


# test_restripe_8_to_2_to_8_same_remaining_set
@pytest.mark.parametrize("order", ORDERS)
def test_a_group_resized_again_and_again_delivers_each_sample_once(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [4] * 16)
    job: dict[str, Any] = {"global_batch_size": 4, "start_epoch": 1, **ORDERS[order]}
    (one,) = ranks(uri, 1, **job)
    whole = take([one]) + take([one], 3)
    state, steps = None, []
    for world_size in (8, 2, 8, 3, 1, 5, 2):  # the sixth group comes to the end of the epoch
        loaders = ranks(uri, world_size, world_size % 3, state, **job)
        steps += take(loaders, 3)
        state = state_of(loaders)
    assert steps == whole


# test_restripe_chunk_granularity_keeps_whole_chunks: there the chunk that was begun is left out.
def test_a_block_that_was_begun_is_gone_on_with_under_a_window_shuffle(tmp_path: Path) -> None:
    uri = shards(tmp_path, [8] * 12)
    job: dict[str, Any] = {"global_batch_size": 6, **ORDERS["window"]}
    for step in range(1, 16):
        first = ranks(uri, 2, **job)
        taken = sum(take(first, step), [])
        rest = sum(take(ranks(uri, 3, 2, state_of(first), **job)), [])
        begun = {value // 8 for value in taken} & {value // 8 for value in rest}
        assert begun  # 6 samples a step: some block is always half read
        assert sorted(taken + rest) == list(range(96))


# test_restripe_uneven_chunk_sizes_no_duplicates; test_restripe_unaligned_drop_first_skips_remainder and
# test_round_down_drop_first_aligns_to_global_batch, where 5 samples of a global batch of 4 are rounded down to 4.
@pytest.mark.parametrize("order", ORDERS)
def test_shards_of_any_sizes_are_cut_at_every_step(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [3, 11, 1, 7, 5])
    job: dict[str, Any] = {"global_batch_size": 5, **ORDERS[order]}
    whole = take(ranks(uri, 1, **job))
    assert [len(step) for step in whole] == [5, 5, 5, 5, 5, 2]
    assert sorted(sum(whole, [])) == list(range(27))
    first = ranks(uri, 2, 3, **job)
    for step in range(6):
        assert take(ranks(uri, 4, step % 3, state_of(first), **job)) == whole[step:]
        assert take(first, 1) == [whole[step]]


# test_restripe_constant_global_batch_size_same_set
def test_ranks_and_batch_sizes_are_free_at_an_equal_global_batch(tmp_path: Path) -> None:
    uri = shards(tmp_path, [8] * 8)
    whole = take(ranks(uri, 1, batch_size=32, **ORDERS["full"]))
    first = ranks(uri, 8, batch_size=4, **ORDERS["full"])
    assert take(first, 1) == whole[:1]
    for world_size in (1, 2, 4, 16, 32):
        resumed = ranks(uri, world_size, 1, state_of(first), batch_size=32 // world_size, **ORDERS["full"])
        assert take(resumed) == whole[1:]


# test_topology_changed_and_sample_in_epoch (another batch size), test_unaligned_sample_in_epoch_is_rounded_before_save,
# test_force_override_still_restripes_worker_mismatch: LitData rounds, and can be made to take what does not fit.
def test_a_state_of_another_global_batch_or_of_another_place_than_it_says_is_refused(tmp_path: Path) -> None:
    uri = shards(tmp_path, [8] * 8)
    first = ranks(uri, 2, batch_size=4)
    take(first, 3)
    state = state_of(first)
    (other,) = ranks(uri, 1, batch_size=4)
    take([other], 2)
    with pytest.raises(dataline.StateError, match="global_batch_size is '8' in the state, '4' here"):
        other.load_state(state)
    (same,) = ranks(uri, 1, batch_size=8)
    with pytest.raises(dataline.StateError, match="checksum"):
        same.load_state(state.replace("step: 3", "step: 2"))
    assert other.position == (0, 2)  # refused states change nothing
    assert take([other], 1) == [[8, 9, 10, 11]]
    assert take([same], 1) == [list(range(8))]


# test_restripe_drop_past_end_is_empty, test_elastic_completes_then_next_epoch_is_not_stuck
@pytest.mark.parametrize("order", ORDERS)
def test_after_the_rest_of_an_epoch_comes_the_next_one(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [8] * 6)
    job: dict[str, Any] = {"global_batch_size": 4, **ORDERS[order]}
    (one,) = ranks(uri, 1, **job)
    epochs = [take([one]) for _ in range(3)]
    for taken in (3, 11, 12):
        first = ranks(uri, 4, 0, **job)
        take(first, taken)
        resumed = ranks(uri, 2, 2, state_of(first), **job)
        assert take(resumed) == epochs[0][taken:]
        assert [take(resumed), take(resumed)] == epochs[1:]
    with pytest.raises(dataline.DataError, match="step 0 to 12"):
        one.seek(0, 10_000)


# test_restripe_drop_last_equal_per_worker, test_elastic_shuffle_false_and_drop_last,
# test_drop_last_keeps_ranks_equal_length
@pytest.mark.parametrize("order", ORDERS)
def test_with_drop_last_ranks_have_equal_parts_of_whole_batches(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [10] * 5)
    job: dict[str, Any] = {"drop_last": True, **ORDERS[order]}
    for taken in (0, 2, 5):
        first = ranks(uri, 2, batch_size=4, **job)
        steps = take(first, taken)
        parts = [
            sum(take([rank]), []) for rank in ranks(uri, 4, 2, state_of(first) if taken else None, batch_size=2, **job)
        ]
        assert [len(part) for part in parts] == [2 * (6 - taken)] * 4
        delivered = sum(steps, []) + sum(parts, [])
        assert len(delivered) == len(set(delivered)) == 48


# test_canonical_stream_independent_of_physical_world_size, test_shuffled_epochs_are_different
@pytest.mark.parametrize("order", ["full", "window"])
def test_epochs_are_other_orders_of_the_same_samples_for_every_world_size(tmp_path: Path, order: str) -> None:
    uri = shards(tmp_path, [4] * 12)
    streams = []
    for world_size in (1, 2, 4):
        loaders = ranks(uri, world_size, global_batch_size=8, **ORDERS[order])
        streams.append([take(loaders) for _ in range(3)])
    assert streams[0] == streams[1] == streams[2]
    epochs = [sum(steps, []) for steps in streams[0]]
    assert all(sorted(epoch) == list(range(48)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3


# test_canonical_chunk_order_empty_and_window: with windows, blocks are permuted whole.
def test_a_window_takes_its_samples_from_as_many_blocks_as_are_open(tmp_path: Path) -> None:
    uri = shards(tmp_path, [8] * 16)
    (loader,) = ranks(uri, 1, batch_size=128, **ORDERS["window"])
    (stream,) = take([loader])
    assert sorted(stream) == list(range(128))
    spans = [(stream.index(at), at) for at in range(128)]
    first = {block: min(place for place, at in spans if at // 8 == block) for block in range(16)}
    last = {block: max(place for place, at in spans if at // 8 == block) for block in range(16)}
    for place in range(128):
        assert sum(first[block] <= place <= last[block] for block in range(16)) <= 3
    empty = dataline.from_arrays({"data": np.arange(0)})
    assert list(dataline.Loader(empty, epochs=1, **ORDERS["window"])) == []


# test_num_canonical_nodes_frozen_across_resume
def test_what_decides_the_order_is_part_of_the_state(tmp_path: Path) -> None:
    uri = shards(tmp_path, [8] * 8)
    job: dict[str, Any] = {"global_batch_size": 4, **ORDERS["window"]}
    first = ranks(uri, 1, **job)
    take(first, 3)
    state = state_of(first)
    assert state_of(ranks(uri, 2, 2, state, **job)) == state
    full = {"shuffle": True, "shuffle_block": None, "shuffle_blocks": None}
    changes: list[dict[str, Any]] = [{"seed": 43}, {"shuffle_blocks": 4}, {"shuffle_block": 128}, full]
    for change in changes:
        with pytest.raises(dataline.StateError, match=f"state of another job: {next(iter(change))[:7]}"):
            ranks(uri, 1, 0, state, **{**job, **change})


# test_tokens_loader_elastic_workers
@pytest.mark.parametrize("order", ORDERS)
def test_windows_of_tokens_go_on_with_other_workers_and_ranks(tmp_path: Path, order: str) -> None:
    np.arange(801, dtype=np.uint16).tofile(tmp_path / "tokens.bin")
    uri = f"tokens:{dataline.escape(tmp_path)}/tokens.bin?dtype=u16&length=20"
    job: dict[str, Any] = {"global_batch_size": 4, **ORDERS[order]}
    whole = take(ranks(uri, 1, **job), field="x")
    assert sorted(sum(whole, [])) == list(range(800))
    first = ranks(uri, 1, 2, **job)
    assert take(first, 5, "x") == whole[:5]
    for world_size, workers in ((1, 4), (2, 0), (4, 1)):
        assert take(ranks(uri, world_size, workers, state_of(first), **job), field="x") == whole[5:]
