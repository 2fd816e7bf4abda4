#!/usr/bin/env python3
"""Plants bottlenecks one by one and lets `dataline doctor` find them: a table of what it said, and of the gain that it
predicted beside the one that its change then gave. Ends with 1 if a cause is wrong, or a prediction is off by more than
15 %.

    bench/doctor/plants.py [--program build/release/bin/dataline] [--seconds 6] [--only WORDS] [--verbose]

The machine should be quiet, and have two CPUs or more. A case that is wrong is tried once more: others may have had the
CPUs.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import beside
import plant_data
from cases import CASES

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
MOST_OFF = 0.15


def build_storage(folder):
    plugin = os.path.join(folder, "slow.so")
    source = pathlib.Path(__file__).with_name("slow_storage.c")
    compiler = ["cc", "-shared", "-fPIC", "-O2", "-std=gnu11", "-I", str(REPOSITORY)]
    subprocess.run([*compiler, str(source), "-o", plugin], check=True)
    return plugin


def ask(program, plugin, folder, case, seconds):
    """What doctor says of a case."""
    environment = {**os.environ, **dict(pair.split("=") for pair in case.slow.split())}
    with case.beside(folder) as under:
        words = [*under, program, "doctor", *case.words(), "--seconds", str(seconds), "--json", "--quiet"]
        if case.slow:
            words += ["--plugin", plugin]
        ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
                             check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{case.name}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def is_right(case, said):
    if said["cause"] not in case.causes.split():
        return False
    if said["change"] is None or said["measured_gain"] is None:
        return True
    return abs(said["predicted_gain"] / said["measured_gain"] - 1) <= MOST_OFF


def row_of(case, said, remark):
    change, measured = said["change"], said["measured_gain"]
    told = f"{change['option']}={change['value']}" if change else "-"
    figures = ("-", "-", "-")
    if change and measured:
        figures = (f"{said['predicted_gain']:.2f}", f"{measured:.2f}", f"{said['predicted_gain'] / measured:.2f}")
    return (case.name, case.causes.replace(" ", "|"), said["cause"], told, *figures, remark)


WIDTHS = (38, 28, 17, 18, 9, 8, 5, 0)


def show(cells):
    print(" ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS)).rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(REPOSITORY / "build/release/bin/dataline"))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--verbose", action="store_true", help="also what doctor said")
    options = parser.parse_args()
    wrong, program = 0, os.path.abspath(options.program)
    with tempfile.TemporaryDirectory(prefix="dataline-plants-") as folder:
        plugin = build_storage(folder)
        plant_data.make(folder)
        show(("case", "expected", "cause", "change", "predicted", "measured", "ratio"))
        for case in [case for case in CASES if options.only in case.name]:
            try:
                said = ask(program, plugin, folder, case, options.seconds)
                remark = ""
                if not is_right(case, said):
                    show(row_of(case, said, "tried again:"))
                    said = ask(program, plugin, folder, case, options.seconds)
            except beside.Skip as reason:
                show((case.name, case.causes, "skipped: " + str(reason)))
                continue
            if not is_right(case, said):
                wrong, remark = wrong + 1, "WRONG"
            show(row_of(case, said, remark))
            if options.verbose or remark:
                print("    " + said["verdict"])
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
