"""What a loader measures of itself: as a table, as text for Prometheus, over HTTP, by OpenTelemetry.

The counters of ``stats()`` are always there; with ``stats="full"``, or once a trace has begun, also where the time of each
worker and of the consumer goes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _core
from .errors import CallError

if TYPE_CHECKING:
    from ._metrics_otlp import Exporter
    from ._metrics_server import Server

__all__ = ["ALL", "CONSUMER", "CONTENT_TYPE", "Metric", "Metrics", "Stall", "otlp", "serve"]

ALL = -1
"""``thread`` of a row: all threads together."""
CONSUMER = -2
"""``thread`` of a row: whoever calls ``next``."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of ``text()``, for an HTTP server of the program's own."""


class Metric(NamedTuple):
    """A row of the table."""

    name: str
    """A member of Stats, or of durations ``next``, ``between``, ``work``, ``wait``, ``off_cpu``, ``device``."""
    part: str
    """Of what is divided: a stage (``"read"``, ``"image: decode"``), or why a thread waits (``"no room"``); else ``""``."""
    kind: str
    """``"counter"`` only grows, ``"gauge"`` is now, ``"duration"``: how often, how long."""
    unit: str
    """``"ns"``, ``"bytes"``, ``"samples"``, ..."""
    doc: str
    thread: int
    """A worker, from 0; ALL; CONSUMER."""
    value: int
    """Of a duration the sum."""
    count: int  # type: ignore[assignment] # hides a tuple's method
    """Of a duration: how often; an estimate where only some are timed, as ``value`` is."""
    bytes: int
    """Of a stage: what it read or made."""
    p50_ns: int
    """Of one time: half were at most this long, rounded up by an eighth at most."""
    p99_ns: int
    max_ns: int


class Stall(NamedTuple):
    """A call of ``next`` that took 10 ms or more."""

    epoch: int
    """Of the batch that it delivered."""
    step: int
    wait_ns: int
    cause: str
    """What the workers spent that time with, as ``part`` of Metric; ``"leases"``: the consumer held ``max_leases``."""


class Metrics:
    """What a loader measures, as rows: ``for row in loader.metrics()``.

    It outlives the loader, and tells its last numbers then. Any thread may read it, also while the loader is closed. In a
    forked child it raises ForkedError.
    """

    def __init__(self, handle: _core.Metrics) -> None:
        self._handle = handle

    def __iter__(self) -> Iterator[Metric]:
        """The rows as they stand now."""
        return (Metric(*row) for row in self._handle._rows())

    def __len__(self) -> int:
        return self._handle._count()

    def text(self, labels: Optional[Mapping[str, object]] = None) -> str:
        """The table in Prometheus's text format 0.0.4: ``dataline_batches_total 12``, ...

        ``labels`` are added to each series, ``{"rank": 0, "job": "x"}``; any text will do as a value.

        Raises CallError for a name that Prometheus does not take, or that is the table's own.
        """
        return self._handle._text(",".join(_label(name, value) for name, value in (labels or {}).items()))

    def stalls(self) -> list[Stall]:
        """The last calls of ``next`` that took long, at most 64, the oldest first. Without measurements there are none."""
        return [Stall(*stall) for stall in self._handle._stalls()]

    def __repr__(self) -> str:
        return f"<dataline.metrics.Metrics of {len(self)} rows>"


Measured = Union[Metrics, Any]
"""A Metrics, or what has ``metrics()``: a loader."""


def metrics_of(measured: Measured) -> Metrics:
    """The table of what was given."""
    found = measured if isinstance(measured, Metrics) else measured.metrics()
    if not isinstance(found, Metrics):
        raise TypeError(f"expected a loader or its metrics, got {type(measured).__name__}")
    return found


def _label(name: str, value: object) -> str:
    if "=" in name:  # else it could be several
        raise CallError(f"labels: expected a name, got {name!r}", -1, "DL_ERR_INVALID_ARGUMENT")
    escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'


def serve(
    port: int,
    *loaders: Measured,
    address: str = "127.0.0.1",
    labels: Optional[Mapping[str, object]] = None,
) -> Server:
    """Serves ``/metrics`` for Prometheus on a daemon thread, until ``close()``.

    ``loaders`` are loaders or their Metrics; several are told apart by the label ``loader="0"``, ``"1"``, ... Others join by
    ``add``. Port 0 is a free one (``.port``). Scrapes go on after a loader is closed, with its last numbers.
    ``address="0.0.0.0"`` lets other machines in: there is no encryption and no password, and what is told are names of
    fields and numbers.

        with dataline.metrics.serve(9400, loader, labels={"job": "train", "rank": rank}):
            train(loader)

    Raises OSError when the port cannot be had.
    """
    from ._metrics_server import Server

    server = Server(port, address, labels or {})
    for number, loader in enumerate(loaders):
        server.add(loader, {"loader": number} if len(loaders) > 1 else None)
    return server


def otlp(
    endpoint: Optional[str] = None,
    *loaders: Measured,
    interval: float = 15.0,
    labels: Optional[Mapping[str, object]] = None,
    resource: Optional[Mapping[str, Any]] = None,
    headers: Optional[Mapping[str, str]] = None,
) -> Exporter:
    """Sends the table by OpenTelemetry's protocol, OTLP over HTTP, every ``interval`` seconds and at ``close()``.

    ``endpoint`` is that of metrics, ``http://host:4318/v1/metrics``; None: as OpenTelemetry's environment variables say.
    Rows are observable counters and gauges, ``dataline.batches``, ``dataline.work`` (in seconds) with the attributes
    ``thread`` and ``part``; ``labels`` are attributes too. ``resource`` are those of the process (``service.name``).

    Needs ``pip install 'dataline[otlp]'``.
    """
    from ._metrics_otlp import Exporter

    return Exporter(
        endpoint, loaders, interval=interval, labels=labels or {}, resource=resource or {}, headers=dict(headers or {})
    )
