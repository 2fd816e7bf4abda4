"""What runs beside a case while doctor measures it. Each is a context manager that is given the folder of the data, and
gives the words to run doctor under, if any.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import subprocess
import sys
import threading
import time


class Skip(Exception):
    """This machine cannot have that case."""


@contextlib.contextmanager
def nothing(_folder):
    yield []


@contextlib.contextmanager
def one_cpu(_folder):
    yield ["taskset", "-c", str(min(os.sched_getaffinity(0)))]


@contextlib.contextmanager
def busy_cpus(_folder):
    """Two programs a CPU that do nothing but use it."""
    spin = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(spin) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        yield []
    finally:
        for program in programs:
            program.kill()
            program.wait()


@contextlib.contextmanager
def repeated(action):
    """`action` again and again in a thread."""
    ended = threading.Event()

    def work():
        while not ended.is_set():
            action()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield []
    finally:
        ended.set()
        thread.join()


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold(folder):
    """The rows are dropped from the page cache again and again: whoever reads them reads the disk."""
    rows = os.path.join(folder, "rows.npy")
    os.sync()

    def action():
        forget(rows)
        time.sleep(0.005)

    return repeated(action)


@contextlib.contextmanager
def cold_and_synced(folder):
    """The same, and another program writes to that disk and waits for it."""
    path = os.path.join(folder, "written")

    def action():
        with open(path, "wb") as file:
            file.write(bytes(4 << 20))
            os.fsync(file.fileno())

    with cold(folder), repeated(action):
        yield []


HALF = "50000"  # microseconds of each 100,000


def groups():
    """(files to set up, file to join) of a new cgroup with half a CPU, of version 2 or 1."""
    yield "/sys/fs/cgroup/dataline-plant", {"cpu.max": HALF + " 100000"}
    yield "/sys/fs/cgroup/cpu/dataline-plant", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": HALF}


@contextlib.contextmanager
def half_a_cpu(_folder):
    for group, limits in groups():
        try:
            os.makedirs(group, exist_ok=True)
            for name, text in limits.items():
                if not os.path.exists(os.path.join(group, name)):
                    raise OSError
                with open(os.path.join(group, name), "w", encoding="ascii") as file:
                    file.write(text)
        except OSError:
            with contextlib.suppress(OSError):
                os.rmdir(group)
            continue
        try:
            yield ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
        finally:
            os.rmdir(group)
        return
    raise Skip("no cgroup with a quota can be made here")
