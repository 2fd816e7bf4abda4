"""Metrics through OpenTelemetry: the table's rows as observable instruments.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .metrics import ALL, CONSUMER, Measured, Metric, Metrics, metrics_of

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("opentelemetry"):
        raise
    raise ModuleNotFoundError(
        "dataline.metrics.otlp needs OpenTelemetry's SDK and its HTTP exporter, which are not installed: "
        "pip install 'dataline[otlp]'; without them, use dataline.metrics.serve for Prometheus's text",
        name=error.name,
    ) from error

__all__ = ["Exporter"]


class Exporter:
    """Sends the metrics of loaders until ``close()``; see ``otlp``."""

    def __init__(
        self,
        endpoint: Optional[str],
        loaders: Iterable[Measured],
        *,
        interval: float,
        labels: Mapping[str, object],
        resource: Mapping[str, Any],
        headers: dict[str, str],
    ) -> None:
        if not interval > 0:
            raise ValueError(f"interval: expected seconds, more than 0, got {interval}")
        measured = [metrics_of(loader) for loader in loaders]
        if not measured:
            raise TypeError("expected a loader or its metrics, got nothing")
        shared = {name: str(value) for name, value in labels.items()}
        self._sources = [
            (metrics, {**shared, "loader": str(number)} if len(measured) > 1 else shared)
            for number, metrics in enumerate(measured)
        ]
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=endpoint, headers=headers or None), export_interval_millis=interval * 1000
        )
        self._provider = MeterProvider(
            [reader], Resource.create({"service.name": "dataline", **resource}), shutdown_on_exit=False
        )
        self._meter = self._provider.get_meter("dataline")
        for row in _families([metrics for metrics, _ in self._sources]):
            self._add_instrument(*row)

    def _add_instrument(self, name: str, kind: str, unit: str, doc: str) -> None:
        make = self._meter.create_observable_gauge if kind == "gauge" else self._meter.create_observable_counter

        def observe(options: CallbackOptions) -> Iterable[Observation]:
            return [
                Observation(_value(row), {**labels, **_attributes(row)})
                for metrics, labels in self._sources
                for row in _series(metrics, name)
            ]

        make(f"dataline.{_NAMES.get(name, name.removesuffix('_ns'))}", [observe], _UNITS.get(unit, f"{{{unit}}}"), doc)

    def flush(self) -> None:
        """Sends the current values."""
        self._provider.force_flush()

    def close(self) -> None:
        """Sends the final values, and ends. Does nothing if called again."""
        provider, self._provider = self._provider, _CLOSED
        provider.shutdown()

    def __enter__(self) -> Exporter:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()


class _Closed:
    def force_flush(self) -> None:
        raise RuntimeError("the exporter is closed")

    def shutdown(self) -> None:
        pass


_CLOSED: Any = _Closed()


_NAMES = {"wait_ns": "exposed"}  # what consumers waited; "wait" is the workers'
_UNITS = {"ns": "s", "bytes": "By"}


def _families(measured: Iterable[Metrics]) -> list[tuple[str, str, str, str]]:
    """Name, kind, unit and doc of the current rows, and of durations that appear when a trace starts."""
    found = {row.name: (row.name, row.kind, row.unit, row.doc) for metrics in measured for row in metrics}
    for name in ("next", "between", "work", "wait", "off_cpu", "device"):
        found.setdefault(name, (name, "duration", "ns", ""))
    return list(found.values())


def _series(metrics: Metrics, name: str) -> Iterable[Metric]:
    """The receiver sums over threads; a device has no total."""
    whole = name == "device"
    return (row for row in metrics if row.name == name and (row.kind != "duration" or whole or row.thread != ALL))


def _value(row: Metric) -> float:
    return row.value * 1e-9 if row.unit == "ns" else row.value


def _attributes(row: Metric) -> dict[str, str]:
    if row.kind != "duration":
        return {}
    if row.name == "device":
        return {"part": row.part}
    thread = "consumer" if row.thread == CONSUMER else str(row.thread)
    return {"thread": thread, "part": row.part} if row.part else {"thread": thread}
