#!/usr/bin/env python3
"""Runs rows: every program that takes part is started, then all take turns, round after round, so that a slow moment
of the machine hits everybody. Called by run.sh, which builds what this needs.

A program that hangs or dies is out of its row: it is not tried again, its samples are dropped, and the row keeps it
under `failed` with what it said last. Where that program is Dataline, the run ends.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import math
import os
import pathlib
import shlex
import signal
import sys

import kept
import machine
import report
from programs import AUDIO_ROWS, PHOTO_ROWS, REPOSITORY, STORED, Failed, Program, programs, why_not_stored, without_paths

ROWS = ("rows_u8_47mb", "rows_f32", "tokens", "packed", "overhead", "first_batch", "next_epoch", "resume",
        "consumer_1ms", "allocator", "tfrecord", "mds", "litdata", "arrow", "safetensors", "npz", "megatron", "arrow_memory", "parquet", "parquet_tokens", "csv", "jsonl", "rows_u8_4700mb", "cold", "cold_window") + PHOTO_ROWS + AUDIO_ROWS


class Limits:
    """Seconds that a program has. Dataline is soon ready and does what it was told in a round; other loaders compile and
    import first, for a first batch in each round."""

    def __init__(self, small):
        self.small = small

    def to_prepare(self, name):
        return (120 if name == "dataline" else 300) if self.small else 900

    def for_round(self, name):
        return (60 if name == "dataline" else 180) if self.small else 300


class Progress:
    """On a terminal one line that changes; else plain lines, so that a log says where a run is: each round of a small
    run, each row of a long one."""

    def __init__(self, small):
        self.terminal, self.small = sys.stderr.isatty(), small

    def row(self, line):
        self._tell(line, True)

    def step(self, line):
        self._tell(line, self.small)

    def _tell(self, line, plainly):
        if self.terminal:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif plainly:
            print(line, file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class RowRun:
    """One row's programs, and what they have shown so far."""

    def __init__(self, row, asked, progress):
        self.row, self.asked, self.progress, self.limits = row, asked, progress, Limits(asked.small)
        self.running, self.samples, self.versions, self.notes = [], {}, {}, {}
        self.words, self.failed = programs(row, asked)

    def out(self, program, error):
        """Takes a program out of the row for good."""
        self.failed[program.name] = str(error)
        self.drop(program.variants)
        if program in self.running:
            self.running.remove(program)
        program.end()
        self.progress.clear()
        print(f"bench: {error}", file=sys.stderr, flush=True)
        if program.name == "dataline":
            raise error

    def drop(self, variants):
        for variant in variants:
            self.samples.pop(variant, None)

    def take_failures(self, answer):
        """Variants that a program itself has given up."""
        for variant, why in answer.get("failed", {}).items():
            self.failed[variant] = without_paths(f"{self.row}: {why}")
            self.drop([variant])

    def prepare(self):
        for name, command in self.words:
            self.progress.step(f"{self.row}: {name} prepares")
            program = Program(self.row, name, command)
            self.running.append(program)
            try:
                answer = program.ready(self.limits.to_prepare(name))
            except Failed as error:
                self.out(program, error)
                continue
            self.take_failures(answer)
            self.versions.update(answer.get("versions", {}))

    def round(self, number):
        self.progress.step(f"{self.row}: round {number} of {self.asked.rounds}, {len(self.running)} programs")
        for program in list(self.running if number % 2 == 0 else self.running[::-1]):
            try:
                answer = program.round(self.limits.for_round(program.name))
            except Failed as error:
                self.out(program, error)
                continue
            self.take_failures(answer)
            if number == 0:
                continue  # warm-up
            self.notes.update(answer.get("notes", {}))
            for variant, metrics in answer["round"].items():
                for metric, value in metrics.items():
                    self.samples.setdefault(variant, {}).setdefault(metric, []).append(value)

    def run(self):
        begun = kept.Begun(REPOSITORY)
        self.progress.row(f"{self.row}: {len(self.words)} programs")
        try:
            self.prepare()
            for number in range(self.asked.rounds + 1):
                self.round(number)
        except Failed:
            pass  # Dataline's: `failed` says so
        finally:
            for program in self.running:
                program.end()
            self.progress.clear()
        return begun.entry(without_paths(" ".join(shlex.quote(word) for word in self.words[0][1])), self.asked.rounds,
                           self.asked.seconds_of(self.row), self.samples, versions=self.versions, failed=self.failed,
                           notes=self.notes)


