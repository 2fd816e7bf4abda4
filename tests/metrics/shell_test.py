#!/usr/bin/env python3
"""The shell's metrics and traces, as a user gets them.

    shell_test.py PROGRAM
SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
URL = re.compile(r"http://[\w.:/]+")
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "dataline"


def bench(folder, *more):
    """The words of a short run."""
    (folder / "rows").write_bytes(bytes(1 << 20))
    uri = f"raw:{folder}/rows?dtype=u8&shape=1024"
    return [PROGRAM, "bench", uri, "--batch-size", "64", "--num-workers", "1", *more]


class Shell(unittest.TestCase):
    """Each test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, *more):
        """A run that serves its metrics, and where."""
        job = subprocess.Popen(
            bench(self.folder, "--metrics", "0", *more), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(job.communicate)
        url = next(found[0] for line in job.stderr if (found := URL.search(line)))
        return job, url

    def test_four_scrape_until_the_run_ends_and_the_report_has_the_stages(self):
        job, url = self.start("--seconds", "1", "--stats", "full", "--json")
        texts = []

        def scrape():
            while True:
                try:
                    with urllib.request.urlopen(url, timeout=10) as answer:
                        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
                        texts.append(answer.read().decode())
                except (OSError, urllib.error.URLError):
                    return  # it has ended

        threads = [threading.Thread(target=scrape) for _ in range(4)]
        for thread in threads:
            thread.start()
        report, _ = job.communicate(timeout=100)
        for thread in threads:
            thread.join()
        self.assertEqual(job.returncode, 0)
        self.assertGreater(len(texts), 4)
        for text in texts:
            self.assertIn("\ndataline_batches_total ", text)
            self.assertTrue(text.endswith("\n"))
        stages = {stage["stage"]: stage["percent"] for stage in json.loads(report)["stages"]}
        self.assertIn("data: copy", stages)
        self.assertAlmostEqual(sum(stages.values()), 100, places=3)

    def test_other_paths_methods_and_odd_clients_are_answered_and_change_nothing(self):
        job, url = self.start("--seconds", "3")
        place = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))

        def say(text):
            with socket.create_connection(place, timeout=10) as client:
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                heard = b""
                while piece := client.recv(4096):
                    heard += piece
                return heard.split(b"\r\n")[0]

        self.assertEqual(say(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), b"HTTP/1.0 200 OK")
        self.assertEqual(say(b"GET /metrics?x=1 HTTP/1.0\r\n\r\n"), b"HTTP/1.0 200 OK")
        self.assertEqual(say(b"GET /metricsx HTTP/1.0\r\n\r\n"), b"HTTP/1.0 404 Not Found")
        self.assertEqual(say(b"GET / HTTP/1.0\r\n\r\n"), b"HTTP/1.0 404 Not Found")
        self.assertEqual(say(b"POST /metrics HTTP/1.0\r\n\r\n"), b"HTTP/1.0 405 Method Not Allowed")
        self.assertEqual(say(b""), b"")
        self.assertEqual(say(b"GET /metrics"), b"")
        self.assertEqual(say(b"\x00" * 9000), b"HTTP/1.0 431 Request Header Fields Too Large")
        self.assertEqual(say(b"GET /metrics HTTP/1.0\r\nCookie: " + b"x" * 300_000 + b"\r\n\r\n"),
                         b"HTTP/1.0 431 Request Header Fields Too Large")
        self.assertEqual(say(b"POST /metrics HTTP/1.0\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000),
                         b"HTTP/1.0 405 Method Not Allowed")
        self.assertEqual(say(b"GET /metrics HTTP/1.0\n\n"), b"HTTP/1.0 200 OK")
        job.terminate()

    def test_a_client_that_sends_a_byte_at_a_time_ends_after_two_seconds_and_blocks_nobody(self):
        job, url = self.start("--seconds", "60")
        place = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))
        slow = [self.enterContext(socket.create_connection(place, timeout=30)) for _ in range(40)]
        began = time.monotonic()
        while slow:
            for client in list(slow):
                try:
                    client.sendall(b"G")
                    client.settimeout(0.01)
                    if client.recv(1) == b"":
                        slow.remove(client)
                except TimeoutError:
                    pass
                except OSError:
                    slow.remove(client)
            with urllib.request.urlopen(url, timeout=10) as answer:
                self.assertEqual(answer.status, 200)
            self.assertLess(time.monotonic() - began, 30)
        job.terminate()

    def test_a_client_that_takes_nothing_does_not_keep_the_process(self):
        job, url = self.start("--seconds", "60")
        place = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.connect(place)
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=30)

    @unittest.skipUnless(sys.platform == "linux", "reads /proc")
    def test_without_a_descriptor_left_it_waits_and_takes_the_client_later(self):
        job, url = self.start("--seconds", "60")
        place = ("127.0.0.1", int(url.split("/")[2].split(":")[1]))
        urllib.request.urlopen(url, timeout=30).read()  # its thread runs, and has its name
        tasks = pathlib.Path(f"/proc/{job.pid}/task")
        (server,) = (task for task in tasks.iterdir() if (task / "comm").read_text() == "dl-metrics\n")

        def ticks():
            user, system = (server / "stat").read_text().rpartition(")")[2].split()[11:13]
            return int(user) + int(system)

        _, most = resource.prlimit(job.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(job.pid, resource.RLIMIT_NOFILE, (3, most))
        with socket.create_connection(place, timeout=30) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            client.settimeout(2)
            before = ticks()
            self.assertRaises(TimeoutError, client.recv, 1)
            self.assertLess(ticks() - before, os.sysconf("SC_CLK_TCK") / 4)  # of two seconds
            resource.prlimit(job.pid, resource.RLIMIT_NOFILE, (most, most))
            client.settimeout(30)
            self.assertEqual(client.recv(12), b"HTTP/1.0 200")
        job.terminate()

    def test_a_port_that_cannot_be_had_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = subprocess.run(
                bench(self.folder, "--metrics", str(port)), capture_output=True, text=True, check=False
            )
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"--metrics {port}", done.stderr)
        self.assertIn("in use", done.stderr)
        for wrong in ("65536", "-1", "x"):
            done = subprocess.run(bench(self.folder, "--metrics", wrong), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
            self.assertIn("metrics", done.stderr)

    def test_without_full_stats_there_are_no_stages(self):
        done = subprocess.run(bench(self.folder, "--seconds", "0.1", "--json"), capture_output=True, check=True)
        self.assertNotIn("stages", json.loads(done.stdout))

    def test_a_trace_of_a_cat_is_whole(self):
        trace = self.folder / "trace.json"
        words = bench(self.folder)
        words[1] = "cat"
        subprocess.run([*words, "--trace", str(trace)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sys.executable, HERE / "check_trace.py", trace, "--whole", "--least", "32"], check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
