"""``python -m dataline`` is the shell: its words, its exit status, its pipes and its signals.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dataline
import dataline.__main__

pytestmark = pytest.mark.skipif(
    not dataline.__main__.PROGRAM.exists(), reason="this build is does not include the shell"
)
COMMAND = [sys.executable, "-m", "dataline"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True)


def test_it_is_the_program_of_this_version() -> None:
    done = run("version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:2] == ["dataline", dataline.__version__]


def test_a_wrong_word_is_the_programs_own_error() -> None:
    done = run("nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dataline: no command 'nosuch'")


def test_bytes_go_through_a_pipe_as_they_are(records: str) -> None:
    written = subprocess.run([*COMMAND, "cat", records], check=True, stdout=subprocess.PIPE).stdout
    assert written == Path(records[len("raw:") :].split("?")[0]).read_bytes()


def test_a_reader_that_leaves_is_no_error(records: str) -> None:
    """The same with the program itself and through Python, which ignores SIGPIPE."""
    ends = []
    for command in ([str(dataline.__main__.PROGRAM)], COMMAND):
        out, into = os.pipe()
        os.close(out)
        try:
            done = subprocess.run([*command, "cat", records], stdout=into, stderr=subprocess.PIPE, text=True)
        finally:
            os.close(into)
        ends.append((done.returncode, done.stderr))
    assert ends[0] == ends[1]
    assert "Traceback" not in ends[1][1]


def test_it_is_the_process_that_was_started_and_a_signal_ends_it(records: str) -> None:
    # Where the tests run in the background of a script, Ctrl-C is ignored, and the program would keep to that.
    words = ["env", "--default-signal=INT", *COMMAND, "cat", records, "--epochs=0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)  # it runs now
        assert os.path.realpath(f"/proc/{process.pid}/exe") == os.path.realpath(dataline.__main__.PROGRAM)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 128 + signal.SIGINT


def test_nothing_is_ignored_that_was_not_before() -> None:
    """Of what Python ignores by itself; the program then ignores SIGPIPE on its own."""
    code = (
        "import os, sys; os.execv = lambda path, words: (print(open('/proc/self/status').read()), os._exit(0));"
        "sys.argv[1:] = ['version']; import dataline.__main__ as m; m.main()"
    )
    done = subprocess.run([sys.executable, "-u", "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    ignored = int(next(line for line in done.stdout.splitlines() if line.startswith("SigIgn")).split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))


def test_a_build_without_the_program_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dataline.__main__, "PROGRAM", tmp_path / "dataline")
    before = [(one, signal.getsignal(one)) for one in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)]
    try:
        with pytest.raises(SystemExit, match="does not include the shell"):
            dataline.__main__.main()
    finally:
        for one, handler in before:
            signal.signal(one, handler)
