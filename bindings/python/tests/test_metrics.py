"""What a loader measures: rows, text for Prometheus, stalls, ``/metrics``.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import http.client
import os
import resource
import socket
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest

import dataline
from conftest import loader_of
from dataline import _metrics_server
from dataline.metrics import ALL, CONSUMER, CONTENT_TYPE, Metric, serve


def scrape(server: Any) -> str:
    with urllib.request.urlopen(server.url, timeout=10) as answer:
        assert answer.headers["Content-Type"] == CONTENT_TYPE
        return str(answer.read().decode())


def samples(text: str) -> dict[str, float]:
    """By series."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    found = {series: float(value) for series, value in lines}
    assert len(found) == len(lines), "a series is there twice"
    return found


def test_the_counters_are_those_of_stats_under_their_names() -> None:
    loader = loader_of(100, batch_size=10)
    for _ in loader:
        pass
    rows = {row.name: row for row in loader.metrics()}
    stats = loader.stats()._asdict()
    assert set(rows) == set(stats)
    for name in ("batches", "samples", "bytes", "num_workers", "waits", "wait_ns", "arena_bytes"):
        assert rows[name].value == stats[name]
    assert rows["batches"][:4] == ("batches", "", "counter", "batches")
    assert rows["arena_bytes"].kind == "gauge"
    assert all(row.thread == ALL and row.doc for row in rows.values())


def test_with_full_stats_there_are_stages_by_thread_and_calls_of_next() -> None:
    loader = loader_of(1000, batch_size=10, num_workers=2, stats="full")
    assert sum(len(batch["x"]) for batch in loader) == 1000
    rows = list(loader.metrics())
    assert len(rows) == len(loader.metrics())
    (called,) = (row for row in rows if row.name == "next")
    assert (called.thread, called.kind, called.unit) == (CONSUMER, "duration", "ns")
    assert 0 < called.p50_ns <= called.max_ns * 1.125
    work = [row for row in rows if row.name == "work" and row.part == "x: copy"]
    assert {row.thread for row in work} == {ALL, 0, 1, CONSUMER}
    total = next(row for row in work if row.thread == ALL)
    assert total.value == pytest.approx(sum(row.value for row in work if row.thread != ALL), abs=1_000_000)
    assert total.bytes > 0
    assert {row.part for row in rows if row.name == "wait"} == {"no room", "no work", "parked"}


def test_rows_outlive_the_loader_and_tell_its_last_numbers() -> None:
    loader = loader_of(10, batch_size=5, stats="full")
    metrics = loader.metrics()
    list(loader)
    loader.close()
    del loader
    rows = {(row.name, row.part, row.thread): row for row in metrics}
    assert rows["batches", "", ALL].value == 2
    assert rows["samples", "", ALL].value == 10
    assert samples(metrics.text())["dataline_batches_total"] == 2
    closed = loader_of()
    closed.close()
    with pytest.raises(dataline.WrongStateError, match="closed"):
        closed.metrics()


def test_no_counter_and_no_sum_ever_falls() -> None:
    loader = loader_of(100_000, batch_size=8, num_workers=2, stats="full", shuffle=True)
    metrics = loader.metrics()
    before: dict[tuple[str, str, int], int] = {}
    for step, _ in enumerate(loader):
        if step % 20:
            continue
        rows = {(row.name, row.part, row.thread): row.value for row in metrics if row.kind != "gauge"}
        fell = {key: (before[key], value) for key, value in rows.items() if value < before.get(key, 0)}
        assert not fell
        before = rows


def test_a_stall_names_its_batch_and_its_cause() -> None:
    asked = threading.Semaphore(1)  # once: the first sample is read when the reader is made

    def read(index: int, place: dataline.Place) -> Any:
        if index % 2 == 0:
            asked.acquire(timeout=60)  # a batch is begun when it is asked for, so that no busy machine has it before
            time.sleep(0.1)
        return {"x": index}

    dataset = dataline.from_reader(range(4), read=read)
    loader = dataline.Loader(dataset, batch_size=2, num_workers=1, stats="full", epochs=1)
    batches = iter(loader)
    for _ in range(2):
        asked.release()
        next(batches)
    stalls = loader.metrics().stalls()
    assert [stall[:2] for stall in stalls] == [(0, 0), (0, 1)]
    assert all(stall.wait_ns >= 60_000_000 for stall in stalls), (
        "more than a slice of a wait, after each of which signals are looked for"
    )
    assert {stall.cause for stall in stalls} == {"read"}
    assert loader_of(stats="full").metrics().stalls() == []


HOSTILE = '"><script>alert(1)</script>\\ \n{}=,#é'


def test_labels_may_be_any_text_and_stay_one_label() -> None:
    loader = loader_of()
    text = loader.metrics().text({"job": HOSTILE, "rank": 3})
    escaped = HOSTILE.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    assert f'dataline_batches_total{{job="{escaped}",rank="3"}} 0\n' in text
    assert all(line.startswith(("#", "dataline_")) for line in text.splitlines())


