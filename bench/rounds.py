#!/usr/bin/env python3
"""Runs rows: every program that takes part is started, then all take turns, round after round, so that a slow moment
of the machine hits everybody. Called by run.sh, which builds what this needs.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import select
import shlex
import signal
import subprocess
import sys
import time

import machine
import report

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PEERS = REPOSITORY / "build" / "peers"

ROWS = ("rows_u8_47mb", "rows_f32", "tokens", "overhead", "first_batch", "next_epoch", "resume", "consumer_1ms",
        "allocator", "rows_u8_4700mb", "cold")
MAIN = {"rows_u8_47mb", "rows_f32", "tokens", "overhead", "consumer_1ms"}
# (script, environment, rows it takes part in)
SCRIPTS = (
    ("numpy_limits.py", "native", {"rows_u8_47mb", "rows_u8_4700mb", "rows_f32", "tokens", "overhead"}),
    ("pytorch.py", "torch", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("mlx_data.py", "native", MAIN),
    ("ffcv_beton.py", "ffcv", MAIN),
    ("spdl_threads.py", "native", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("dali_source.py", "dali", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("tf_data.py", "tf", MAIN | {"first_batch"}),
    ("grain_map.py", "grain", MAIN | {"first_batch"}),
)
LIBTORCH_ROWS = {"rows_u8_47mb", "rows_u8_4700mb", "rows_f32", "tokens"}
PREPARE_LIMIT_S, ROUND_LIMIT_S = 900, 300


class Contender:
    """One program that speaks the line protocol."""

    def __init__(self, name, words, log):
        self.name, self.failed = name, {}
        with open(log, "w") as file:
            # A session of its own: what it started can be ended with it.
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file,
                                            text=True, bufsize=1, start_new_session=True)
        self.log = log

    def _answer(self, limit_s):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 1.0)[0]:
                line = self.process.stdout.readline()
                if not line:
                    break
                if line.startswith("{"):
                    return json.loads(line)
        tail = self.log.read_text(errors="replace").strip().splitlines()[-1:] or ["no word"]
        raise RuntimeError(f"ended or over {limit_s} s: {tail[0]}")

    def ready(self):
        answer = self._answer(PREPARE_LIMIT_S)
        self.failed = answer.get("failed", {})
        return answer

    def round(self):
        self.process.stdin.write("round\n")
        self.process.stdin.flush()
        return self._answer(ROUND_LIMIT_S)

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def programs(row, asked):
    """(name, command) of everything that takes part; what is missing is said, not hidden."""
    common = [row, "--data", asked.data, "--seconds", str(asked.seconds)] + (["--small"] if asked.small else [])
    out, missing = [("dataline", [str(asked.build / "bench" / "dataline_rows"), *common])], {}
    if asked.no_peers:
        return out, missing
    libtorch = PEERS / "libtorch" / "libtorch_rows"
    if row in LIBTORCH_ROWS:
        if libtorch.exists():
            out.append(("libtorch", [str(libtorch), *common]))
        else:
            missing["libtorch"] = "not built"
    for script, environment, rows in SCRIPTS:
        if row not in rows:
            continue
        name = script.removesuffix(".py")
        if (PEERS / environment / "ready").exists():
            out.append((name, [str(PEERS / environment / "bin" / "python"), "-W", "ignore",
                               str(REPOSITORY / "bench" / "peers" / script), *common]))
        else:
            missing[name] = f"{environment} could not be installed"
    return out, missing


def run_row(row, asked):
    words, failed = programs(row, asked)
    logs = REPOSITORY / "build" / "bench-logs"
    logs.mkdir(parents=True, exist_ok=True)
    contenders, versions, samples, notes = [], {}, {}, {}
    load_before, ticks_before = os.getloadavg()[0], machine.cpu_ticks()
    try:
        for name, command in words:
            contender = Contender(name, command, logs / f"{row}-{name}.log")
            try:
                answer = contender.ready()
            except RuntimeError as error:
                contender.end()
                if name == "dataline":
                    raise
                failed[name] = str(error)
                continue
            contenders.append(contender)
            failed.update(contender.failed)
            versions.update(answer.get("versions", {}))
        for number in range(asked.rounds + 1):
            progress(f"{row}: round {number} of {asked.rounds}, {len(contenders)} programs")
            for contender in list(contenders if number % 2 == 0 else contenders[::-1]):
                try:
                    answer = contender.round()
                except RuntimeError as error:
                    if contender.name == "dataline":
                        raise
                    failed[contender.name] = str(error)
                    contenders.remove(contender)
                    contender.end()
                    continue
                if number == 0:
                    continue  # warm-up
                notes.update(answer.get("notes", {}))
                for variant, metrics in answer["round"].items():
                    for metric, value in metrics.items():
                        samples.setdefault(variant, {}).setdefault(metric, []).append(value)
    finally:
        for contender in contenders:
            contender.end()
        progress("")
    ticks, stolen = (after - before for after, before in zip(machine.cpu_ticks(), ticks_before))
    commit, changed = machine.commit(REPOSITORY)
    return {"command": " ".join(shlex.quote(word) for word in words[0][1]), "commit": commit, "changed": changed,
            "time": datetime.datetime.now().isoformat(timespec="seconds"), "seconds": asked.seconds,
            "rounds": asked.rounds, "load_before": load_before, "load_after": os.getloadavg()[0],
            "stolen_percent": 100 * stolen / max(ticks, 1), "versions": versions, "failed": failed, "notes": notes,
            "samples": samples}


def progress(line):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def check_sane(row, entry):
    """What must hold of any run, however short and however busy the machine."""
    for variant, metrics in entry["samples"].items():
        for metric, values in metrics.items():
            if not all(math.isfinite(value) for value in values):
                raise SystemExit(f"bench: {row}: {variant}: {metric} is not a number")
            if metric in ("rows_per_s", "mb_per_s", "first_batch_ms") and min(values) <= 0:
                raise SystemExit(f"bench: {row}: {variant}: {metric} is not above 0")
    if not any(variant.startswith("dataline") for variant in entry["samples"]):
        raise SystemExit(f"bench: {row}: no sample of Dataline")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each variant in each round")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--data", default=str(REPOSITORY / "build" / "bench-data"))
    parser.add_argument("--build", type=pathlib.Path, default=REPOSITORY / "build" / "release")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()
    unknown = set(asked.rows.split(",")) - set(ROWS)
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; there are: {', '.join(ROWS)}")
    os.makedirs(asked.data, exist_ok=True)
    out = asked.out or (REPOSITORY / "bench" / "results" / f"{datetime.date.today()}-{machine.slug()}.json")
    results = json.loads(out.read_text()) if out.exists() else {"rows": {}}
    results["machine"] = machine.facts()
    results["library"] = machine.library(str(asked.build / "bin" / "dataline"))
    for row in asked.rows.split(","):
        entry = run_row(row, asked)
        check_sane(row, entry)
        results["rows"][row] = entry
        for name, why in entry["failed"].items():
            print(f"bench: {row}: {name} was not measured: {why}", file=sys.stderr)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1) + "\n")  # after each row: a broken run keeps what it has
    print(report.plain(results))
    print(f"\nraw samples: {out}")


if __name__ == "__main__":
    main()
