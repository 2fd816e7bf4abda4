"""``/metrics`` over HTTP.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import errno
import io
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Optional

from .errors import Error
from .metrics import CONTENT_TYPE, Measured, Metrics, metrics_of

__all__ = ["Server", "joined"]

_CLIENT_SECONDS = 10.0  # that a request may take, and its response after it
_MAX_CLIENTS = 32  # at a time


def joined(texts: Iterable[str]) -> str:
    """Merges several tables: the series of a family have to follow each other, under one header."""
    families: dict[str, list[str]] = {}
    for text in texts:
        for family in text.split("# HELP ")[1:]:
            head, kind, series = family.split("\n", 2)
            families.setdefault(f"# HELP {head}\n{kind}\n", []).append(series)
    return "".join(head + "".join(series) for head, series in families.items())


class Server:
    """Serves the metrics of loaders until ``close()``; see ``serve``."""

    def __init__(self, port: int, address: str, labels: Mapping[str, object]) -> None:
        self._labels = dict(labels)
        self._measured: list[tuple[Metrics, dict[str, object]]] = []
        self._lock = threading.Lock()
        self._http = _HTTPServer((address, port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, name="dataline metrics", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        """The URL for Prometheus."""
        return f"http://{self._http.server_address[0]!s}:{self.port}/metrics"

    def add(self, measured: Measured, labels: Optional[Mapping[str, object]] = None) -> None:
        """Adds another loader, or its Metrics, with labels that distinguish it from the others."""
        made = metrics_of(measured), {**self._labels, **(labels or {})}
        made[0].text(made[1])  # what is wrong with labels is the caller's to hear
        with self._lock:
            self._measured.append(made)

    def text(self) -> str:
        """The text of a scrape."""
        with self._lock:
            measured = list(self._measured)
        return joined(metrics.text(labels) for metrics, labels in measured)

    def close(self) -> None:
        """Ends the server and frees the port. Does nothing if called again."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<dataline metrics at {self.url}>"


class _HTTPServer(ThreadingHTTPServer):
    """One thread per client. A new client is never rejected because of slow ones: the oldest connection is closed."""

    daemon_threads = True
    owner: Server

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._clients: dict[socket.socket, None] = {}  # the oldest first
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._pause = 0.0
        super().__init__(address, handler)

    def shutdown(self) -> None:
        self._closing.set()
        super().shutdown()

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            client = super().get_request()
        except OSError as error:
            # The listening socket stays readable: without a pause the thread would ask again and again.
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM) and not self._drop_oldest(0):
                self._pause = min(max(2 * self._pause, 0.1), 1.0)
                self._closing.wait(self._pause)
            raise
        self._pause = 0.0
        self._drop_oldest(_MAX_CLIENTS - 1)
        with self._lock:
            self._clients[client[0]] = None
        return client

    def _drop_oldest(self, keep: int) -> bool:
        """Closes the connection of the oldest client if there are more than `keep`; its thread closes the socket."""
        with self._lock:
            if len(self._clients) <= keep:
                return False
            oldest = next(iter(self._clients))
            del self._clients[oldest]
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
            return True

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._clients.pop(request, None)
            super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may disconnect at any moment; nothing is printed."""


class _UntilDeadline(io.RawIOBase):
    """Reads from a socket with one deadline for all reads: the timeout of a socket restarts with each byte."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection, self._end = connection, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise socket.timeout("the request took too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: _HTTPServer

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_UntilDeadline(self.connection, _CLIENT_SECONDS))

    def do_GET(self) -> None:
        if self.path.split("?", 1)[0] != "/metrics":
            return self._answer(404, "text/plain; charset=utf-8", "not found; try /metrics\n")
        try:
            self._answer(200, CONTENT_TYPE, self.server.owner.text())
        except Error as error:
            self._answer(500, "text/plain; charset=utf-8", f"{error}\n")

    do_HEAD = do_GET

    def _answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """A library does not print."""
