"""A progress line for loops over a loader.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any, Generic, Optional, Protocol, TextIO, TypeVar

from .loader import Loader

__all__ = ["Progress", "progress"]

_T_co = TypeVar("_T_co", covariant=True)

INTERVAL = 0.1  # seconds between lines
HALF_LIFE = 2.0  # seconds after which what was delivered counts half in a rate
LEAST_BAR, MOST_BAR = 4, 40  # cells
MOST_SECONDS = 359_999  # 99:59:59
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


class Loop(Protocol[_T_co]):
    """A Loader, or a loader of ``dataline.torch``."""

    def __iter__(self) -> Iterator[_T_co]: ...
    def __len__(self) -> int: ...


class Progress(Generic[_T_co]):
    """An epoch that shows its progress; see ``progress``."""

    def __init__(self, loop: Loop[_T_co], shown: Shown) -> None:
        loader = getattr(loop, "loader", loop)
        if not isinstance(loader, Loader):
            raise TypeError(f"progress: expected a Loader, or a loader of dataline.torch, got {type(loop).__name__}")
        self._loader = loader
        self._shown = shown
        self._steps: Optional[int] = len(loop)
        self._batches = iter(loop)
        self._pace = Pace()
        self._epoch = self._first = 0  # where the loop began, known with its first batch
        before = loader.stats()
        self._before, self._began = (before.samples, before.wait_ns), time.monotonic()
        self._waits = before.num_workers > 0
        self._done, self._due, self._open = 0, 0.0, True

    def __iter__(self) -> Progress[_T_co]:
        return self

    def __next__(self) -> _T_co:
        try:
            batch = next(self._batches)
        except BaseException:  # the end, an error, Ctrl-C: what follows stands on a line of its own
            self.close()
            raise
        self._done += 1
        if self._done == 1:
            self._epoch, here = self._loader.position
            self._first = here - 1
        now = time.monotonic()
        if now >= self._due:
            self._due = now + INTERVAL
            self._show(now)
        return batch

    def __len__(self) -> int:
        return self._steps or 0

    def __enter__(self) -> Progress[_T_co]:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self.close()

    def close(self) -> None:
        """Draws the last state and ends the line. The loader continues as after a ``break``."""
        if not self._open:
            return
        self._open = False
        if self._done > 0 and not self._loader.closed:
            self._show(time.monotonic())
        self._shown.end()

    def _show(self, now: float) -> None:
        if not self._shown.live:
            return
        stats = self._loader.stats()
        elapsed = now - self._began
        self._pace.note(elapsed, self._done, stats.samples - self._before[0], (stats.wait_ns - self._before[1]) * 1e-9)
        steps, samples, waited = self._pace.rates
        here = self._first + self._done
        left = None if not self._steps or steps <= 0 else max(0, self._steps - here) / steps
        self._shown.draw(Point(self._epoch, here, self._steps, elapsed, left, samples, waited if self._waits else None))


class Point:
    """The position in an epoch; None: unknown."""

    def __init__(
        self,
        epoch: int,
        step: int,
        steps: Optional[int],
        elapsed: float,
        left: Optional[float],
        samples_per_s: float,
        waited: Optional[float],
    ) -> None:
        self.epoch, self.step, self.steps = epoch, step, steps
        self.elapsed, self.left = elapsed, left
        self.rate = f"{scaled(samples_per_s)} samples/s"
        self.waited = None if waited is None else f"waited {100 * waited:.1f} %"
        self.position = f"epoch {epoch:,}, step {step:,}" + (f" of {steps:,}" if steps else "")
        self.done = min(1.0, step / steps) if steps else None


class Pace:
    """Current rates: older values have less weight, half of it after HALF_LIFE."""

    def __init__(self) -> None:
        self._last = (0.0, 0.0, 0.0, 0.0)
        self._sums = (0.0, 0.0, 0.0, 0.0)  # weighted; the first: the sum of the weights' own

    def note(self, seconds: float, steps: float, samples: float, waited: float) -> None:
        now = (seconds, steps, samples, waited)
        passed = seconds - self._last[0]
        if passed <= 0:
            return
        kept = 2.0 ** (-passed / HALF_LIFE)
        a, b, c, d = (old * kept + (new - last) for old, new, last in zip(self._sums, now, self._last))
        self._sums, self._last = (a, b, c, d), now

    @property
    def rates(self) -> tuple[float, float, float]:
        """Steps per second, samples per second, the share of the time spent waiting."""
        seconds, steps, samples, waited = self._sums
        if seconds <= 0:
            return 0.0, 0.0, 0.0
        return steps / seconds, samples / seconds, min(1.0, max(0.0, waited / seconds))


def scaled(value: float) -> str:
    """834, 12.3 k, 6.91 M"""
    unit = 0
    while value >= 999.5 and unit < 3:
        value, unit = value / 1000, unit + 1
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}" + ("", " k", " M", " G")[unit]


def clock(seconds: Optional[float]) -> str:
    if seconds is None or not 0 <= seconds <= MOST_SECONDS:
        return "?"
    whole = int(seconds + 0.5)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:02}:{whole % 60:02}"


def bar(done: float, cells: int, utf8: bool) -> str:
    eighths = int(done * cells * 8)
    full = ("█" if utf8 else "#") * (eighths // 8) + (EIGHTHS[eighths % 8] if utf8 else "")
    return full.ljust(cells)


def line(label: str, point: Point, columns: int, utf8: bool) -> str:
    """At most ``columns`` wide: on a narrow terminal the bar is dropped first, then the last items."""
    items = [clock(point.elapsed) + (f"<{clock(point.left)}" if point.steps else ""), point.rate]
    if point.waited is not None:
        items.append(point.waited)
    head = (f"{label}: " if label else "") + point.position
    if point.done is not None:
        head += f": {int(100 * point.done):3}%"

    def tail(count: int) -> str:
        return f" [{', '.join(items[:count])}]" if count else ""

    shown = len(items)
    while shown and len(head) + len(tail(shown)) > columns:
        shown -= 1
    room = min(MOST_BAR, columns - len(head) - len(tail(shown)) - 2)
    cells = ""
    if point.done is not None and shown == len(items) and room >= LEAST_BAR:
        cells = f"|{bar(point.done, room, utf8)}|"
    return (head + cells + tail(shown))[:columns]


class Shown(Protocol):
    """A display of the progress."""

    live: bool  # whether it is seen at all

    def draw(self, point: Point) -> None: ...
    def end(self) -> None: ...


class Line:
    """A line on a terminal that can rewrite it; nothing elsewhere."""

    def __init__(self, label: str, file: TextIO) -> None:
        self._label, self._file, self._drawn = label, file, False
        self.live = file.isatty() and os.environ.get("TERM") != "dumb"
        self._utf8 = (getattr(file, "encoding", None) or "").lower().replace("-", "") == "utf8"

    def _columns(self) -> int:
        try:
            columns = os.get_terminal_size(self._file.fileno()).columns
        except (OSError, ValueError):  # a terminal that has no descriptor
            columns = 0
        return (
            columns if columns > 1 else 80
        ) - 1  # some terminals go to the next line when the last column is written

    def draw(self, point: Point) -> None:
        self._file.write("\r\x1b[K" + line(self._label, point, self._columns(), self._utf8))
        self._file.flush()
        self._drawn = True

    def end(self) -> None:
        if self._drawn:
            self._file.write("\n")
            self._file.flush()
        self._drawn = False


class Rich:
    """A progress display of the package rich: on a terminal, or as a widget in a notebook."""

    live = True

    def __init__(self, label: str) -> None:
        try:
            from rich import console
            from rich import progress as parts
        except ImportError as error:
            raise ImportError("progress(rich=True) needs the package rich: pip install rich", name="rich") from error
        self._label = label
        self._display = parts.Progress(
            parts.TextColumn("{task.description}", markup=False),
            parts.BarColumn(),
            parts.TaskProgressColumn(),
            parts.TimeElapsedColumn(),
            parts.TimeRemainingColumn(),
            parts.TextColumn("{task.fields[rate]}"),
            parts.TextColumn("{task.fields[waited]}"),
            console=console.Console(stderr=True),
        )
        self._task: Optional[Any] = None

    def draw(self, point: Point) -> None:
        text = (f"{self._label}: " if self._label else "") + point.position
        fields = {"completed": point.step, "total": point.steps, "rate": point.rate, "waited": point.waited or ""}
        if self._task is None:
            self._display.start()
            self._task = self._display.add_task(text, **fields)
        else:
            self._display.update(self._task, description=text, **fields)

    def end(self) -> None:
        if self._task is not None:
            self._display.stop()
        self._task = None


def progress(
    loop: Loop[_T_co], label: str = "", *, rich: bool = False, file: Optional[TextIO] = None
) -> Progress[_T_co]:
    """``for batch in progress(loader)`` is an epoch that shows its progress, as the shell does:

        epoch 0, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %]

    Position; share of the epoch; elapsed time < remaining time; rate; share of the time in which the loop waited for
    data. The last is not shown without workers, because ``next`` then loads. The line is drawn at most ten times per
    second on ``file`` (standard error) if that is a terminal; otherwise nothing is drawn. It stays when the epoch ends.
    After a ``break`` or an exception in the loop's body, it ends when the object is dropped. Use
    ``with progress(loader) as batches`` if later output must start on a new line.

    ``loop`` is a Loader or a loader of ``dataline.torch``. ``rich=True`` shows it with the package rich, also in a notebook
    (raises ImportError if it is not installed). tqdm works directly: ``tqdm(loader)`` knows the total.
    """
    return Progress(loop, Rich(label) if rich else Line(label, file if file is not None else sys.stderr))