@pytest.mark.parametrize("name", ["", "a b", "1a", "a-b", 'a="x",b', "stage", "thread", "le", "é"])
def test_a_label_that_prometheus_or_the_table_does_not_take_is_refused(name: str) -> None:
    metrics = loader_of().metrics()
    with pytest.raises(dataline.CallError, match="labels"):
        metrics.text({name: "x"})
    with pytest.raises(dataline.CallError, match="labels"):
        serve(0, metrics, labels={name: "x"})


def test_the_server_answers_metrics_and_nothing_else() -> None:
    loader = loader_of(10, batch_size=5)
    with serve(0, loader, labels={"rank": 1}) as server:
        assert samples(scrape(server))['dataline_batches_total{rank="1"}'] == 0
        list(loader)
        assert samples(scrape(server))['dataline_batches_total{rank="1"}'] == 2
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request("HEAD", "/metrics")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
        for path in ("/", "/metricss", "/metrics/x", "/../metrics"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 404
        connection.request("POST", "/metrics")
        assert connection.getresponse().status == 501
        connection.close()
        with pytest.raises(OSError, match="in use"):
            serve(server.port, loader)
    with pytest.raises(urllib.error.URLError):
        scrape(server)
    server.close()
    serve(server.port).close()


def test_a_client_that_sends_a_byte_at_a_time_ends_and_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_metrics_server, "_CLIENT_SECONDS", 0.5)
    with serve(0, loader_of()) as server:
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(40)]
        began = time.monotonic()
        while slow:
            for client in list(slow):
                with contextlib.suppress(socket.timeout):
                    try:
                        client.sendall(b"G")
                        client.settimeout(0.01)
                        gone = client.recv(1) == b""
                    except ConnectionError:
                        gone = True
                    if gone:
                        client.close()
                        slow.remove(client)
            samples(scrape(server))
            assert time.monotonic() - began < 30


def test_without_a_descriptor_left_the_server_waits_and_takes_the_client_later() -> None:
    with serve(0, loader_of()) as server, socket.socket() as client:
        least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
        try:
            client.connect(("127.0.0.1", server.port))
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            client.settimeout(1)
            before = time.process_time()
            with pytest.raises(socket.timeout):
                client.recv(1)
            assert time.process_time() - before < 0.3
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
        client.settimeout(10)
        assert client.recv(12) == b"HTTP/1.0 200"


def test_several_loaders_are_one_text_with_each_family_once() -> None:
    first, second = loader_of(10, batch_size=5, stats="full"), loader_of(10, batch_size=2)
    list(second)
    with serve(0, first, second, labels={"job": "a"}) as server:
        server.add(loader_of(), {"loader": "third"})
        text = scrape(server)
    found = samples(text)
    assert found['dataline_batches_total{job="a",loader="1"}'] == 5
    assert 'dataline_batches_total{job="a",loader="third"}' in found
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert len(heads) == len(set(heads))
    families = [line.split()[2] for line in heads if line.startswith("# TYPE")]
    at = -1
    for line in text.splitlines():  # each series under its own head
        if line.startswith("# TYPE"):
            at += 1
        elif not line.startswith("#"):
            assert line.startswith(families[at])


def test_scrapes_from_four_threads_go_on_while_loaders_are_closed() -> None:
    failures: list[BaseException] = []
    over = threading.Event()
    with serve(0) as server:

        def scrape_on() -> None:
            try:
                while not over.is_set():
                    samples(scrape(server))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=scrape_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(25):
            loader = loader_of(1000, batch_size=10, num_workers=2, stats="full")
            server.add(loader, {"loader": number})
            for _, _ in zip(range(5), loader):
                pass
            loader.close()
        over.set()
        for thread in threads:
            thread.join()
        assert failures == []
        found = samples(server.text())
        assert [found[f'dataline_batches_total{{loader="{number}"}}'] for number in range(25)] == [5] * 25


def test_a_forked_child_is_refused_and_the_parent_goes_on() -> None:
    loader = loader_of(1000, batch_size=10, num_workers=2, stats="full")
    metrics = loader.metrics()
    batches = iter(loader)
    for _ in range(20):  # a lock may be held at the moment of a fork
        next(batches)
        child = os.fork()
        if child == 0:
            refused = 0
            for call in (lambda: list(metrics), metrics.text, loader.metrics, lambda: loader.trace_start("unused")):
                try:
                    call()
                except dataline.ForkedError:
                    refused += 1
            os._exit(0 if refused == 4 and metrics.stalls() == [] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert next(row for row in metrics if row.name == "batches").value == 20


def test_a_row_is_a_named_tuple_and_metrics_are_not_made_by_hand() -> None:
    row = next(iter(loader_of().metrics()))
    assert isinstance(row, Metric)
    assert row._fields[:3] == ("name", "part", "kind")
    with pytest.raises(TypeError, match="cannot be created directly"):
        dataline._core.Metrics()
    with pytest.raises(AttributeError):
        serve(0, np.zeros(3))
