"""Batches by length: padded rows, lengths from arrays, ranks, and what is refused.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dataline
from conftest import png

LENGTHS = np.array([i * 37 % 90 for i in range(200)], np.int64)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
TOKENS = np.arange(1, OFFSETS[-1] + 1, dtype=np.int32)


def sequences() -> dataline.Dataset:
    return dataline.from_arrays({"tokens": dataline.Ragged(TOKENS, OFFSETS)})


def test_rows_are_padded_to_the_edge_and_their_lengths_are_a_field() -> None:
    loader = dataline.Loader(
        sequences(),
        bucket_edges="10,40,89",
        max_tokens=400,
        shuffle=True,
        seed=5,
        epochs=1,
        transform="tokens: pad_to(bucket, value=-1)",
    )
    seen = []
    for batch in loader:
        rows = batch["tokens"]
        assert rows.shape[1] in (10, 40, 89)
        assert rows.size <= 400
        for row, length, sample in zip(rows, batch["length"], batch.info.indices):
            assert length == LENGTHS[sample]
            assert (row[:length] == TOKENS[OFFSETS[sample] : OFFSETS[sample + 1]]).all()
            assert (row[length:] == -1).all()
        seen += list(batch.info.indices)
    assert sorted(seen) == list(range(200))
    assert len(loader) > 0


def test_lengths_may_be_an_array_a_list_or_numbers_of_another_type() -> None:
    def order(lengths: object) -> list[int]:
        data = dataline.from_arrays({"data": np.arange(200)})
        loader = dataline.Loader(data, bucket_edges="30,60,90", lengths=lengths, batch_size=8, shuffle=True, epochs=1)  # type: ignore[arg-type]
        return [int(index) for batch in loader for index in batch.info.indices]

    assert order(LENGTHS) == order(LENGTHS.tolist()) == order(LENGTHS.astype(np.int32))
    assert sorted(order(LENGTHS)) == list(range(200))


def test_ranks_get_the_same_shape_at_each_step() -> None:
    def loader(rank: int, world_size: int) -> dataline.Loader:
        return dataline.Loader(
            sequences(),
            bucket_edges="10,40,89",
            global_batch_size=12,
            rank=rank,
            world_size=world_size,
            shuffle=True,
            epochs=1,
            transform="tokens: pad_to(bucket)",
        )

    for one, *parts in zip(loader(0, 1), *(loader(rank, 3) for rank in range(3))):
        assert {part["tokens"].shape[1] for part in parts} == {one["tokens"].shape[1]}
        assert (np.concatenate([part["tokens"] for part in parts]) == one["tokens"]).all()


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(dataline.Error, match="sample 12: its length is 84, the last of bucket_edges is 83"):
        dataline.Loader(sequences(), bucket_edges="10,83")
    with pytest.raises(dataline.Error, match="option lengths: expected 200, one per sample, got 3"):
        dataline.Loader(sequences(), bucket_edges="10,90", lengths=[1, 2, 3])


def test_pictures_are_batched_by_aspect_ratio(tmp_path: Path) -> None:
    heights = {f"{number:02}.png": (40, 60) if number % 3 else (60, 40) for number in range(24)}
    (tmp_path / "a").mkdir()
    for name, (height, width) in heights.items():
        (tmp_path / "a" / name).write_bytes(png(np.full((height, width, 3), 7, np.uint8)))
    loader = dataline.Loader(
        f"folder:{tmp_path}",
        bucket_by="aspect",
        bucket_edges="20x30,30x20",
        batch_size=4,
        shuffle=True,
        epochs=1,
        transform="image: decode, resize(bucket)",
    )
    seen = []
    for batch in loader:
        height, width = batch["image"].shape[1:3]
        assert (height, width) in ((20, 30), (30, 20))
        assert [tuple(size) for size in batch["size"]] == [(2 * height, 2 * width)] * len(batch["size"])
        assert (batch["image"] == 7).all()
        seen += list(batch.info.indices)
    assert sorted(seen) == list(range(24))
    with pytest.raises(dataline.Error, match="as in 448x576,512x512, got '20'"):
        dataline.Loader(f"folder:{tmp_path}", bucket_by="aspect", bucket_edges="20")
