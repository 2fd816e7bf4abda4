"""Commands that the proof runs: output in a log, a time limit, wall and CPU seconds, and no process left behind.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

_live = set()
_lock = threading.Lock()


@dataclasses.dataclass
class Done:
    status: int
    wall: float
    cpu: float
    log: pathlib.Path
    timed_out: bool = False

    def tail(self, lines=40):
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]


def _end(group, number=signal.SIGKILL):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def stop_all(number, _frame):
    """On SIGINT and SIGTERM: ends what runs, then this process. Nothing of an unfinished part is stored."""
    with _lock:
        groups = list(_live)
    for group in groups:
        _end(group, signal.SIGTERM)
    sys.stdout.flush()
    os._exit(128 + number)


def run(words, log, environment, folder, seconds=3600):
    """Runs a command in a process group of its own; its output goes to `log`. The group is killed after `seconds`."""
    log = pathlib.Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    began, late = time.monotonic(), threading.Event()
    with open(log, "wb") as out:
        try:
            child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                     env=environment, cwd=folder, start_new_session=True)
        except OSError as error:
            out.write(f"{words[0]}: {error.strerror}\n".encode())
            return Done(127, 0.0, 0.0, log)
    with _lock:
        _live.add(child.pid)

    def expire():
        late.set()
        _end(child.pid)

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    with _lock:
        _live.discard(child.pid)
    if late.is_set():
        with open(log, "ab") as out:
            out.write(f"\nstopped after {seconds} s\n".encode())
    return Done(child.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime, log, late.is_set())
