"""Readers: samples from Python objects.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import array
import contextlib
import gc
import threading
import time
import traceback
import weakref
from typing import Any

import numpy as np
import pytest

import dataline


class Source:
    """Samples made by a function."""

    def __init__(self, count: int, make: Any) -> None:
        self.count, self.make = count, make

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


def test_one_sample_is_read_through_a_transform() -> None:
    dataset = dataline.from_reader(Source(10, lambda index: {"x": np.full(3, index, np.uint8)}))
    batch = dataset.read(7, transform="x: cast(f32), scale(0.5)", batch_size=4, shuffle="full", num_workers=3)
    assert batch["x"].tolist() == [[3.5, 3.5, 3.5]]
    with pytest.raises(dataline.DataError, match="sample 10: expected 0 to 10"):
        dataset.read(10)
    with pytest.raises(dataline.UnknownOptionError):
        dataset.read(1, batchsize=1)  # type: ignore[call-arg]


def test_what_a_reader_raised_is_the_cause_of_the_error_of_read() -> None:
    def make(index: int) -> Any:
        if index == 3:
            raise ValueError("the test says no")
        return {"x": np.zeros(1)}

    with pytest.raises(dataline.DataError, match="the test says no") as caught:
        dataline.from_reader(Source(5, make)).read(3)
    assert caught.value.sample_index == 3
    assert isinstance(caught.value.__cause__, ValueError)


class BatchedSource(Source):
    """The same, asked for many at once; keeps how many."""

    def __init__(self, count: int, make: Any) -> None:
        super().__init__(count, make)
        self.asked: list[int] = []

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self.asked.append(len(indices))
        return [self.make(index) for index in indices]


def batches(source: Any, **options: Any) -> list[dataline.Batch]:
    return list(dataline.Loader(dataline.from_reader(source), **options))


def test_a_dict_a_tuple_and_an_array_become_fields() -> None:
    def names(sample: Any) -> list[str]:
        return [field.name for field in dataline.from_reader(Source(2, lambda _: sample)).fields]

    assert names({"a": 1, "b": {"c": 2.0, "d": [3, 4]}}) == ["a", "b/c", "b/d/0", "b/d/1"]
    assert names((1, (2, 3))) == ["0", "1/0", "1/1"]
    assert names(np.zeros(3)) == ["data"]


def test_values_arrive_as_they_were_given() -> None:
    def make(index: int) -> Any:
        return {
            "array": np.full((2, 3), index, np.float16), "strided": np.arange(12).reshape(3, 4)[:, ::2] + index,
            "scalar": np.uint8(index), "int": index, "float": index / 2, "bool": index % 2 == 0, "complex": 1j * index,
            "text": "ü" * index, "bytes": bytes([index]), "packed": array.array("h", [index, -index]),
        }  # fmt: skip

    dataset = dataline.from_reader(Source(5, make))
    dtypes = {field.name: field.dtype for field in dataset.fields}
    assert dtypes == {"array": "f16", "strided": "i64", "scalar": "u8", "int": "i64", "float": "f64", "bool": "bool",
                      "complex": "c128", "text": "u8", "bytes": "u8", "packed": "i16"}  # fmt: skip
    (batch,) = dataline.Loader(dataset, batch_size=5)
    for name in ("array", "strided", "scalar", "int", "float", "bool", "complex", "packed"):
        np.testing.assert_array_equal(
            batch[name], np.stack([np.asarray(make(at)[name]) for at in range(5)]), err_msg=name
        )
    assert [bytes(text).decode() for text in batch["text"]] == ["ü" * at for at in range(5)]
    assert [bytes(text) for text in batch["bytes"]] == [bytes([at]) for at in range(5)]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_the_stream_does_not_depend_on_threads(workers: int) -> None:
    source = Source(100, lambda index: np.int64(index))
    options = {"batch_size": 7, "shuffle": True, "seed": 1}
    wanted = [batch["data"].tolist() for batch in batches(source, num_workers=0, **options)]
    assert [batch["data"].tolist() for batch in batches(source, num_workers=workers, **options)] == wanted


def test_getitems_is_asked_for_many_at_once() -> None:
    source = BatchedSource(128, lambda index: index)
    values = [value for batch in batches(source, batch_size=32) for value in batch["data"].tolist()]
    assert values == list(range(128))
    assert max(source.asked) > 1
    assert max(source.asked) <= 64


def make_with_bad(index: int) -> int:
    if index in (3, 11):
        raise KeyError(f"no record {index}")
    return index


@pytest.mark.parametrize("kind", [Source, BatchedSource])
def test_an_exception_is_a_bad_sample_with_its_text(kind: Any) -> None:
    dataset = dataline.from_reader(kind(16, make_with_bad))
    loader = dataline.Loader(dataset, batch_size=8, epochs=1)
    with pytest.raises(dataline.DataError, match="KeyError: 'no record 3'") as caught:
        loader.next()
    assert (caught.value.name, caught.value.sample_index) == ("DL_ERR_BAD_SAMPLE", 3)
    batch = loader.next()
    assert batch is not None
    assert batch["data"].tolist() == [0, 1, 2, 4, 5, 6, 7]
    with pytest.raises(dataline.DataError, match="no record 11"):
        loader.next()
    found = loader.bad_samples()
    assert [(bad.index, bad.step, bad.name, bad.replacement) for bad in found] == [
        (3, 0, "DL_ERR_READER", None),
        (11, 1, "DL_ERR_READER", None),
    ]
    assert isinstance(dataset.reader_errors[3], KeyError)
    assert dataset.reader_errors[3].__traceback__ is not None


@pytest.mark.parametrize("kind", [Source, BatchedSource])
def test_each_bad_sample_has_its_own_text(kind: Any) -> None:
    loader = dataline.Loader(dataline.from_reader(kind(16, make_with_bad)), batch_size=16, on_error="replace")
    list(loader)
    assert {bad.index: bad.message.rpartition("code 1: ")[2] for bad in loader.bad_samples()} == {
        3: "KeyError: 'no record 3'",
        11: "KeyError: 'no record 11'",
    }


def tracked(shape: tuple[int, ...], value: int, alive: list[Any]) -> Any:
    made = np.full(shape, value, np.float32)
    alive.append(weakref.ref(made))
    return made


@pytest.mark.parametrize("workers", [0, 2])
def test_large_arrays_are_lent_and_let_go(workers: int) -> None:
    alive: list[Any] = []
    source = Source(12, lambda index: {"x": tracked((64, 32), index, alive), "n": index})
    dataset = dataline.from_reader(source)
    loader = dataline.Loader(dataset, batch_size=3, num_workers=workers, epochs=2)
    batch = loader.next()
    assert batch is not None
    loader.close()  # early: what was lent for batches that nobody takes goes too
    assert [batch["x"][row].mean() for row in range(3)] == [0, 1, 2]
    dataset.read(0)  # a call that may have had something given back looks for it
    gc.collect()
    assert [one for one in alive[:-1] if one() is not None] == []


def test_a_lent_array_is_not_copied() -> None:
    shared = np.zeros((8, 2048), np.float32)

    def make(index: int) -> Any:
        shared[index - 1] = index  # of the sample before: its row is made after this call
        return shared[index]

    source = Source(8, make)
    dataset = dataline.from_reader(source)
    shared[:] = 0
    (batch,) = dataline.Loader(dataset, batch_size=8, num_workers=0)
    assert batch["data"][:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7, 0]
    small = np.zeros((8, 4), np.float32)

    def change(index: int) -> Any:
        small[index - 1] = index
        return small[index]

    source.make = lambda index: small[index]
    copied = dataline.from_reader(source)
    source.make = change
    (batch,) = dataline.Loader(copied, batch_size=8, num_workers=0)
    assert batch["data"][:, 0].tolist() == [0] * 8


def test_arrays_of_any_order_arrive() -> None:
    plain = np.arange(4 * 32 * 48, dtype=np.float64).reshape(4, 32, 48)
    for rows in (
        plain,
        plain[:, ::-1],
        plain.transpose(0, 2, 1),
        plain[:, ::2],
        np.broadcast_to(plain[:1], plain.shape),
    ):
        (batch,) = dataline.Loader(dataline.from_reader(Source(4, rows.__getitem__)), batch_size=4)
        np.testing.assert_array_equal(batch["data"], rows)


def test_a_function_that_reads_knows_its_place() -> None:
    def read(index: int, place: dataline.Place) -> Any:
        if place.slot is None:
            return {"slot": 0, "draw": 0.0}
        assert place.seed == 5
        assert place.epoch is not None
        assert not place.cancelled
        return {
            "slot": place.epoch * 100 + place.slot,
            "draw": np.random.default_rng((place.seed, place.slot)).random(),
        }

    dataset = dataline.from_reader(range(10), read=read)
    runs = [
        [
            batch
            for _ in range(2)
            for batch in dataline.Loader(dataset, batch_size=10, shuffle=True, seed=5, num_workers=n)
        ]
        for n in (0, 2)
    ]
    loader = dataline.Loader(dataset, batch_size=10, shuffle=True, seed=5, epochs=2)
    slots = [value for _ in range(2) for batch in loader for value in batch["slot"].tolist()]
    assert slots == [*range(10), *range(100, 110)]
    assert [b["draw"].tolist() for b in runs[0]] == [b["draw"].tolist() for b in runs[1]]


def test_a_slow_function_sees_that_its_loader_is_closed() -> None:
    inside = threading.Event()
    left = threading.Event()

    def read(index: int, place: dataline.Place) -> int:
        while place.slot is not None and not place.cancelled:
            inside.set()
            time.sleep(0)
        if place.slot is not None:
            left.set()
            raise RuntimeError("nobody waits")
        return index

    dataset = dataline.from_reader(range(100), read=read)
    loader = dataline.Loader(dataset, num_workers=2)
    assert inside.wait(60)
    loader.close()
    assert left.is_set()
    assert dataset.reader_errors == {}


def test_a_place_is_of_no_use_after_its_call() -> None:
    places: list[dataline.Place] = []

    def read(index: int, place: dataline.Place) -> int:
        places.append(place)
        return index

    (batch,) = dataline.Loader(dataline.from_reader(range(3), read=read), num_workers=0)
    assert batch["data"].tolist() == [0, 1, 2]
    assert [place.slot for place in places] == [None, 0, 1, 2]
    assert all(place.cancelled for place in places[1:])


def epoch(loader: dataline.Loader) -> list[dataline.Batch]:
    """What is left of it."""
    return list(iter(loader.next, None))


def raised(error: BaseException, name: str) -> bool:
    """Whether the traceback leads into a function of that name."""
    return any(frame.name == name for frame in traceback.extract_tb(error.__traceback__))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", [Source, BatchedSource])
def test_the_exception_of_a_reader_is_the_cause_of_the_loops(kind: Any, workers: int) -> None:
    dataset = dataline.from_reader(kind(16, make_with_bad))
    loader = dataline.Loader(dataset, batch_size=8, num_workers=workers, epochs=2)
    for _ in range(2):
        for index in (3, 11):
            with pytest.raises(dataline.DataError) as caught:
                epoch(loader)
            cause = caught.value.__cause__
            assert isinstance(cause, KeyError)
            assert cause.args == (f"no record {index}",)
            assert raised(cause, "make_with_bad")
        assert len(epoch(loader)) == 1


def test_the_cause_is_found_through_what_datasets_are_composed_of() -> None:
    bad = dataline.from_reader(Source(16, make_with_bad))
    good = dataline.from_arrays({"data": np.arange(20)})
    for dataset, index in (
        (bad.subset([5, 4, 11, 2]), 2),
        (bad.subset(np.arange(30)[::2][:8]).subset([1, 3]), None),
        (dataline.concat(good, bad), 23),
        (dataline.zip(a=good.subset(range(16)), b=bad), 3),
        (dataline.concat(good, bad).subset([1, 31]), 1),
    ):
        loader = dataline.Loader(dataset, batch_size=64)
        if index is None:
            assert len(list(loader)) == 1
            continue
        with pytest.raises(dataline.DataError) as caught:
            list(loader)
        assert caught.value.sample_index == index
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_reader_that_always_fails_shows_where_though_much_failed_before_the_loop_heard() -> None:
    def make(index: int) -> Any:
        try:
            return dict[str, int]()["no such key"]
        except KeyError as error:
            raise RuntimeError(f"sample {index}") from error

    source = Source(5000, lambda index: np.zeros(3))
    dataset = dataline.from_reader(source)
    source.make = make
    loader = dataline.Loader(dataset, batch_size=400, num_workers=1, prefetch_depth=8)
    while (
        loader.stats().ready_batches < 6
    ):  # far more failed than keep their frames; those that are asked for are let go
        time.sleep(0.001)
    for step in range(3):
        with pytest.raises(dataline.DataError) as caught:
            loader.next()
        cause = caught.value.__cause__
        assert isinstance(cause, RuntimeError)
        assert cause.args == (f"sample {caught.value.sample_index}",)
        assert isinstance(cause.__cause__, KeyError)
        assert raised(cause, "make") == (step == 0)
    errors = dataset.reader_errors
    assert len(errors) == 16
    while set(dataset.reader_errors) & set(errors) and max(dataset.reader_errors) < 4999:
        with contextlib.suppress(dataline.DataError):
            loader.next()  # more of them fail
    assert all(raised(error, "make") for error in errors.values())  # whoever has them may look into them


def test_a_sample_that_is_bad_for_another_reason_has_no_cause_of_long_ago() -> None:
    def too_large_or_missing(index: int) -> bytes:
        if index == 2 and missing:
            raise KeyError(index)
        return b"x" * (6 * index)

    missing = True
    fields = [dataline.Field("t", "u8", (-1,), ragged=True, nbytes=8)]
    dataset = dataline.from_reader(Source(3, too_large_or_missing), fields=fields)
    with pytest.raises(dataline.DataError, match="KeyError") as caught:
        epoch(dataline.Loader(dataset))
    assert isinstance(caught.value.__cause__, KeyError)
    missing = False
    with pytest.raises(dataline.DataError, match="12 bytes") as caught:
        epoch(dataline.Loader(dataset))
    assert caught.value.sample_index == 2
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("workers", [0, 1])
def test_what_ends_a_thread_ends_the_call_or_is_a_bad_sample(workers: int) -> None:
    def make(index: int) -> int:
        if index == 2:
            raise SystemExit("enough")
        return index

    loader = dataline.Loader(dataline.from_reader(Source(6, make)), batch_size=2, num_workers=workers)
    epoch = iter(loader)
    assert next(epoch)["data"].tolist() == [0, 1]
    with pytest.raises(dataline.DataError if workers else SystemExit, match="enough"):
        next(epoch)
    loader.seek(0, 2)
    assert [batch["data"].tolist() for batch in loader] == [[4, 5]]


def test_replace_takes_another_sample() -> None:
    dataset = dataline.from_reader(Source(16, make_with_bad))
    loader = dataline.Loader(dataset, batch_size=16, on_error="replace")
    (batch,) = loader
    values = batch["data"].tolist()
    assert values == batch.info.indices.tolist()
    assert len(values) == 16
    assert not {3, 11} & set(values)
    assert {bad.index: bad.replacement for bad in loader.bad_samples()} == {3: values[3], 11: values[11]}
    assert loader.stats().replaced == 2


def test_samples_unlike_the_first_are_bad() -> None:
    strange = {1: np.zeros(3, np.float32), 2: np.zeros(2), 3: (1, 2), 4: "text", 5: 7}
    dataset = dataline.from_reader(Source(6, lambda index: strange.get(index, np.zeros(2, np.float32))))
    loader = dataline.Loader(dataset, batch_size=1, on_error="replace", samples_per_epoch=None)
    list(loader)
    text = " ".join(bad.message for bad in loader.bad_samples())
    for expected in ("got (3,)", "expected f32, got f64", "expected an array"):
        assert expected in text
    assert sorted(bad.index for bad in loader.bad_samples()) == [1, 2, 3, 4, 5]


def test_fields_may_be_told() -> None:
    fields = [dataline.Field("v", "f32", (2,), axes="C"), dataline.Field("t", "i32", (-1, 2), ragged=True, nbytes=64)]

    def made(index: int) -> dict[str, Any]:
        return {"v": np.array([index, 1], np.float32), "t": np.zeros((index, 2), np.int32)}

    dataset = dataline.from_reader(Source(4, made), fields=fields)
    assert [(field.name, field.dtype, field.shape, field.ragged) for field in dataset.fields] == [
        ("v", "f32", (2,), False),
        ("t", "i32", (-1, 2), True),
    ]
    (batch,) = dataline.Loader(dataset)
    assert [len(rows) for rows in batch["t"]] == [0, 1, 2, 3]
    pairs = dataline.from_reader(Source(4, lambda index: tuple(made(index).values())), fields=fields)
    assert next(iter(dataline.Loader(pairs))).keys() == ("v", "t")
    with pytest.raises(ValueError, match="fields="):
        dataline.from_reader(Source(0, made))


def test_a_sample_larger_than_its_room_is_too_large() -> None:
    fields = [dataline.Field("t", "u8", (-1,), ragged=True, nbytes=8)]
    dataset = dataline.from_reader(Source(3, lambda index: b"x" * (6 * index)), fields=fields)
    loader = dataline.Loader(dataset, on_error="replace")
    list(loader)
    assert [(bad.index, bad.name) for bad in loader.bad_samples()] == [(2, "DL_ERR_TOO_LARGE")]


def test_a_fingerprint_goes_into_the_state() -> None:
    source = Source(4, lambda index: index)
    state = dataline.Loader(dataline.from_reader(source, fingerprint="one")).save_state()
    dataline.Loader(dataline.from_reader(source, fingerprint="one")).load_state(state)
    with pytest.raises(dataline.StateError):
        dataline.Loader(dataline.from_reader(source, fingerprint="two")).load_state(state)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_window_has_no_more_blocks_open_than_the_source_can_keep(workers: int) -> None:
    source = Source(400, lambda index: {"x": index})
    for ends in (list(range(10, 401, 10)), np.arange(10, 401, 10), range(10, 401, 10)):
        dataset = dataline.from_reader(source, block_ends=ends, held_blocks=4)
        loader = dataline.Loader(dataset, shuffle="window", batch_size=8, num_workers=workers, epochs=1)
        order = np.concatenate([batch["x"].copy() for batch in loader]) // 10
        assert len(order) == 400
        spans = [np.flatnonzero(order == block)[[0, -1]] for block in range(40)]
        assert max(sum(first <= at <= last for first, last in spans) for at in range(400)) <= 4


@pytest.mark.parametrize(
    ("ends", "held", "says"),
    [([10, 10, 40], 0, r"block_ends\[1\] is 10, expected 11 to 40"), ([10, 20], 0, "end at 20, record_count is 40"),
     ([50], 0, r"block_ends\[0\] is 50"), ([40], -1, "held_blocks is -1")],
)  # fmt: skip
def test_blocks_that_do_not_rise_to_the_count_are_refused(ends: Any, held: int, says: str) -> None:
    with pytest.raises(dataline.CallError, match=says):
        dataline.from_reader(Source(40, lambda index: {"x": index}), block_ends=ends, held_blocks=held)


def test_the_source_is_let_go_when_nothing_reads_it() -> None:
    source = Source(4, lambda index: index)
    alive = weakref.ref(source)
    dataset = dataline.from_reader(source)
    loader = dataline.Loader(dataset, num_workers=1)
    del source, dataset
    list(loader)
    assert alive() is not None
    loader.close()
    del loader
    assert alive() is None


def test_other_threads_run_while_a_reader_waits() -> None:
    go = threading.Event()

    def make(index: int) -> int:
        assert go.wait(60)
        return index

    source = Source(2, lambda index: index)
    dataset = dataline.from_reader(source)
    source.make = make
    loader = dataline.Loader(dataset, num_workers=1)
    waiter = threading.Thread(target=lambda: seen.extend(loader))
    seen: list[dataline.Batch] = []
    waiter.start()
    go.set()
    waiter.join()
    assert seen[0]["data"].tolist() == [0, 1]
