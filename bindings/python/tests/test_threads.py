"""Several threads at one object: nothing crashes, and each batch goes to one of them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dataline
from conftest import loader_of, numbers


def run_alone(code: str, **environment: str) -> str:
    """In a process of its own, whose end by a signal is a failure here. Freed memory is overwritten there."""
    found = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONMALLOC": "debug", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 0, f"ended with {found.returncode}: {found.stderr[-2000:]}"
    return found.stdout


def test_what_a_batch_is_asked_for_is_whole_though_another_releases_it_meanwhile() -> None:
    # The package's own Python code between two fields is where another thread gets its turn; here it takes it each time.
    run_alone("""
        import dataline, dataline._numpy, numpy as np
        ragged = dataline._numpy.ragged
        def and_release(data, offsets):
            batch.release()
            return ragged(data, offsets)
        dataline._numpy.ragged = and_release
        words = dataline.Ragged(np.arange(6), [0, 1, 6])
        dataset = dataline.from_arrays({"words": words, "x": np.arange(2), "y": np.arange(2) * 2})
        loader = dataline.Loader(dataset, max_leases=1)
        for ask in (lambda: dict(batch.items()), lambda: dict(zip("words x y".split(), batch.values())),
                    lambda: {"words": batch["words"], "x": np.arange(2)}, lambda: {"words": batch.get("words")}):
            for batch in loader:
                found = ask()
                assert found["words"].data.tolist() == [0, 1, 2, 3, 4, 5]
                assert "x" not in found or found["x"].tolist() == [0, 1]
                for gone in (batch.keys, batch.items, lambda: batch.info, lambda: batch["x"]):
                    try:
                        gone()
                        raise SystemExit("expected an error")
                    except dataline.WrongStateError as error:
                        assert "released" in str(error)
                assert "released" in repr(batch)
    """)


def test_objects_that_are_collected_in_the_middle_may_release_and_close() -> None:
    # Making a tuple may start the collector, which runs finalizers: with this threshold it does so nearly each time.
    run_alone("""
        import gc, pathlib, tempfile
        import dataline, numpy as np
        class Finally:
            def __init__(self, what):
                self.what, self.me = what, self
            def __del__(self):
                self.what()
        folder = pathlib.Path(tempfile.mkdtemp())
        for name in "abc":
            (folder / name).mkdir()
            (folder / name / "0.png").write_bytes(b"not looked at")
        lent = dataline.from_arrays({"x": np.arange(4), "y": np.arange(4)})
        loader = dataline.Loader(lent, batch_size=1)
        asked = 0
        for ask in (lambda batch: batch.items(), lambda batch: batch.values(), lambda batch: batch.tensors(),
                    lambda batch: batch.info, lambda batch: batch.keys(), repr, list, lambda batch: batch["x"]):
            for threshold in (1, 2, 3, 4, 5, 7, 9):
                for batch in loader:
                    Finally(batch.release)
                    gc.set_threshold(threshold)
                    try:
                        ask(batch)
                        asked += 1
                    except dataline.WrongStateError:
                        pass
                    gc.set_threshold(700)
        for ask in (lambda one: one.fields, lambda one: one.classes, lambda one: one.notes, lambda one: one.uri, repr):
            for threshold in (1, 2, 3, 4, 5, 7, 9):
                dataset = dataline.open(folder)
                Finally(dataset.close)
                gc.set_threshold(threshold)
                try:
                    ask(dataset)
                    asked += 1
                except dataline.WrongStateError:
                    pass
                gc.set_threshold(700)
        assert asked > 0
    """)


def test_threads_that_read_and_release_the_same_batches_get_all_of_it_or_an_error() -> None:
    run_alone("""
        import random, sys, threading
        import dataline, numpy as np
        sys.setswitchinterval(1e-6)
        words = dataline.Ragged(np.arange(64), np.arange(0, 65, 2))
        dataset = dataline.from_arrays({"words": words, "x": np.arange(32), "y": np.arange(32)})
        loader = dataline.Loader(dataset, batch_size=4, max_leases=2)
        asks = [lambda b: b.items(), lambda b: b.info.indices.tolist(), lambda b: b.values(), lambda b: b["words"][0],
                lambda b: b.tensors()[0].offsets.tolist(), lambda b: repr(b), lambda b: list(b), lambda b: "x" in b,
                lambda b: len(b), lambda b: b.tensor("x").tobytes(), lambda b: b.get("z"), lambda b: b.wait()]
        shared = [next(iter(loader))]
        wrong = []
        def ask(seed):
            draw = random.Random(seed)
            while len(shared) < 600:
                batch = shared[-1]
                try:
                    draw.choice(asks)(batch)
                except dataline.WrongStateError:
                    pass
                except BaseException as error:
                    wrong.append(error)
                    return
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
        for one in threads:
            one.start()
        while len(shared) < 600:
            for batch in loader:
                shared.append(batch)
                if len(shared) > 1:
                    shared[-2].release()
        for one in threads:
            one.join()
        assert not wrong, wrong
    """)


def test_threads_that_loop_over_one_loader_each_by_themselves_lose_nothing_in_silence() -> None:
    loader = loader_of(4000, batch_size=4, num_workers=1)
    errors: list[Exception] = []
    found: list[int] = []

    def loop(seed: int) -> None:
        try:
            mine = [index for batch in loader for index in batch["x"].tolist()]
        except dataline.WrongStateError as error:
            errors.append(error)
        else:
            found.extend(mine)

    threads = [threading.Thread(target=loop, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Those that were left behind heard of it; who ended without an error has whole epochs.
    assert len(found) == 4000 * (3 - len(errors))
    assert sorted(found) == sorted(list(range(4000)) * (3 - len(errors)))


class Calls:
    """Samples of their own index; before sample `at` something is called, once."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.at, self.act = at, act
        self.calls = False

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == self.at and self.calls:
            self.calls = False
            self.act()
        return index