def check_sane(row, entry):
    """What must hold of any run, however short and however busy the machine."""
    for variant, metrics in entry["samples"].items():
        for metric, values in metrics.items():
            if not all(math.isfinite(value) for value in values):
                raise SystemExit(f"bench: {row}: {variant}: {metric} is not a number")
            if metric in ("rows_per_s", "mb_per_s", "first_batch_ms", "held_mib") and min(values) <= 0:
                raise SystemExit(f"bench: {row}: {variant}: {metric} is not above 0")
    if not any(variant.startswith("dataline") for variant in entry["samples"]):
        raise SystemExit(f"bench: {row}: no sample of Dataline")


def why_left_out(row, asked, features):
    """Why a row cannot be run here, or None."""
    if row in PHOTO_ROWS and not os.path.isdir(asked.photos):
        return f"{row}: left out, for there are no photographs in {without_paths(asked.photos)} (--photos DIR)"
    if row in PHOTO_ROWS and "libjpeg" not in features:
        return f"{row}: left out, for Dataline is built without libjpeg"
    reason = why_not_stored(row, asked) if row in STORED else None
    return reason and f"{row}: {reason}"


class Arguments(argparse.Namespace):
    def seconds_of(self, row):
        """A batch of photographs, or of audio files, takes as long as a hundred others."""
        return self.seconds * (4 if row in PHOTO_ROWS + AUDIO_ROWS and not self.small else 1)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each variant in each round")
    parser.add_argument("--small", action="store_true", help="small data: does each row run, are its results sane")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--data", default=str(REPOSITORY / "build" / "bench-data"))
    parser.add_argument("--photos", default=str(REPOSITORY.parent / "shared" / "data" / "imagenet-sample"),
                        help="a folder of class folders of JPEG photographs")
    parser.add_argument("--build", type=pathlib.Path, default=REPOSITORY / "build" / "release")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args(namespace=Arguments())
    unknown = set(asked.rows.split(",")) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; there are: {', '.join(ROWS)}")
    if asked.out is None:  # figures of small data do not belong among the results
        asked.out = (REPOSITORY / "build" / "bench-smoke.json" if asked.small else
                     machine.results_path(REPOSITORY, on_gpu=False))
    return asked


def main():
    # Ended from outside, a run still ends the programs that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))
    asked = arguments()
    os.makedirs(asked.data, exist_ok=True)
    results = kept.read(asked.out)
    results["machine"] = machine.facts()
    results["library"] = machine.library(str(asked.build / "bin" / "dataline"))
    progress = Progress(asked.small)
    for row in asked.rows.split(","):
        reason = why_left_out(row, asked, str(results["library"]))
        if reason:
            print(f"bench: {reason}", file=sys.stderr, flush=True)
            continue
        run = RowRun(row, asked, progress)
        for why in run.failed.values():
            print(f"bench: {why}", file=sys.stderr)
        entry = run.run()
        if "dataline" not in entry["failed"]:
            check_sane(row, entry)
        results["rows"][row] = entry
        kept.write(asked.out, results)  # after each row: a broken run keeps what it has
        if "dataline" in entry["failed"]:
            raise SystemExit(1)  # said already
        if asked.small:
            print(f"{row}: sane", flush=True)
    if not asked.small:
        print(report.plain(results))
        print(f"\nraw samples: {without_paths(str(asked.out))}")


if __name__ == "__main__":
    main()
