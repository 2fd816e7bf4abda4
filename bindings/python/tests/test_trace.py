"""Traces: to a file, to a function, and what ends them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dataline
from conftest import loader_of

CHECK = Path(__file__).resolve().parents[3] / "tests" / "metrics" / "check_trace.py"


def check(path: Path, *flags: str) -> None:
    """The schema; nothing where there is no checkout."""
    if CHECK.exists():
        subprocess.run([sys.executable, CHECK, path, *flags], check=True, stdout=subprocess.DEVNULL)


def names(text: bytes) -> set[str]:
    return {event["name"] for event in json.loads(text)["traceEvents"]}


def test_a_trace_of_a_whole_job_has_each_batch_from_claim_to_release(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    loader = loader_of(1000, batch_size=10, num_workers=2, epochs=2, trace=path)
    for _ in range(2):
        for batch in loader:
            batch.release()
    loader.close()
    check(path, "--whole", "--least", "400")
    assert {"next", "step", "release", "x: copy", "order"} <= names(path.read_bytes())


def test_a_trace_of_a_part_ends_with_its_block(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    loader = loader_of(1000, batch_size=10, num_workers=2)
    batches = iter(loader)
    next(batches)
    with loader.trace(path):
        for _ in range(10):
            next(batches)
    whole = path.read_bytes()
    check(path)
    next(batches)
    assert path.read_bytes() == whole
    with pytest.raises(dataline.WrongStateError, match="being written"), loader.trace(path):
        loader.trace_start(tmp_path / "second.json")
    loader.trace_stop()  # without one it does nothing
    assert not (tmp_path / "second.json").exists()
    # Measurements began with the trace.
    assert any(row.name == "next" for row in loader.metrics())


def test_a_function_gets_the_same_text_on_one_thread_and_may_call_the_loader(tmp_path: Path) -> None:
    loader = loader_of(5000, batch_size=10, num_workers=2)
    pieces: list[bytes] = []
    threads = set()

    def take(text: bytes) -> None:
        pieces.append(text)
        threads.add(threading.current_thread())
        loader.stats()

    with loader.trace(take):
        for _ in loader:
            pass
    (thread,) = threads
    assert thread is not threading.current_thread()
    path = tmp_path / "trace.json"
    path.write_bytes(b"".join(pieces))
    check(path, "--least", "1000")
    count = len(pieces)
    for _ in loader:
        pass
    assert len(pieces) == count


def test_what_a_function_raises_ends_the_trace_and_is_raised_by_its_stop() -> None:
    loader = loader_of(20_000, batch_size=10, num_workers=1)

    def refuse(text: bytes) -> None:
        raise OSError(28, "full")

    loader.trace_start(refuse)
    assert sum(1 for _ in loader) == 2000  # the job goes on
    with pytest.raises(OSError, match="full"):
        loader.trace_stop()
    pieces: list[bytes] = []
    with loader.trace(pieces.append):
        next(iter(loader))
    json.loads(b"".join(pieces))


LEFT = """
import sys, dataline, array
loader = dataline.Loader(dataline.from_arrays({"x": array.array("q", range(100))}), batch_size=10)
loader.trace_start(sys.stdout.buffer.write)
for batch in loader: pass
"""


def test_a_trace_to_a_function_is_whole_when_the_loader_is_closed_dropped_or_left_to_the_end() -> None:
    closed: list[bytes] = []
    loader = loader_of(100, batch_size=10)
    loader.trace_start(closed.append)
    list(loader)
    loader.close()
    loader.trace_stop()
    json.loads(b"".join(closed))
    left = subprocess.run([sys.executable, "-c", LEFT], check=True, stdout=subprocess.PIPE).stdout
    assert "release" in names(left)
    dropped = subprocess.run([sys.executable, "-c", LEFT + "del loader, batch"], check=True, stdout=subprocess.PIPE)
    assert "release" in names(dropped.stdout)


def test_a_trace_that_cannot_begin_leaves_the_job_alone() -> None:
    loader = loader_of(20_000, batch_size=10, num_workers=1)
    with pytest.raises(dataline.Error, match="/dev/full: is a character device, expected a file"):
        loader.trace_start("/dev/full")
    pieces: list[bytes] = []
    with loader.trace(pieces.append):
        assert sum(1 for _ in loader) == 2000


LIMITED = """
import array, json, os, resource, signal, sys, dataline
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
heard = []
numbers = dataline.from_arrays({"x": array.array("q", range(20_000))})
loader = dataline.Loader(numbers, batch_size=10, num_workers=1, log=lambda level, text: heard.append((level, text)))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
before = len(os.listdir("/proc/self/fd"))
for _ in range(3):  # without a stop: the next begins anew
    loader.trace_start(sys.argv[1])
    assert sum(1 for _ in loader) == 2000
    assert 1000 < os.path.getsize(sys.argv[1]) <= 100_000
assert len(os.listdir("/proc/self/fd")) <= before + 1
try:
    loader.trace_stop()
    raise AssertionError("expected an error")
except dataline.Error as error:
    assert error.errno == 27 and sys.argv[1] in str(error), error
assert len(os.listdir("/proc/self/fd")) == before
assert [level for level, text in heard if "trace: stopped by a write error" in text] == ["warning"] * 3, heard
"""


def test_a_limit_of_file_size_ends_the_trace_with_one_warning_and_leaks_no_descriptor(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", LIMITED, tmp_path / "trace.json"], check=True)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("", dataline.CallError), ("nowhere/trace.json", dataline.NotFoundError), (".", dataline.Error)],
    ids=["empty", "missing", "folder"],
)
def test_where_no_file_can_be_made_nothing_begins(tmp_path: Path, path: str, kind: Any) -> None:
    os.chdir(tmp_path)
    loader = loader_of()
    with pytest.raises(kind, match="trace"):
        loader.trace_start(path)
    with loader.trace("trace.json"):
        list(loader)
    if path != "":  # as an option: none
        with pytest.raises(kind, match="trace"):
            loader_of(trace=path)


def test_times_are_those_of_day_at_the_start_and_go_on_by_the_monotonic_clock(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    loader = loader_of(1000, batch_size=10, num_workers=1)
    began = time.time_ns()
    with loader.trace(path):
        started = time.time_ns()
        for _ in loader:
            pass
    ended = time.time_ns()
    trace = json.loads(path.read_text())
    head = trace["otherData"]
    assert began <= int(head["realtime_ns"]) <= started
    offset_us = (int(head["realtime_ns"]) - int(head["monotonic_ns"])) / 1000
    for event in trace["traceEvents"]:
        if event["ph"] != "M":
            monotonic_us = event["ts"] - offset_us
            assert int(head["monotonic_ns"]) / 1000 - 1000 <= monotonic_us <= time.monotonic_ns() / 1000
            assert event["ts"] <= ended / 1000 + 1
