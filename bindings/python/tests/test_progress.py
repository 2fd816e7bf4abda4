"""Progress lines: dataline.progress on terminals of all widths, elsewhere, by rich; tqdm.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from typing import Any

import pytest

import dataline
from conftest import loader_of
from dataline import _progress

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

START = """
import array, sys, time
import dataline
dataset = dataline.from_arrays({"x": array.array("q", range(100))})
loader = dataline.Loader(dataset, batch_size=10, epochs=2, num_workers=WORKERS)
"""
CLOCK = r"(\d+:)?\d\d:\d\d"


def on_terminal(code: str, columns: int = 120, workers: int = 1, **environment: str) -> tuple[str, int]:
    """What a program shows on a terminal on standard error, and its exit status."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    more = {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environment}
    with subprocess.Popen(
        [sys.executable, "-c", START.replace("WORKERS", str(workers)) + code],
        stderr=theirs,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **more},
        cwd="/",
    ) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
    return text.decode(), process.returncode


def lines_of(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]+(?:\x1b\[K)?", text) if line]


def test_a_terminal_sees_position_rate_waiting_and_the_time_left() -> None:
    text, status = on_terminal("for batch in dataline.progress(loader, 'train'): time.sleep(0.03)")
    whole = (
        rf"train: epoch 0, step \d+ of 10: +\d+%\|[█▏▎▍▌▋▊▉ ]+\| "
        rf"\[{CLOCK}<{CLOCK}, [\d.]+( [kMG])? samples/s, waited [\d.]+ %\]"
    )
    lines = lines_of(text)
    assert status == 0
    assert len(lines) > 2
    for line in lines:
        assert re.fullmatch(whole, line), line
    assert "step 10 of 10: 100%|" in lines[-1]
    assert text.endswith("\r\n")


def test_epochs_and_what_comes_after_a_resume_are_counted_from_where_they_begin() -> None:
    code = "loader.seek(1, 7)\nfor batch in dataline.progress(loader): pass"
    lines = lines_of(on_terminal(code)[0])
    assert lines[0].startswith("epoch 1, step 8 of 10:  80%|")
    assert lines[-1].startswith("epoch 1, step 10 of 10: 100%|")
    code = "for epoch in range(3):\n  for batch in dataline.progress(loader): pass"
    lines = lines_of(on_terminal(code)[0])
    assert [line[:7] for line in lines if "100%" in line] == ["epoch 0", "epoch 1"]


def test_without_workers_nothing_is_said_of_waiting() -> None:
    text, _ = on_terminal("for batch in dataline.progress(loader): pass", workers=0)
    assert "samples/s]" in text
    assert "waited" not in text


@pytest.mark.parametrize("columns", [1, 2, 20, 40, 79, 100])
def test_it_is_never_wider_than_the_terminal(columns: int) -> None:
    text, _ = on_terminal("for batch in dataline.progress(loader): pass", columns)
    assert all(len(line) < (columns if columns > 1 else 80) for line in lines_of(text)), text


def test_what_follows_an_end_of_any_kind_stands_on_a_line_of_its_own() -> None:
    rest = "\nprint('after', file=sys.stderr)"
    for code in (
        "with dataline.progress(loader) as batches:\n  for batch in batches: break",
        "try:\n  with dataline.progress(loader) as batches:\n    for batch in batches: 1 / 0\nexcept ArithmeticError: pass",
        "shown = dataline.progress(loader)\nnext(shown)\nloader.cancel()\ntry: list(shown)\nexcept dataline.Error: pass",
        "for batch in dataline.progress(loader): break",
    ):
        text, status = on_terminal(code + rest)
        assert status == 0, text
        assert text.endswith("]\r\nafter\r\n"), (code, text)


def test_a_loop_that_failed_before_its_first_batch_shows_nothing() -> None:
    code = (
        "loader.cancel()\ntry: list(dataline.progress(loader))\nexcept dataline.Error: print('after', file=sys.stderr)"
    )
    assert on_terminal(code) == ("after\r\n", 0)


def test_nothing_is_shown_elsewhere() -> None:
    seen = io.StringIO()
    assert len(list(dataline.progress(loader_of(10, batch_size=4), file=seen))) == 3
    assert seen.getvalue() == ""
    code = "for batch in dataline.progress(loader): pass"
    assert on_terminal(code, TERM="dumb") == ("", 0)
    done = subprocess.run(
        [sys.executable, "-c", START.replace("WORKERS", "1") + code], check=True, capture_output=True, cwd="/"
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_ascii_terminals_get_a_bar_of_hashes() -> None:
    text, _ = on_terminal("for batch in dataline.progress(loader): pass", PYTHONIOENCODING="ascii")
    assert re.search(r"100%\|#+\| \[", text)
    assert text.isascii()


def test_the_batches_are_those_of_the_loader() -> None:
    plain = [batch["x"].tolist() for batch in loader_of(10, batch_size=4, shuffle=True)]
    with dataline.progress(loader_of(10, batch_size=4, shuffle=True)) as batches:
        assert len(batches) == 3
        assert [batch["x"].tolist() for batch in batches] == plain


def test_loaders_of_torch_show_progress_too() -> None:
    pytest.importorskip("torch")
    from dataline.torch import DataLoader

    seen = Terminal()
    loader = DataLoader(loader_of(10).dataset, 4)
    assert len(list(dataline.progress(loader, file=seen))) == 3
    assert "step 3 of 3: 100%" in seen.getvalue()


def test_what_is_no_loader_is_refused_by_name() -> None:
    wrong: Any = [1, 2]
    with pytest.raises(TypeError, match=r"expected a Loader, or a loader of dataline\.torch, got list"):
        dataline.progress(wrong)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_rates_follow_a_loop_that_stands_still_by_half_after_two_seconds() -> None:
    pace = _progress.Pace()
    for i in range(1, 500):
        pace.note(0.1 * i, 2.0 * i, 64.0 * i, 0.025 * i)
        assert pace.rates == pytest.approx((20, 640, 0.25))
    for i in range(1, 21):
        pace.note(49.9 + 0.1 * i, 2.0 * 499, 64.0 * 499, 0.025 * 499 + 0.1 * i)
    assert pace.rates[1] == pytest.approx(320, rel=0.02)


def test_rich_shows_it_where_it_is_asked_for() -> None:
    pytest.importorskip("rich")
    text, status = on_terminal("for batch in dataline.progress(loader, 'train', rich=True): time.sleep(0.03)")
    assert status == 0, text
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r"train: epoch 0, step 10 of 10 .*100% .*samples/s waited [\d.]+ %", plain), plain
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l") > 0, "the cursor is left hidden"


def test_without_rich_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['rich'] = None\n" + START.replace("WORKERS", "1")
    code += "try: dataline.progress(loader, rich=True)\nexcept ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd="/", text=True)
    assert done.stdout == "progress(rich=True) needs the package rich: pip install rich\n"
