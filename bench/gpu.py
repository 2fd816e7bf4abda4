#!/usr/bin/env python3
"""Runs dataline_gpu, prints what it found as a table, and keeps the samples in a results file. Called by gpu.sh.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import subprocess
import sys

import kept
import machine
import report

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def merge(rounds):
    """{variant: {metric: [a value a round]}} and the notes, of the lines that the program printed."""
    samples, notes = {}, {}
    for line in rounds:
        notes.update(line["notes"])
        for variant, metrics in line["round"].items():
            for metric, value in metrics.items():
                samples.setdefault(variant, {}).setdefault(metric, []).append(value)
    return samples, notes


def keep(path, asked, ready, samples, notes, begun):
    results = kept.read(path)
    command = f"bench/gpu.sh --rounds {asked.rounds} --seconds {asked.seconds}{' --small' if asked.small else ''}"
    results["rows"]["gpu"] = begun.entry(
        command, asked.rounds, asked.seconds, samples, notes=notes, versions={"cuda": ready["cuda"]},
        driver="fake" if ready["fake"] else machine.gpu().get("driver", "unknown"),
        gpu={"name": ready["device"]} if ready["fake"] else machine.gpu() or {"name": ready["device"]})
    kept.write(path, results)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=REPOSITORY / "build" / "bench-data")
    parser.add_argument("--cuda-library", default="libcuda.so.1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--out", type=pathlib.Path, help="results; bench/results/DATE-CARD.json")
    parser.add_argument("--small", action="store_true", help="small batches: does each row run")
    parser.add_argument("--smoke", action="store_true", help="--small on any driver, and nothing is kept")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    begun = kept.Begun(REPOSITORY)
    command = [asked.program, "--data", asked.data, "--cuda-library", asked.cuda_library, "--rounds", str(asked.rounds),
               "--seconds", str(asked.seconds)] + (["--small"] if asked.smoke or asked.small else [])
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)  # 77: there is no device, which it has said
    ready, *rounds = [json.loads(line) for line in done.stdout.splitlines()]
    samples, notes = merge(rounds)
    if asked.smoke:
        for variant in sorted(samples):
            print(f"{variant}: ran")
        for variant, note in sorted(notes.items()):
            print(f"{variant}: {note}")
        print(f"gpu: sane ({'the fake driver: rates mean nothing, calls were right' if ready['fake'] else ready['device']})")
        return
    if ready["fake"] and not asked.out:
        sys.exit("gpu: the driver is the fake one, whose rates mean nothing: --smoke, or --out for a file that says so")
    path = asked.out or machine.results_path(REPOSITORY, on_gpu=True)
    results = keep(path, asked, ready, samples, notes, begun)
    only = {**results, "rows": {"gpu": results["rows"]["gpu"]}}
    print("\n".join(report.heading(only) + ["", report.plain(only)]))
    print(f"kept in {path}")


if __name__ == "__main__":
    main()
