"""Forks, the end of the interpreter, other interpreters. Each in a process of its own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import dataline
from conftest import epoch_of, loader_of, numbers


def python(code: str, *, timeout: float = 60) -> str:
    """Runs a program; what it printed. It must end with 0 and have nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        timeout=timeout,
        text=True,
        cwd="/",
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_child(act: object) -> int:
    """The exit status of a forked child in which `act()` was true."""
    assert callable(act)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_loader_in_a_forked_child_says_so_and_can_be_dropped() -> None:
    loader = loader_of(100, batch_size=10)
    batch = next(iter(loader))
    array = batch["x"]

    def act() -> bool:
        for use in (loader.next, lambda: iter(loader), lambda: loader.seek(0)):
            with pytest.raises(dataline.ForkedError) as caught:
                use()
            assert caught.value.name == "DL_ERR_FORKED"
        batch.release()
        loader.close()
        return bool(array.tolist() == list(range(10)))

    assert in_child(act) == 0
    assert len(list(loader)) == 10


def test_a_dataset_works_in_a_forked_child() -> None:
    dataset = numbers(10)
    dataline.Loader(dataset, num_workers=1).next()
    wanted = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert in_child(lambda: epoch_of(dataline.Loader(dataset, batch_size=4, num_workers=1)) == wanted) == 0


def test_a_forked_child_that_ends_as_programs_do_hangs_on_nothing() -> None:
    python("""
        import dataline, numpy as np, os, sys, warnings
        loader = dataline.Loader(dataline.from_arrays({"x": np.arange(100)}), batch_size=1)
        kept = [next(iter(loader)), loader.next()]
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
        child = os.fork()
        if child == 0:
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert loader.next() is not None
    """)


def test_a_program_may_end_with_everything_in_use() -> None:
    python("""
        import dataline, numpy as np, threading
        class Source:
            def __len__(self): return 1000
            def __getitem__(self, index): return np.int64(index)
        readers = [dataline.Loader(dataline.from_reader(Source()), batch_size=8, num_workers=2) for _ in range(3)]
        loaders = [dataline.Loader(dataline.from_arrays({"x": np.arange(1000)}), num_workers=2, log=print) for _ in range(3)]
        iterators = [iter(loader) for loader in readers + loaders]
        batches = [next(iterator) for iterator in iterators]
        arrays = [value for batch in batches for value in batch.values()]
        threading.Thread(target=lambda: list(readers[0]), daemon=True).start()
        readers[1].cycle = readers[1]
    """)


@pytest.mark.parametrize("run", range(3))
def test_a_program_may_end_while_many_workers_call_python(run: int) -> None:
    """Daemon threads keep the loaders, whose workers go on until the end. One that asks for an interpreter that is being
    taken down crashes where there is no GIL to hold it up: two of three runs did."""
    python("""
        import dataline, numpy as np, threading
        class Source:
            def __len__(self): return 1_000_000
            def __getitem__(self, index): return np.int64(index)
        def use(loader):
            try:
                for batch in loader: pass
            except BaseException: pass
        for _ in range(32):
            loader = dataline.Loader(dataline.from_reader(Source()), batch_size=1, num_workers=2)
            threading.Thread(target=use, args=(loader,), daemon=True).start()
    """)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_program_may_end_while_a_reader_sleeps(workers: int) -> None:
    """The reader wakes when the interpreter is ending, which then ends the thread that asks for its lock: to unwind that
    thread through the library would end the process by abort."""
    python(f"""
        import dataline, sys, threading, time
        entered = threading.Event()
        class Source:
            ready = False
            def __len__(self): return 10
            def __getitem__(self, index):
                if Source.ready:
                    entered.set()
                    time.sleep(1.5)  # longer than closing waits
                Source.ready = True
                return index
        class Slow:
            def __init__(self): self.sleep = time.sleep
            def __del__(self): self.sleep(2.5)
        sys.slow = Slow()  # goes when the interpreter does
        loader = dataline.Loader(dataline.from_reader(Source()), num_workers={workers})
        if {workers} == 0:
            threading.Thread(target=loader.next, daemon=True).start()
        entered.wait()
    """)


def test_an_array_lent_may_be_given_back_after_the_interpreter() -> None:
    # The batch is held by a NumPy array that is never freed; the dataset's memory is still lent then.
    python("""
        import dataline, numpy as np, ctypes, sys
        values = np.arange(100)
        loader = dataline.Loader(dataline.from_arrays({"x": values}), batch_size=100)
        array = next(iter(loader))["x"]
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    """)


def test_only_the_main_interpreter_may_load_it() -> None:
    pytest.importorskip("_xxsubinterpreters")
    python("""
        import _xxsubinterpreters as interpreters, sys
        made = interpreters.create()
        interpreters.run_string(made, f'''if True:
            import sys
            sys.path[:] = {sys.path!r}
            try:
                import dataline
            except ImportError as error:
                assert "main interpreter" in str(error) or "subinterpreters" in str(error), error
            else:
                raise AssertionError("it loaded")
            ''')
        interpreters.destroy(made)
    """)


def test_ctrl_c_from_outside_ends_a_program_in_a_wait() -> None:
    code = """
        import dataline, signal, threading, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored from the start: in the background
        class Source:
            ready = False
            def __len__(self): return 10
            def __getitem__(self, index):
                if Source.ready:
                    print("waiting", flush=True)
                    threading.Event().wait()
                Source.ready = True
                return index
        try:
            list(dataline.Loader(dataline.from_reader(Source()), num_workers=1))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd="/"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(2)
    assert process.stdout.readline() == "interrupted\n"
    assert process.wait(30) == 0
    process.stdout.close()


def test_a_child_that_a_thread_forked_handles_signals_while_it_waits() -> None:
    python("""
        import dataline, os, signal, threading, warnings
        class Source:
            blocks = False
            def __len__(self): return 1
            def __getitem__(self, index):
                if Source.blocks:
                    threading.Event().wait()
                return index
        dataset = dataline.from_reader(Source())
        def stop(*_):
            os._exit(7)
        def fork():
            child = os.fork()
            if child == 0:
                Source.blocks = True
                signal.signal(signal.SIGALRM, stop)  # the thread that forked is the main one here
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                dataline.Loader(dataset, num_workers=1).next()
                os._exit(1)
            statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
        statuses = []
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
        assert statuses == [7], statuses
    """)


def test_it_imports_and_runs_without_numpy() -> None:
    python("""
        import sys
        sys.modules["numpy"] = None
        import array, dataline
        loader = dataline.Loader(dataline.from_arrays({"x": array.array("i", range(5))}), batch_size=2)
        tensors = [batch.tensor("x") for batch in loader]
        assert [memoryview(tensor).tolist() for tensor in tensors] == [[0, 1], [2, 3], [4]]
        try:
            next(iter(loader))["x"]
        except ImportError as error:
            assert "batch.tensor" in str(error)
        else:
            raise AssertionError
    """)


def test_importing_it_imports_neither_numpy_nor_torch() -> None:
    assert python("import dataline, sys; print(*({'numpy', 'torch'} & set(sys.modules)))") == "\n"
