"""The measurements of a loader: as a table, as text for Prometheus, over HTTP, through OpenTelemetry.

The counters of ``stats()`` always exist. With ``stats="full"``, or after a trace has started, the table also shows where
the time of each worker and of the consumer goes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _core
from ._structs import Stall
from .errors import of_code

if TYPE_CHECKING:
    from ._metrics_otlp import Exporter
    from ._metrics_server import Server

__all__ = ["ALL", "CONSUMER", "CONTENT_TYPE", "Metric", "Metrics", "Stall", "otlp", "serve"]

ALL = -1
"""``thread`` of a row: all threads together."""
CONSUMER = -2
"""``thread`` of a row: the threads that call ``next``."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of ``text()``, for an HTTP server of your own."""


class Metric(NamedTuple):
    """A row of the table."""

    name: str
    """A member of Stats, or for durations ``next``, ``between``, ``work``, ``wait``, ``off_cpu``, ``device``."""
    part: str
    """A stage (``"read"``, ``"image: decode"``), or why a thread waits (``"no room"``); ``""`` if not divided."""
    kind: str
    """``"counter"`` only grows, ``"gauge"`` is the current value, ``"duration"`` is how often and how long."""
    unit: str
    """``"ns"``, ``"bytes"``, ``"samples"``, ..."""
    doc: str
    thread: int
    """A worker, from 0; ALL; CONSUMER."""
    value: int
    """For a duration: the sum."""
    count: int  # type: ignore[assignment] # hides a tuple's method
    """For a duration: how often. If only some calls are timed, an estimate, like ``value``."""
    bytes: int
    """For a stage: the bytes it read or wrote."""
    p50_ns: int
    """For a duration: half of the times were at most this long, rounded up by at most an eighth."""
    p99_ns: int
    max_ns: int


class Metrics:
    """The measurements of a loader, as rows: ``for row in loader.metrics()``.

    A table that outlives its loader and then returns the final numbers. Any thread may read it, also while the loader is
    closed. In a forked child it raises ForkedError.
    """

    def __init__(self, handle: _core.Metrics) -> None:
        self._handle = handle

    def __iter__(self) -> Iterator[Metric]:
        """The current rows."""
        return (Metric(**row) for row in self._handle._rows())

    def __len__(self) -> int:
        return self._handle._count()

    def text(self, labels: Optional[Mapping[str, object]] = None) -> str:
        """The table in Prometheus's text format 0.0.4: ``dataline_batches_total 12``, ...

        ``labels`` are added to each series, ``{"rank": 0, "job": "x"}``. A label value may be any text.

        Raises CallError for a label name that Prometheus does not accept, or that the table already uses.
        """
        return self._handle._text(",".join(_label(name, value) for name, value in (labels or {}).items()))

    def stalls(self) -> list[Stall]:
        """The last calls of ``next`` that took long, at most 64, oldest first. Empty without measurements."""
        return [Stall(**stall) for stall in self._handle._stalls()]

    def __repr__(self) -> str:
        return f"<dataline.metrics.Metrics of {len(self)} rows>"


Measured = Union[Metrics, Any]
"""A Metrics, or an object with ``metrics()``: a loader."""


def metrics_of(measured: Measured) -> Metrics:
    """The table of the argument."""
    found = measured if isinstance(measured, Metrics) else measured.metrics()
    if not isinstance(found, Metrics):
        raise TypeError(f"expected a loader or its metrics, got {type(measured).__name__}")
    return found


def _label(name: str, value: object) -> str:
    if "=" in name:  # else it could be several
        raise of_code("DL_ERR_INVALID_ARGUMENT", f"labels: expected a name, got {name!r}")
    escaped = str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{name}="{escaped}"'


def serve(
    port: int,
    *loaders: Measured,
    address: str = "127.0.0.1",
    labels: Optional[Mapping[str, object]] = None,
) -> Server:
    """Serves ``/metrics`` for Prometheus on a daemon thread, until ``close()``.

    ``loaders`` are loaders or their Metrics. The label ``loader="0"``, ``"1"``, ... distinguishes several. Add more with
    ``add``. Port 0 selects a free port (``.port``). After a loader is closed, scrapes return its final numbers.
    ``address="0.0.0.0"`` allows other machines to connect. There is no encryption and no password; the text contains
    names of fields and numbers.

        with dataline.metrics.serve(9400, loader, labels={"job": "train", "rank": rank}):
            train(loader)

    Raises OSError if the port is not available.
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
    """Sends the table with OpenTelemetry's protocol, OTLP over HTTP, every ``interval`` seconds and at ``close()``.

    ``endpoint`` is the endpoint for metrics, ``http://host:4318/v1/metrics``; None: from OpenTelemetry's environment
    variables. Rows are observable counters and gauges, ``dataline.batches``, ``dataline.work`` (in seconds) with the
    attributes ``thread`` and ``part``; ``labels`` are also attributes. ``resource`` contains attributes of the process
    (``service.name``).

    Needs ``pip install 'dataline[otlp]'``.
    """
    from ._metrics_otlp import Exporter

    return Exporter(
        endpoint, loaders, interval=interval, labels=labels or {}, resource=resource or {}, headers=dict(headers or {})
    )
