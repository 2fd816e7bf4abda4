"""Waits that end before a batch is there: time-outs, other threads, Ctrl-C.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline
from conftest import loader_of, numbers


class Gated:
    """Samples that cannot be read while the gate is closed."""

    def __init__(self) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.gate.set()

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        self.entered.set()
        # In slices: Python may miss a signal that comes as it begins to wait.
        assert any(self.gate.wait(0.01) for _ in range(6000))
        return index


def gated(**options: Any) -> tuple[Gated, dataline.Loader]:
    source = Gated()
    dataset = dataline.from_reader(source)
    source.gate.clear()
    source.entered.clear()
    return source, dataline.Loader(dataset, **{"num_workers": 1, **options})


def test_a_time_out_loses_nothing() -> None:
    source, loader = gated()
    for timeout in (0, 0.001, 0.06):
        with pytest.raises(TimeoutError) as caught:
            loader.next(timeout)
        assert isinstance(caught.value, dataline.Timeout)
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            loader.next(wrong)
    source.gate.set()
    batch = loader.next(timeout=1e12)
    assert batch is not None
    assert batch["data"].tolist() == [0, 1, 2, 3]


def waiting(loader: dataline.Loader) -> tuple[threading.Thread, list[Any]]:
    """A thread that waits for a batch, and what came of it."""
    result: list[Any] = []

    def wait() -> None:
        try:
            result.append(loader.next())
        except dataline.Error as error:
            result.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread, result


def until_in_next(thread: Optional[int]) -> None:
    """Until that thread is in `Loader.next`, where it waits."""
    while (
        frame := sys._current_frames().get(thread or 0)
    ) is None or frame.f_code is not dataline.Loader.next.__code__:
        time.sleep(0.001)


def test_a_thread_that_runs_no_signal_handlers_waits_in_one_call() -> None:
    source, loader = gated()
    thread, result = waiting(loader)
    until_in_next(thread.ident)
    threading.Event().wait(0.3)  # six looks of the main thread
    assert loader.stats().waits == 0
    source.gate.set()
    thread.join()
    assert result[0]["data"].tolist() == [0, 1, 2, 3]


def test_close_from_another_thread_ends_the_wait() -> None:
    source, loader = gated()
    thread, result = waiting(loader)
    until_in_next(thread.ident)
    loader.close()
    source.gate.set()
    thread.join()
    assert isinstance(result[0], dataline.WrongStateError)
    assert loader.closed


def test_a_token_ends_opening_and_waiting_for_good(tmp_path: Path) -> None:
    token = dataline.CancelToken()
    loader = loader_of(10, cancel_token=token)
    loader.next()
    token.cancel()
    with pytest.raises(dataline.CancelledError):
        loader.next()
    loader.seek(0)
    with pytest.raises(dataline.CancelledError):
        loader.next()
    np.save(tmp_path / "x.npy", np.arange(4))
    with pytest.raises(dataline.CancelledError):
        dataline.open(tmp_path / "x.npy", cancel_token=token)
    with pytest.raises(TypeError):
        dataline.CancelToken(1)  # type: ignore[call-arg]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, also where the tests were started with it ignored: in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("workers", [0, 1])
def test_ctrl_c_ends_a_wait_soon_and_the_loader_goes_on(workers: int) -> None:
    source, loader = gated(num_workers=workers)
    began = time.monotonic()
    main = threading.get_ident()

    def interrupt() -> None:
        source.entered.wait(60)
        while workers and loader.stats().waits == 0:
            time.sleep(0.001)  # until the main thread is in its wait
        signal.pthread_kill(main, signal.SIGINT)

    other = threading.Thread(target=interrupt)

    def wait() -> None:
        other.start()
        loader.next()

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert time.monotonic() - began < 5
    other.join()
    source.gate.set()
    assert loader.position == (0, 0)
    batch = loader.next()
    assert batch is not None
    assert batch["data"].tolist() == [0, 1, 2, 3]


def ctrl_c_after(ready: Callable[[], object], *, to: Callable[[], int]) -> threading.Thread:
    """Sends it to a thread once `ready` has returned."""

    def send() -> None:
        ready()
        signal.pthread_kill(to(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("told", ["the main thread", "the other"])
def test_ctrl_c_ends_the_main_threads_wait_alone_whichever_thread_the_system_tells(told: str) -> None:
    source, loader = gated(num_workers=1)
    other, result = waiting(loader)

    def both_wait() -> None:
        until_in_next(other.ident)
        while loader.stats().waits == 0:
            time.sleep(0.001)  # until the main thread has looked for signals once

    def main_waits() -> None:
        sender = ctrl_c_after(both_wait, to=lambda: (other.ident or 0) if told == "the other" else main)
        try:
            loader.next()
        finally:
            sender.join()

    main = threading.get_ident()
    with pytest.raises(KeyboardInterrupt):
        main_waits()
    assert other.is_alive()
    assert not result
    source.gate.set()
    other.join()
    assert result[0]["data"].tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_wait_for_what_another_thread_loads_by_itself() -> None:
    source, loader = gated(num_workers=0)
    other, result = waiting(loader)
    assert source.entered.wait(60)
    main = threading.get_ident()
    rescue = threading.Timer(5, source.gate.set)
    rescue.start()

    def main_waits() -> None:
        sender = ctrl_c_after(lambda: until_in_next(main), to=lambda: main)
        try:
            loader.next()
        finally:
            sender.join()

    with pytest.raises(KeyboardInterrupt):
        main_waits()
    assert not source.gate.is_set()
    rescue.cancel()
    source.gate.set()
    other.join()
    assert result[0]["data"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("of", ["loader", "loop"])
def test_an_interrupt_between_two_looks_for_signals_is_not_lost(of: str) -> None:
    source, loader = gated()
    loop = iter(loader)
    before = sys.getswitchinterval()
    rescue = threading.Timer(20, source.gate.set)
    rescue.start()

    def interrupt() -> None:
        while loader.stats().waits == 0:
            time.sleep(0.001)  # until the main thread has looked for signals once
        sys.setswitchinterval(60)
        try:
            busy = time.monotonic()
            while time.monotonic() - busy < 0.2:
                pass  # this thread keeps Python's lock; the main thread leaves the library and waits for the lock
            (loop if of == "loop" else loader).interrupt()
        finally:
            sys.setswitchinterval(before)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(dataline.Interrupted):
        next(loop)
    other.join()
    rescue.cancel()
    source.gate.set()
    assert next(loop)["data"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("tell", "error"),
    [
        (dataline.Loader.interrupt, dataline.Interrupted),
        (dataline.Loader.cancel, dataline.CancelledError),
        (dataline.Loader.close, dataline.WrongStateError),
    ],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_an_interrupt_a_cancel_and_a_close_end_the_waits_of_threads_that_share_a_loop(
    tell: Callable[[dataline.Loader], None], error: type[Exception], workers: int
) -> None:
    source, loader = gated(num_workers=workers)
    shared = iter(loader)
    results: list[Any] = []

    def take() -> None:
        try:
            results.append(next(shared, None))
        except dataline.Error as error:
            results.append(error)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert source.entered.wait(60)
    wanted = 2 if workers else 1  # without workers one of the threads is in the reader
    tell(loader)
    deadline = time.monotonic() + 10
    while len(results) < wanted and time.monotonic() < deadline:
        time.sleep(0.01)
        if tell is dataline.Loader.interrupt:
            tell(loader)  # the first one may have come before both threads waited
    assert [type(one) for one in results] == [error] * wanted
    source.gate.set()
    for thread in threads:
        thread.join()


def test_a_loader_can_be_selected_on() -> None:
    source, loader = gated()
    assert select.select([loader], [], [], 0)[0] == []
    source.gate.set()
    assert select.select([loader], [], [], 60)[0] == [loader]
    assert loader.next(timeout=0) is not None


def test_waiting_does_not_hold_the_interpreter_lock() -> None:
    source, loader = gated()
    thread, result = waiting(loader)
    for _ in range(1000):  # would not run, or each time after a wait
        assert thread.is_alive() or result
    source.gate.set()
    thread.join()
    assert result[0]["data"].tolist() == [0, 1, 2, 3]


def test_a_reader_that_does_not_return_is_left_behind_with_a_remark() -> None:
    remarks: list[tuple[str, str]] = []
    told = threading.Event()

    def log(level: str, text: str) -> None:
        remarks.append((level, text))
        told.set()

    source, loader = gated(log=log)
    source.entered.wait(60)
    began = time.monotonic()
    loader.close()  # waits a second for it
    assert time.monotonic() - began < 30
    assert told.wait(60)
    assert [level for level, _ in remarks] == ["warning"]
    source.gate.set()


def test_what_a_native_thread_gives_back_is_let_go_on_a_python_thread() -> None:
    source, loader = gated()
    source.entered.wait(60)
    gate, alive = source.gate, weakref.ref(source)
    loader.close()  # leaves the worker in the reader, the last that holds it
    del source, loader
    assert alive() is not None
    gate.set()
    deadline = time.monotonic() + 60
    while alive() is not None and time.monotonic() < deadline:
        time.sleep(0.001)  # the interpreter looks between two lines, when the worker asked for it
    assert alive() is None


def test_a_log_function_is_let_go_with_the_last_that_was_made_with_it() -> None:
    class Log:
        def __call__(self, level: str, text: str) -> None:
            pass

    log = Log()
    alive = weakref.ref(log)
    loader = dataline.Loader(numbers(8), batch_size=4, log=log)
    batch = next(iter(loader))
    del log
    assert alive() is not None
    loader.close()
    del loader, batch
    deadline = time.monotonic() + 60
    while alive() is not None and time.monotonic() < deadline:
        time.sleep(0.001)  # given back by the library, then read by the interpreter
    assert alive() is None


def test_a_log_has_to_be_a_function() -> None:
    with pytest.raises(TypeError, match="log"):
        dataline.Loader(numbers(3), log=3)  # type: ignore[arg-type]