def loop_over(source: Calls) -> dataline.Epoch:
    loader = dataline.Loader(dataline.from_reader(source), batch_size=2, num_workers=0)
    source.calls = True
    return iter(loader)


@pytest.mark.parametrize("by", ["a reader", "a signal handler", "the reader of a loader that the reader uses"])
def test_python_code_cannot_take_a_batch_of_the_loader_whose_batch_its_thread_takes(by: str) -> None:
    inner = loop_over(Calls(0, lambda: next(loop)))
    acts: dict[str, Callable[[], object]] = {
        "a reader": lambda: next(loop),
        "a signal handler": lambda: signal.raise_signal(signal.SIGALRM),
        "the reader of a loader that the reader uses": lambda: next(inner),
    }
    loop = loop_over(Calls(3, acts[by]))
    assert next(loop)["data"].tolist() == [0, 1]
    before = signal.signal(signal.SIGALRM, lambda *_: next(loop))
    try:
        with pytest.raises(dataline.DataError, match="filling a batch of this loader") as caught:
            next(loop)
    finally:
        signal.signal(signal.SIGALRM, before)
    cause = caught.value.__cause__
    if by.startswith("the reader"):
        assert isinstance(cause, dataline.DataError)
        cause = cause.__cause__
    assert isinstance(cause, dataline.WrongStateError)
    assert next(loop)["data"].tolist() == [2]
    assert next(loop)["data"].tolist() == [4, 5]


def test_a_reader_may_take_batches_of_another_loader() -> None:
    inner = loop_over(Calls(0, lambda: None))
    taken: list[list[int]] = []
    loop = loop_over(Calls(3, lambda: taken.append(next(inner)["data"].tolist())))
    assert [batch["data"].tolist() for batch in loop] == [[0, 1], [2, 3], [4, 5]]
    assert taken == [[0, 1]]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_exception_of_the_program_that_leaves_a_reader_costs_no_batch(kind: type[BaseException]) -> None:
    inner = loop_over(Calls(0, lambda: None))

    def act() -> None:
        next(inner)  # which is over when the exception comes
        raise kind

    source = Calls(3, act)
    loader = dataline.Loader(dataline.from_reader(source), batch_size=2, num_workers=0)
    source.calls = True
    loop = iter(loader)
    assert next(loop)["data"].tolist() == [0, 1]
    with pytest.raises(kind):
        next(loop)
    assert loader.position == (0, 1)
    assert [batch["data"].tolist() for batch in loop] == [[2, 3], [4, 5]]
    assert loader.bad_samples() == []


def test_a_signal_handler_may_take_a_batch_of_the_loop_whose_wait_it_interrupts() -> None:
    gate = threading.Event()
    source = Calls(0, lambda: gate.wait(60))
    dataset = dataline.from_reader(source)
    source.calls = True
    loop = iter(dataline.Loader(dataset, batch_size=2, num_workers=1))
    taken: list[list[int]] = []

    def take(*_: object) -> None:
        gate.set()
        taken.append(next(loop)["data"].tolist())

    before = signal.signal(signal.SIGALRM, take)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        taken.append(next(loop)["data"].tolist())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert taken + [batch["data"].tolist() for batch in loop] == [[0, 1], [2, 3], [4, 5]]


def test_a_child_of_a_process_whose_threads_loop_hears_that_the_loader_is_not_its_own() -> None:
    run_alone(
        """
        import os, threading, dataline
        gate, inside = threading.Event(), threading.Event()
        class Slow:
            def __len__(self):
                return 2
            def __getitem__(self, index):
                if threading.current_thread() is not threading.main_thread():
                    inside.set()
                    gate.wait(60)
                return index
        loader = dataline.Loader(dataline.from_reader(Slow()), num_workers=0)
        taker = threading.Thread(target=lambda: list(loader))
        taker.start()
        inside.wait(60)
        child = os.fork()
        if child == 0:
            try:
                iter(loader)
            except dataline.ForkedError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        gate.set()
        taker.join()
    """
    )


def test_datasets_are_asked_and_closed_by_threads_at_once() -> None:
    values = np.arange(30)

    def hammer(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(300):
            try:
                one = shared[draw.randrange(len(shared))]
                asks: list[Callable[[], object]] = [
                    lambda: one.fields,
                    lambda: len(one),
                    lambda: one.notes,
                    lambda: one.close(),
                    lambda: shared.append(one.subset([1, 0])),
                    lambda: shared.append(dataline.concat(one, numbers(3))),
                    lambda: list(dataline.Loader(one, batch_size=9)),
                ]
                draw.choice(asks)()
            except dataline.WrongStateError:
                shared.append(dataline.from_arrays({"x": values}))

    shared = [numbers(30)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(hammer, range(3)))
