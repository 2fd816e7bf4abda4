"""A state of any step leads to the same batches, whatever a job is made of.

After Grain's helper for tests of its datasets (google/grain, grain/_src/python/testing/experimental.py,
assert_equal_output_after_checkpoint), written anew. As there: a state before every step, all of one form; a new loader in
each of them has that state again and delivers the rest. More than there: the states at the ends of epochs and of the job,
other workers and depths than those that saved, and what a batch tells of its rows beside their bytes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Optional, Union

import numpy as np
import pytest

import dataline
from conftest import png

Options = dict[str, Any]
Made = tuple[Union[str, dataline.Dataset], Options]
FULL: Options = {"shuffle": True, "seed": 9}
WINDOW: Options = {"shuffle": "window", "shuffle_block": 64, "shuffle_blocks": 3, "seed": 9}


def content(batch: Optional[dataline.Batch]) -> Any:
    """All that a batch says; None is the end of an epoch."""
    if batch is None:
        return None
    fields: dict[str, tuple[Any, ...]] = {}
    for name, value in batch.items():
        if isinstance(value, dataline.Ragged):
            data: Any = value.data
            fields[name] = (str(data.dtype), data.tobytes(), value.offsets.tolist())
        else:
            fields[name] = (str(value.dtype), value.shape, value.tobytes())
    info = batch.info
    return info.epoch, info.step, info.valid, info.indices.tolist(), np.asarray(info.sources).tolist(), fields


def form(state: str) -> list[str]:
    """A state without its place: what else it says may not change with the steps."""
    return [line for line in state.splitlines() if not line.startswith(("epoch:", "step:", "checksum:"))]


def walk(loader: dataline.Loader) -> tuple[list[str], list[Any]]:
    """The state before each step to the end of the job, and what the step gave."""
    states, given = [loader.save_state()], []
    while True:
        try:
            given.append(content(loader.next()))
        except dataline.EndOfJob:
            return states, given
        states.append(loader.save_state())


def every_state_goes_on(made: Made) -> None:
    dataset, options = made
    with dataline.Loader(dataset, epochs=2, **options) as whole:
        states, given = walk(whole)
    assert given.count(None) == 2
    assert len(given) >= 6
    assert given[0][-1] != given[given.index(None) + 1][-1] or not options.get("shuffle")
    assert all(form(state) == form(states[0]) for state in states)
    assert len(set(states)) == len(states)
    for step, state in enumerate(states):
        changed = {**options, "num_workers": step % 3, "prefetch_depth": 1 + step % 4}
        with dataline.Loader(dataset, epochs=2, **changed) as again:
            again.load_state(state)
            assert again.save_state() == state, step
            states_after, rest = walk(again)
        assert rest == given[step:], step
        assert states_after == states[step:], step


def rows(count: int, first: int = 0) -> dataline.Dataset:
    values = np.arange(first, first + count)
    return dataline.from_arrays({"x": values, "y": np.stack([values, values + 0.5], axis=1).astype(np.float32)})


def documents(first: int = 0) -> dataline.Dataset:
    lengths = [i * 7 % 11 + 1 for i in range(40)]
    ends = np.cumsum([0, *lengths])
    return dataline.from_arrays({"ids": dataline.Ragged(np.arange(first, first + ends[-1]).astype(np.uint16), ends)})


ROWS: dict[str, Options] = {
    "in order": {},
    "full": FULL,
    "window": WINDOW,
    "drop": {**FULL, "drop_last": True},
    "pad": {**FULL, "last_batch": "pad"},
    "a rank": {**FULL, "rank": 1, "world_size": 3},
    "a rank in windows": {**WINDOW, "rank": 2, "world_size": 3},
    "indices": {"sample_indices": [5, 3, 3, 49, 0, 1, 2, 3, 20, 40, 8, 7, 30]},
    "weights": {"weights": [1.0 + at % 4 for at in range(50)], "seed": 4},
    "weights, each once": {"weights": [1.0 + at % 4 for at in range(50)], "replacement": False, "seed": 4},
}


@pytest.mark.parametrize("order", ROWS)
def test_rows_go_on_from_every_state(order: str) -> None:
    every_state_goes_on((rows(50), {"batch_size": 4, **ROWS[order]}))


def test_rows_with_bad_ones_among_them_go_on_with_the_same_stand_ins() -> None:
    class Torn:
        def __len__(self) -> int:
            return 30

        def __getitem__(self, index: int) -> dict[str, int]:
            if index % 7 == 3:
                raise OSError("the tape is torn")
            return {"x": index}

    for on_error in ("replace", "quarantine"):
        every_state_goes_on((dataline.from_reader(Torn()), {"batch_size": 4, "on_error": on_error, **FULL}))


def test_what_a_reader_draws_by_its_place_is_drawn_again() -> None:
    def noisy(index: int, place: dataline.Place) -> dict[str, Any]:
        draw = np.random.default_rng((place.seed, place.epoch or 0, place.slot or 0))
        return {"x": index, "noise": draw.normal(size=3)}

    every_state_goes_on((dataline.from_reader(range(30), read=noisy), {"batch_size": 4, **FULL}))


PICTURES = {
    "crops and flips": "image: decode, random_resized_crop(8), hflip, normalize(imagenet), chw",
    "colours": "image: decode, random_crop(6), color_jitter(0.4, 0.4, 0.4, 0.1), random_erasing",
    "augmented at random": "image: decode, resize([9, 9]), rand_augment, rotate(30)",
    "mixed up": "image: decode, random_resized_crop(8), cast(f32), cutmix; label: one_hot(2)",
}


@pytest.fixture
def photographs(tmp_path: Path) -> str:
    draw = np.random.default_rng(1)
    for number in range(21):
        folder = tmp_path / "ab"[number % 2]
        folder.mkdir(exist_ok=True)
        size = (20, 30) if number % 3 else (30, 20)
        (folder / f"{number}.png").write_bytes(png(draw.integers(0, 256, (*size, 3)).astype(np.uint8)))
    return f"folder:{dataline.escape(tmp_path)}"


@pytest.mark.parametrize("transform", PICTURES)
def test_photographs_go_on_from_every_state(photographs: str, transform: str) -> None:
    every_state_goes_on((photographs, {"batch_size": 4, "transform": PICTURES[transform], **FULL}))


TOKENS: dict[str, tuple[str, Options]] = {
    "lines of one length": ("&length=6", FULL),
    "lines in windows": ("&length=6", WINDOW),
    "documents": ("&documents=eot:7", FULL),
    "documents in windows": ("&documents=eot:7", WINDOW),
    "packed": ("&documents=eot:7&pack_length=16", FULL),
    "packed, fitted": ("&documents=eot:7&pack_length=16&pack_method=best_fit&pack_window=5", FULL),
    "packed, in windows": ("&documents=eot:7&pack_length=16", WINDOW),
    "packed, of a rank": ("&documents=eot:7&pack_length=16", {**FULL, "rank": 1, "world_size": 2}),
}


@pytest.mark.parametrize("kind", TOKENS)
def test_tokens_go_on_from_every_state(tmp_path: Path, kind: str) -> None:
    (np.arange(300) * 5 % 23).astype(np.uint16).tofile(tmp_path / "tokens.bin")
    keys, options = TOKENS[kind]
    uri = f"tokens:{dataline.escape(tmp_path)}/tokens.bin?dtype=u16{keys}"
    every_state_goes_on((uri, {"batch_size": 2, **options}))


def by_weights() -> dataline.Dataset:
    parts = {"web": rows(20), "code": rows(9, 100), "books": rows(31, 200)}
    schedule = {3: {"code": 1.0, "books": 1.0}, 9: {"web": 1.0, "books": 5.0}}
    weights = {"web": 5.0, "code": 3.0, "books": 2.0}
    return dataline.mix(parts, weights=weights, schedule=schedule, samples_per_epoch=50)


def by_repeats() -> dataline.Dataset:
    parts = {"web": rows(20), "code": rows(9, 100), "books": rows(31, 200)}
    return dataline.mix(parts, repeats={"web": 1.5, "code": 2, "books": 0.4})


def packed_mix(method: Literal["concat", "best_fit"]) -> dataline.Dataset:
    parts = {"web": documents(), "code": documents(1000)}
    options: dataline.Options = {"pack_length": 16, "pack_method": method}
    return dataline.mix(parts, repeats={"web": 1, "code": 0.5}, options=options)


MIXES: dict[str, tuple[Callable[[], dataline.Dataset], Options]] = {
    "weights": (by_weights, FULL),
    "weights, in order": (by_weights, {}),
    "weights, of one part": (by_weights, {**FULL, "homogeneous": "batch"}),
    "weights, windows": (by_weights, WINDOW),
    "weights, of a rank": (by_weights, {**FULL, "rank": 1, "world_size": 3}),
    "repeats": (by_repeats, FULL),
    "repeats, of one part": (by_repeats, {**FULL, "homogeneous": "batch", "last_batch": "pad"}),
    "repeats, windows": (by_repeats, WINDOW),
    "packed": (lambda: packed_mix("concat"), FULL),
    "packed, fitted": (lambda: packed_mix("best_fit"), FULL),
}


@pytest.mark.parametrize("kind", MIXES)
def test_mixes_go_on_from_every_state(kind: str) -> None:
    dataset, options = MIXES[kind]
    every_state_goes_on((dataset(), {"batch_size": 5, **options}))


def test_parts_with_transforms_of_their_own_go_on_from_every_state(tmp_path: Path) -> None:
    own = {"small": (8, "hflip"), "large": (12, "random_crop(8)")}
    parts = []
    for name, (side, transform) in own.items():
        draw = np.random.default_rng(side)
        np.save(tmp_path / f"{name}.npy", draw.integers(0, 256, (15, side, side, 3)).astype(np.uint8))
        uri = f"npy:image={name}.npy?axes=HWC"
        parts.append({"name": name, "uri": uri, "weight": 1, "transform": transform})
    (tmp_path / "recipe.json").write_text(json.dumps({"parts": parts, "samples_per_epoch": 30}))
    uri = f"mix:{dataline.escape(tmp_path)}/recipe.json"
    every_state_goes_on((uri, {"batch_size": 5, "transform": "color_jitter(0.3)", **FULL}))


BUCKETS: dict[str, Options] = {
    "so many rows": {"batch_size": 4},
    "so many tokens": {"batch_size": None, "max_tokens": 40},
    "so many tokens of a rank": {"batch_size": None, "max_tokens": 40, "rank": 1, "world_size": 2},
    "dropped": {"batch_size": 4, "drop_last": True},
}


@pytest.mark.parametrize("kind", BUCKETS)
def test_batches_by_length_go_on_from_every_state(kind: str) -> None:
    options = {"bucket_edges": "4,8,11", "transform": "ids: pad_to(bucket)", **FULL, **BUCKETS[kind]}
    every_state_goes_on((documents(), options))


def test_batches_by_aspect_go_on_from_every_state(photographs: str) -> None:
    transform = "image: decode, random_resized_crop(bucket), hflip"
    options = {"bucket_by": "aspect", "bucket_edges": "8x12,12x8", "batch_size": 3, "transform": transform, **FULL}
    every_state_goes_on((photographs, options))


def test_the_helper_notices_what_it_is_for() -> None:
    """A reader that counts its calls gives other rows after a state."""
    calls = itertools.count()
    dataset = dataline.from_reader(range(30), read=lambda index, place: {"x": next(calls)})
    with pytest.raises(AssertionError):
        every_state_goes_on((dataset, {"batch_size": 4}))
