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
from typing import Any

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


@pytest.mark.parametrize("workers", [0, 2])
def test_threads_that_share_an_iterator_get_each_batch_of_the_epoch_once(workers: int) -> None:
    loader = loader_of(2000, batch_size=5, num_workers=workers, shuffle=True, seed=3)
    for epoch in range(10):
        shared = iter(loader)
        together = threading.Barrier(4)

        def take(_: int) -> list[int]:
            together.wait()
            return [index for batch in shared for index in batch["x"].tolist()]

        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(take, range(4)))
        assert sorted(sum(parts, [])) == list(range(2000))
        assert loader.position == (epoch + 1, 0)  # nobody took of the next
        assert list(shared) == []


def test_a_loop_that_another_one_left_behind_says_so() -> None:
    loader = loader_of(40, batch_size=10)
    seen: list[int] = []

    def nested() -> None:
        for outer in loader:
            seen.append(int(outer["x"][0]))
            seen.extend(int(inner["x"][0]) for inner in loader)

    with pytest.raises(dataline.WrongStateError, match="another one began over the same loader"):
        nested()
    assert seen == [0, 0, 10, 20, 30]
    with pytest.raises(dataline.WrongStateError, match="loop was left"):
        list(zip(loader, loader))
    first, second = iter(loader), iter(loader)
    assert len(list(second)) == 4
    with pytest.raises(dataline.WrongStateError, match="loop was left"):
        next(first)
    assert list(second) == []  # its end is no error, however often it is asked


def test_the_end_of_the_epoch_is_the_end_of_its_loop_whoever_was_told() -> None:
    loader = loader_of(40, batch_size=10)
    seen = []
    for batch in loader:
        seen += batch["x"].tolist()
        while (more := loader.next()) is not None:
            seen += more["x"].tolist()
    assert seen == list(range(40))
    assert loader.position == (1, 0)


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


def test_a_reader_cannot_loop_over_the_loader_that_asks_it() -> None:
    class Twisted:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> int:
            if loop is not None:
                next(loop)
            return index

    loop: Any = None
    loader = dataline.Loader(dataline.from_reader(Twisted()), num_workers=0)
    loop = iter(loader)
    with pytest.raises(dataline.DataError, match="already") as caught:
        next(loop)
    assert isinstance(caught.value.__cause__, dataline.WrongStateError)


def test_a_thread_that_waits_for_its_turn_can_be_ended() -> None:
    gate = threading.Event()

    class Slow:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> int:
            assert index == 0 or gate.wait(60)
            return index

    loader = dataline.Loader(dataline.from_reader(Slow()), batch_size=2, num_workers=1)
    loop = iter(loader)
    ended: list[BaseException] = []

    def take() -> None:
        try:
            next(loop)
        except dataline.Error as error:
            ended.append(error)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    loader.close()
    gate.set()
    for thread in threads:
        thread.join(60)
    assert [type(error) for error in ended] == [dataline.WrongStateError] * 3


def test_a_thread_that_waits_for_its_turn_sees_signals_and_goes_on_after_them() -> None:
    gate, inside = threading.Event(), threading.Event()

    class Slow:
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> int:
            if index == 1:
                inside.set()
                assert gate.wait(60)
            return index

    def stop(*_: object) -> None:
        raise InterruptedError("enough")

    loop = iter(dataline.Loader(dataline.from_reader(Slow()), batch_size=2, num_workers=0))
    taken: list[list[int]] = []
    taker = threading.Thread(target=lambda: taken.append(next(loop)["data"].tolist()))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        taker.start()
        assert inside.wait(60)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(InterruptedError):
            next(loop)
    finally:
        signal.signal(signal.SIGALRM, before)
    gate.set()
    taker.join()
    assert taken + [batch["data"].tolist() for batch in loop] == [[0, 1], [2, 3]]


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
