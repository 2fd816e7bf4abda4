#!/usr/bin/env python3
"""Compares programs that do the same work: bench/compare.py WORK ARGUMENTS [--rounds N] [--out [FILE]]

    bench/compare.py                lists the works, the modules of comparisons/
    bench/compare.py WORK --help    what a work measures, and its arguments

Prints medians and ratios with their ranges. With --out the samples of every round are kept, with commit and machine.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib
import pathlib
import shlex
import sys

import kept
import machine
import report
import turns
from programs import REPOSITORY, without_paths

WORKS = sorted(path.stem for path in pathlib.Path(__file__).parent.joinpath("comparisons").glob("*.py"))


def arguments(work, module, words):
    parser = argparse.ArgumentParser(prog=f"compare.py {work}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    module.arguments(parser)
    parser.add_argument("--rounds", type=int, default=getattr(module, "ROUNDS", 5))
    default = machine.results_path(REPOSITORY, False, f"-{work.replace('_', '-')}")
    parser.add_argument("--out", type=pathlib.Path, nargs="?", const=default, help="keeps the samples; bench/results/DATE-MACHINE-WORK.json")
    return parser.parse_args(words)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in WORKS:
        sys.exit(f"{__doc__}\nworks: {', '.join(WORKS)}")
    work, *words = sys.argv[1:]
    module = importlib.import_module(f"comparisons.{work}")
    asked = arguments(work, module, words)
    command = without_paths(shlex.join(["bench/compare.py", work, *words]))
    results = {"rows": {}, "machine": machine.facts()}
    begun = kept.Begun(REPOSITORY)
    for group in module.groups(asked):
        samples = turns.measure(group, asked.rounds)
        print("\n".join(turns.tables(group, samples)), flush=True)
        notes = {group.name: "; ".join(group.notes)} if group.notes else {}
        results["rows"][group.name] = begun.entry(command, asked.rounds, getattr(asked, "seconds", 0), samples, notes=notes)
        begun = kept.Begun(REPOSITORY)
    print("\n" + "\n".join(report.heading(results)))
    if asked.out:
        stored = kept.read(asked.out)
        stored["rows"].update(results["rows"])
        kept.write(asked.out, stored)
        print(f"kept in {without_paths(str(asked.out))}")


if __name__ == "__main__":
    main()
