"""Metrics by OpenTelemetry, as a receiver made of opentelemetry-proto's own classes sees them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import dataline
from conftest import loader_of

pytest.importorskip(
    "opentelemetry.exporter.otlp.proto.http", reason="needs opentelemetry (pip install 'dataline[otlp]')"
)
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as service


class Receiver:
    """What an OpenTelemetry collector does: takes POSTs of /v1/metrics, as protobuf."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["Content-Encoding"] == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/metrics"
                assert self.headers["Content-Type"] == "application/x-protobuf"
                receiver.requests.append(service.ExportMetricsServiceRequest.FromString(body))
                receiver.headers.append(dict(self.headers))
                answer = service.ExportMetricsServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}/v1/metrics"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def metrics(self) -> dict[str, Any]:
        """Of the last request, by name."""
        (resource,) = self.requests[-1].resource_metrics
        return {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}

    def points(self, name: str) -> dict[tuple[tuple[str, str], ...], float]:
        metric = self.metrics()[name]
        data = metric.sum if metric.HasField("sum") else metric.gauge
        return {
            tuple(sorted((at.key, at.value.string_value) for at in point.attributes)): (
                point.as_int if point.HasField("as_int") else point.as_double
            )
            for point in data.data_points
        }


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def test_counters_gauges_and_times_arrive_with_their_kind_unit_and_attributes(receiver: Receiver) -> None:
    loader = loader_of(100, batch_size=10, num_workers=1, stats="full")
    list(loader)
    with dataline.metrics.otlp(
        receiver.endpoint,
        loader,
        labels={"rank": 3},
        resource={"service.name": "train"},
        headers={"authorization": "Bearer x"},
    ) as exporter:
        exporter.flush()
        assert receiver.points("dataline.batches") == {(("rank", "3"),): 10}
    metrics = receiver.metrics()
    assert metrics["dataline.batches"].sum.is_monotonic
    assert metrics["dataline.batches"].sum.aggregation_temporality == 2  # cumulative
    assert metrics["dataline.arena_bytes"].HasField("gauge")
    assert (metrics["dataline.arena_bytes"].unit, metrics["dataline.exposed"].unit) == ("By", "s")
    assert metrics["dataline.batches"].description == "Batches delivered."
    work = receiver.points("dataline.work")
    assert work[("part", "x: copy"), ("rank", "3"), ("thread", "0")] > 0
    assert {dict(key)["thread"] for key in work} == {"0", "consumer"}
    assert receiver.headers[-1]["authorization"] == "Bearer x"
    (resource,) = receiver.requests[-1].resource_metrics
    named = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
    assert named["service.name"] == "train"
    with pytest.raises(RuntimeError, match="closed"):
        exporter.flush()
    exporter.close()


def test_what_consumers_waited_and_what_workers_waited_are_two_metrics(receiver: Receiver) -> None:
    loader = loader_of(100, batch_size=10, num_workers=1, stats="full")
    list(loader)
    measured = loader.metrics()
    loader.close()
    with dataline.metrics.otlp(receiver.endpoint, measured):
        pass
    waited = next(row.value for row in measured if row.name == "wait_ns")
    assert receiver.points("dataline.exposed") == {(): pytest.approx(waited * 1e-9)}
    assert {dict(key)["part"] for key in receiver.points("dataline.wait")} == {"no room", "no work", "parked"}


def test_times_join_when_a_trace_begins_and_a_closed_loader_tells_its_last_numbers(receiver: Receiver) -> None:
    loader = loader_of(100, batch_size=10)
    with dataline.metrics.otlp(receiver.endpoint, loader, loader_of()) as exporter:
        exporter.flush()
        assert "dataline.work" not in receiver.metrics()
        with loader.trace(lambda text: None):
            list(loader)
        loader.close()
        exporter.flush()
        assert receiver.points("dataline.batches") == {(("loader", "0"),): 10, (("loader", "1"),): 0}
        assert receiver.points("dataline.work")


def test_what_is_wrong_is_said(receiver: Receiver) -> None:
    with pytest.raises(TypeError, match="expected a loader"):
        dataline.metrics.otlp(receiver.endpoint)
    with pytest.raises(ValueError, match="interval"):
        dataline.metrics.otlp(receiver.endpoint, loader_of(), interval=0)


def test_without_opentelemetry_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
import array, dataline
loader = dataline.Loader(dataline.from_arrays({"x": array.array("q", range(3))}))
try:
    dataline.metrics.otlp("http://127.0.0.1:1", loader)
except ModuleNotFoundError as error:
    assert "dataline[otlp]" in str(error), error
else:
    sys.exit("expected an error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
