"""Threads that use one object at the same moment. In a free-threaded Python no lock keeps them apart.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import sysconfig
import threading

import pytest

import dataline
from test_threads import run_alone

free_threaded = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a lock")

AT_ONCE = """
import threading
import dataline, numpy as np

class Together:
    '''Threads that make one call each at the same moment, round after round.'''
    def __init__(self, width):
        self.barrier, self.calls, self.wrong = threading.Barrier(width + 1), [None] * width, []
        self.threads = [threading.Thread(target=self.run, args=(at,)) for at in range(width)]
        for one in self.threads:
            one.start()

    def run(self, at):
        while True:
            self.barrier.wait()
            if self.calls[at] is None:
                return
            try:
                self.calls[at]()
            except (dataline.WrongStateError, dataline.CancelledError, dataline.Interrupted):
                pass
            except BaseException as error:
                self.wrong.append(error)
            self.barrier.wait()

    def call(self, *calls):
        self.calls[:] = calls
        self.barrier.wait()
        self.barrier.wait()

    def end(self):
        self.calls[:] = [None] * len(self.calls)
        self.barrier.wait()
        for one in self.threads:
            one.join()
        assert not self.wrong, self.wrong
"""


def test_a_batch_is_released_once_and_what_reads_it_meanwhile_gets_all_or_an_error() -> None:
    # Beyond max_leases batches are copies, which the library frees: a second release of one ends the process.
    run_alone(f"""{AT_ONCE}
words = dataline.Ragged(np.arange(64), np.arange(0, 65, 2))
loader = dataline.Loader(dataline.from_arrays({{"words": words, "x": np.arange(32)}}), batch_size=4, max_leases=1)
held = loader.next()
together = Together(6)
reads = [lambda b: b.items(), lambda b: b.info.indices.tolist(), lambda b: b["words"][0], lambda b: repr(b),
         lambda b: b.tensors()[0].offsets.tolist(), lambda b: b.tensor("x").tobytes(), lambda b: b.values(), len]
for round in range(1000):
    batch = loader.next()
    if batch is not None:
        a, b, c = (reads[(round + at) % len(reads)] for at in range(3))
        together.call(batch.release, batch.release, batch.release, lambda: a(batch), lambda: b(batch), lambda: c(batch))
together.end()
held.release()
assert loader.stats().leases_held == 0
""")


def test_threads_that_release_the_same_batches_neck_and_neck_release_each_once() -> None:
    # Who is ahead does the work, and so the others catch up with it: they meet at nearly every batch.
    run_alone("""
import threading
import dataline, numpy as np
loader = dataline.Loader(dataline.from_arrays({"x": np.arange(64)}), batch_size=1, max_leases=1)
held = loader.next()
for turn in range(20):
    batches = [batch for _ in range(30) for batch in loader]
    ready = []
    def release(ask):
        ready.append(True)
        while len(ready) < 3:
            pass
        for batch in batches:
            ask(batch)
            batch.release()
    threads = [threading.Thread(target=release, args=(ask,)) for ask in (id, id, repr)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert loader.stats().leases_held == 1, loader.stats()
""")


def test_a_loader_is_closed_once_beside_its_other_calls() -> None:
    run_alone(f"""{AT_ONCE}
dataset = dataline.from_arrays({{"x": np.arange(40)}})
together = Together(8)
for round in range(200):
    loader = dataline.Loader(dataset, batch_size=2, num_workers=round % 3)
    loop = iter(loader)
    together.call(loader.close, loader.close, lambda: list(loop), lambda: list(loader), lambda: loader.position,
                  lambda: (len(loader), loader.stats(), loader.fields), loader.cancel, loader.interrupt)
    assert loader.closed
together.end()
""")


def test_a_dataset_is_closed_once_beside_its_other_calls() -> None:
    run_alone(f"""{AT_ONCE}
together = Together(7)
for round in range(300):
    dataset = dataline.from_arrays({{"x": np.arange(40)}})
    together.call(dataset.close, dataset.close, lambda: (len(dataset), dataset.fields), lambda: dataset.subset([1, 0]),
                  lambda: dataline.concat(dataset, dataset), lambda: dataline.zip(a=dataset, b=dataset),
                  lambda: list(dataline.Loader(dataset)))
    assert dataset.closed
together.end()
""")


def test_a_capsule_is_taken_once() -> None:
    run_alone(f"""{AT_ONCE}
class Lender:
    def __init__(self, capsule):
        self.capsule = capsule
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, max_version=None):
        return self.capsule
taken = []
def take(lender):
    try:
        taken.append(dataline.from_arrays({{"x": lender}}))
    except ValueError:
        pass
together = Together(4)
for round in range(500):
    lender = Lender(np.arange(4).__dlpack__())
    together.call(*[lambda: take(lender)] * 4)
together.end()
assert len(taken) == 500
""")


def test_loops_that_begin_at_once_are_an_epoch_each_or_raise() -> None:
    run_alone(f"""{AT_ONCE}
loader = dataline.Loader(dataline.from_arrays({{"x": np.arange(20)}}), batch_size=2)
together = Together(4)
for round in range(300):
    found = []
    def loop():
        mine = [index for batch in loader for index in batch["x"].tolist()]
        found.append(mine)
    together.call(loop, loop, loop, loop)
    assert all(mine == list(range(20)) for mine in found)
    together.call(*[lambda: found.append(next(iter(loader)))] * 4)
together.end()
""")


def test_a_loop_is_shared_dropped_and_interrupted_at_once_and_its_loader_closed() -> None:
    run_alone(f"""{AT_ONCE}
dataset = dataline.from_arrays({{"x": np.arange(40)}})
together = Together(6)
for round in range(300):
    loader = dataline.Loader(dataset, batch_size=2, num_workers=round % 2)
    loops = [iter(loader)]
    take = lambda: [list(loop) for loop in loops[:]]
    together.call(take, take, loops.clear, lambda: [loop.interrupt() for loop in loops[:]],
                  lambda: loops.append(iter(loader)), loader.close if round % 3 == 0 else take)
together.end()
""")


def test_the_interpreter_ends_beside_threads_that_loop_and_close() -> None:
    for _ in range(3):
        run_alone(f"""{AT_ONCE}
import itertools
dataset = dataline.from_arrays({{"x": np.arange(40)}})
loaders = [dataline.Loader(dataset, batch_size=2, num_workers=1) for _ in range(3)]
def work(at):
    for turn in itertools.count():
        try:
            list(loaders[at])
            if turn % 7 == at:
                loaders[at].close()
                loaders[at] = dataline.Loader(dataset, num_workers=at)
        except dataline.WrongStateError:
            pass
for at in range(3):
    threading.Thread(target=work, args=(at,), daemon=True).start()
threading.Event().wait(0.2)
""")


@free_threaded
def test_the_package_does_not_turn_the_lock_on() -> None:
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined,unused-ignore]  # from 3.13 on


@free_threaded
def test_readers_run_at_the_same_time() -> None:
    inside: set[int] = set()

    class Busy:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> int:
            if threading.current_thread() is threading.main_thread():
                return index  # looked at to know what samples are like
            inside.add(index)
            while len(inside) < 2:  # never waits, so with a lock the other would not come in
                pass
            return index

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        loader = dataline.Loader(dataline.from_reader(Busy()), batch_size=1, num_workers=2)
        assert [batch["data"].tolist() for batch in loader] == [[0], [1]]
    finally:
        sys.setswitchinterval(interval)
