"""The proof: tests/run.sh sets the machine up and calls this. README.md of tests/ describes it.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import json
import os
import pathlib
import signal
import sys
import time

import isolate
import keys
import parts
import process
import report
from runner import Runner, commit_of
from store import Store, default_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]

USAGE = """\
tests/run.sh [--only PART,PART...] [--long] [--fresh] [--times FILE] [--list] [--why PART] [--isolate PART]

Runs the parts of the proof. A part whose inputs passed before on this machine does not run again.
"""


def arguments(words):
    parser = argparse.ArgumentParser(prog="tests/run.sh", usage=USAGE, add_help=True)
    parser.add_argument("--only", action="append", default=[], metavar="PART,PART", help="these parts; `asan` means all of asan/")
    parser.add_argument("--long", action="store_true", help="all tests in all builds, and the parts that take hours; a store of its own")
    parser.add_argument("--fresh", action="store_true", help="run every part, whatever passed before; results are stored")
    parser.add_argument("--times", default="tests/results/times.tsv", metavar="FILE", help="where rows of times are appended (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the parts and which of them would run, and end")
    parser.add_argument("--why", metavar="PART", help="print what the part's key is the hash of, and end")
    parser.add_argument("--isolate", metavar="PART,PART", help="run parts in a copy that holds only its declared inputs; stores nothing")
    parser.add_argument("--setup-failed", action="store_true", help=argparse.SUPPRESS)  # tests/run.sh: counts as a failure
    found = parser.parse_args(words)
    found.only = [name for group in found.only for name in group.split(",") if name]
    return found


def wanted(options):
    try:
        return parts.selected(options.only or [name for word in (options.why, options.isolate) if word for name in word.split(",")], options.long)
    except ValueError as error:
        raise SystemExit(f"tests/run.sh: {error}") from None


def tell(line):
    print(line, flush=True)


def main(words):
    options = arguments(words)
    chosen = wanted(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, process.stop_all)
    seed = int(time.time())
    store = Store(default_folder() / ("long" if options.long else "everyday"))
    runner = Runner(ROOT, store, options.long, options.fresh, seed, tell)
    if options.why:
        for part in chosen:
            tell(json.dumps({"key": runner.key(part, runner.tree())[0], **runner.key(part, runner.tree())[1]}, indent=1))
        return 0
    if options.list:
        tree = runner.tree()
        for part in chosen:
            entry = None if part.always else runner.known(part, runner.key(part, tree)[0])
            tell(report.stored_lines(part.name, entry)[0] if entry else f"{part.name}: runs")
        return 0
    if options.isolate:
        return 0 if all([isolate.passes(runner, part) for part in chosen]) else 1  # all of them, whatever fails
    if options.long:
        tell(f'property tests: RC_PARAMS="{runner.builds.properties}"')
    began = time.monotonic()
    if options.setup_failed:
        runner.results.append(report.Result("setup").fail("FAILED setup: tests/setup.sh, see above"))
    passed = runner.run(chosen)
    for line in report.summary(runner.results, runner.stored, time.monotonic() - began, os.cpu_count()):
        tell(line)
    now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M")
    report.add_times(ROOT / options.times, report.rows(runner.results, now, commit_of(ROOT), keys.machine()))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
