"""Tests with threads or clocks, run again and again beside a load (tests/flaky.sh).

The tests are those that ctest knows in a build folder, and with build/release the files of tests of the languages, where the source of the test, or a script or header of its folder that it
names, has threads, clocks, signals or time-outs in it.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import flaky_hosts

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEDGER = ROOT / "tests/results/flaky.tsv"
HEAD = ("test", "runs", "failed", "seconds", "date", "commit", "sources")
# What makes the outcome of a test depend on when things happen.
TIMED = re.compile(r"\bthreads?\b|std::thread|Thread\(|threading|pthread_|_clock\b|sleep|timeout|SIG[A-Z]{3,}|signal|poll\(|Popen|num_workers")


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                          check=False).stdout.strip()


class Test:
    """One test of ctest: its command, and the files of the repository that it names or is made of."""

    def __init__(self, entry, build):
        self.name = entry["name"]
        self.command = entry.get("command", [])
        properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
        self.folder = properties.get("WORKING_DIRECTORY", str(build / "tests"))
        self.timeout = float(properties.get("TIMEOUT", 600))
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        self.label = (properties.get("LABELS") or ["?"])[0]
        self.sources = entry.get("sources") or self.find_sources(build)

    def find_sources(self, build):
        """Files named in the command; of a program that is not told which file it is to run, the source named as the test is."""
        named = []
        for word in self.command[1:]:
            path = pathlib.Path(word.split("=", 1)[-1])
            if path.is_file() and ROOT in path.resolve().parents and build not in path.resolve().parents:
                named.append(path.resolve())
        if named:
            return named
        topic = self.name.split(".")[0]
        stems = {topic, topic.removeprefix(f"{self.label}_"), pathlib.Path(self.command[0]).name if self.command else topic}
        return [path for stem in sorted(stems)
                for ending in ("_test.cpp", ".cpp", ".c") for path in sorted((ROOT / "tests").rglob(stem + ending))]

    def timed(self):
        return any(TIMED.search(path.read_text(encoding="utf-8", errors="replace")) for path in self.sources)

    def digest(self):
        """Of the program and the sources: a changed test begins anew."""
        digest = hashlib.sha256()
        for path in self.sources:
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def run(self, log):
        """True: passed or skipped."""
        began = time.monotonic()
        with log.open("wb") as out:
            try:
                ended = subprocess.run(self.command, cwd=self.folder, env={**os.environ, **self.environment}, stdout=out,
                                       stderr=subprocess.STDOUT, timeout=self.timeout, check=False).returncode
            except subprocess.TimeoutExpired:
                out.write(b"\ntimed out\n")
                ended = -1
        return ended in (0, 77), time.monotonic() - began


def known_tests(build):
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        sys.exit(f"flaky: {build} is not a build folder with tests: {shown.stderr.strip()}")
    entries = json.loads(shown.stdout)["tests"] + (flaky_hosts.tests(build) if build == ROOT / "build/release" else [])
    return [Test(entry, build) for entry in entries if entry.get("command")]


def read_ledger():
    if not LEDGER.is_file():
        return {}
    rows = [line.split("\t") for line in LEDGER.read_text(encoding="utf-8").splitlines()[1:]]
    return {row[0]: dict(zip(HEAD, row)) for row in rows}


def write_ledger(ledger):
    lines = ["\t".join(HEAD), *("\t".join(str(row[column]) for column in HEAD) for _, row in sorted(ledger.items()))]
    new = LEDGER.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n", encoding="utf-8")
    new.replace(LEDGER)


def row_of(ledger, test):
    row = ledger.get(test.name)
    digest = test.digest()
    if row is None or row["sources"] != digest:
        row = {"test": test.name, "runs": 0, "failed": 0, "seconds": 0, "date": "", "commit": "", "sources": digest}
        ledger[test.name] = row
    return row


class Slice:
    """Tests that are run some at a time, each beside the others: they are the load. The lock guards the rows and who runs."""

    def __init__(self, tests, ledger, times, end, logs):
        self.tests, self.ledger, self.times, self.end, self.logs = tests, ledger, times, end, logs
        self.rows = {test.name: row_of(ledger, test) for test in tests}
        self.lock, self.running = threading.Lock(), set()

    def take(self):
        """The test with the fewest runs that nobody runs. One that has failed is mended first: it is not run until it has changed."""
        with self.lock:
            due = [test for test in self.tests if test.name not in self.running and int(self.rows[test.name]["failed"]) == 0
                   and int(self.rows[test.name]["runs"]) < self.times]
            if not due or time.monotonic() > self.end:
                return None
            test = min(due, key=lambda test: int(self.rows[test.name]["runs"]))
            self.running.add(test.name)
            return test

    def work(self):
        while test := self.take():
            log = self.logs / f"{test.name.replace('/', '-')}.log"
            passed, seconds = test.run(log)
            with self.lock:
                keep_run(self.rows[test.name], log, passed, seconds)
                self.running.discard(test.name)
                write_ledger(self.ledger)

    def run(self, at_a_time):
        threads = [threading.Thread(target=self.work) for _ in range(at_a_time)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def keep_run(row, log, passed, seconds):
    row["runs"] = int(row["runs"]) + 1
    row["seconds"] = round(float(row["seconds"]) + seconds, 1)
    row["date"], row["commit"] = datetime.date.today().isoformat(), commit()
    if passed:
        log.unlink()
        return
    row["failed"] = int(row["failed"]) + 1
    kept = log.with_suffix(f".failed-{row['runs']}.log")
    log.replace(kept)
    print(f"{row['test']}: failed in run {row['runs']}: {kept.relative_to(ROOT)}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="tests/flaky.sh")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--load", type=int, default=6)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    tests = [test for test in known_tests(asked.build.resolve()) if asked.only.search(test.name) and test.timed()]
    if asked.list:
        print("\n".join(test.name for test in tests))
        return
    logs = ROOT / "build/flaky"
    logs.mkdir(parents=True, exist_ok=True)
    run = Slice(tests, read_ledger(), asked.times, time.monotonic() + 60 * asked.minutes, logs)
    run.run(1 + asked.load)
    failed = [name for name, row in run.rows.items() if int(row["failed"]) > 0]
    counts = [int(row["runs"]) for row in run.rows.values()]
    print(f"flaky: {len(tests)} tests, {sum(counts)} runs in all, {min(counts, default=0)} to {max(counts, default=0)} each; failed: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
