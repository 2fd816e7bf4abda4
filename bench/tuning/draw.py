#!/usr/bin/env python3
"""Draws the training run of a results file, and writes what was measured into docs/pages/tuning-experiment.md, between two
comments; everything with a number on that page is made here.

    bench/tuning/draw.py [FILE]     FILE: the newest in bench/results with that run, by default
    bench/tuning/draw.py --check    status 1 if page or drawings are not what this makes of the file that the page names
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "bench" / "tuning")]

import drawing
from findings import findings, measured
from table import Row

PAGE = REPOSITORY / "docs" / "pages" / "tuning-experiment.md"
RESULTS = REPOSITORY / "bench" / "results"
BEGIN, END = "% measured: begin (bench/tuning/draw.py writes all of this; do not edit)\n", "% measured: end\n"
ONLY_ON_A_GPU = {"d": "pytorch, a prefetcher on a side stream"}


def parts(row, name):
    wait, copy, epoch = (row.value(name, metric) for metric in ("wait_s", "copy_s", "epoch_s"))
    return {"compute": epoch - wait - copy, "copy": copy, "wait": wait}


def bar_rows(entry, row):
    rows = []
    for letter in "abcdefg":
        name = entry["settings"].get(letter)
        if name in row.samples:
            rows.append((f"({letter}) {name}", parts(row, name)))
        else:
            rows.append((f"({letter}) {name or ONLY_ON_A_GPU.get(letter, '')}", "not measured" if name else "only on a GPU"))
    more = [name for name in ("pytorch batched w0", *entry["tuned"]) if name in row.samples]
    return rows + [(name, parts(row, name)) for name in more]


def drawings(entry, row):
    """{file name: its text}"""
    floor = row.value(entry["settings"]["e"], "epoch_s")
    tuned = next(((found["num_workers"], row.value(name, "epoch_s")) for name, found in entry["tuned"].items()), None)
    sweeps = {loader: values for loader, sweep in entry["sweeps"].items() if (values := measured(sweep, row))}
    return {"tuning-experiment.svg": drawing.bars(bar_rows(entry, row)),
            "tuning-experiment-workers.svg": drawing.workers(sweeps, floor, tuned)}


def table_of(heads, rows):
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def variant_line(entry, row, name):
    letters = [letter for letter, each in entry["settings"].items() if each == name]
    figures = [f"{value:.2f}" for value in (*parts(row, name).values(), row.value(name, "epoch_s"), row.value(name, "cpu_s"))]
    return (f"({letters[0]}) `{name}`" if letters else f"`{name}`", *figures, f"{row.values(name, 'accuracy_percent')[-1]:.1f}")


def picture(name):
    return f":::{{container}} drawing narrow\n```{{raw}} html\n:file: _static/{name}\n```\n:::\n"


def machine_line(results, entry, path):
    machine, versions = results["machine"], entry["versions"]
    return (f"{machine['cpu']}, {machine['cores']} CPUs, Linux {machine['kernel']}; PyTorch {versions['torch']}; {entry['data']}; "
            f"{entry['time'][:10]}, commit {entry['commit'][:10]}{' with changes' if entry['changed'] else ''}. Load average "
            f"{entry['load_before']:.1f} before and {entry['load_after']:.1f} after, {entry['stolen_percent']:.0f} % of the CPUs' "
            f"time stolen by other guests. Medians of {entry['rounds']} epochs, in which all variants take turns; every epoch is in "
            f"`bench/results/{path.name}`.\n")


def measured_part(results, path):
    entry, row = results["rows"]["tuning"], Row(results["rows"]["tuning"])
    heads = ("variant", "compute, s", "copy, s", "wait, s", "an epoch, s", "CPU, s", "accuracy, %")
    return "\n".join([
        machine_line(results, entry, path), "## Where an epoch's time goes\n", picture("tuning-experiment.svg"),
        table_of(heads, [variant_line(entry, row, name) for name in row.samples]),
        "## By number of workers\n", picture("tuning-experiment-workers.svg"),
        "## What the guides say\n", table_of(("guides say", "measured, an epoch", "so"), findings(entry, row, results["machine"]["cores_allowed"]))])


def files(path):
    """{path: text} of what is made of a results file."""
    results = json.loads(path.read_text())
    entry = results["rows"]["tuning"]
    before, rest = PAGE.read_text().split(BEGIN)
    page = f"{before}{BEGIN}\n{measured_part(results, path)}\n{END}{rest.split(END)[1]}"
    return {PAGE: page, **{PAGE.parent / "_static" / name: text for name, text in drawings(entry, Row(entry)).items()}}


def newest():
    found = [path for path in RESULTS.glob("*.json") if "settings" in json.loads(path.read_text())["rows"].get("tuning", {})]
    return max(found, key=lambda path: json.loads(path.read_text())["rows"]["tuning"]["time"], default=None)


def stale():
    """What is not as it would be drawn of the results file that the page names."""
    named = RESULTS / re.search(r"`bench/results/([\w.-]+\.json)`", PAGE.read_text()).group(1)
    return [str(path) for path, text in files(named).items() if not path.exists() or path.read_text() != text]


def main():
    if sys.argv[1:] == ["--check"]:
        other = stale()
        sys.exit(f"draw.py: not as it is drawn: {', '.join(other)}" if other else 0)
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else newest()
    if path is None:
        sys.exit("draw.py: no file in bench/results has the training run: bench/run.sh --tuning makes one")
    for made, text in files(path).items():
        made.write_text(text)
        print(made.relative_to(REPOSITORY))


if __name__ == "__main__":
    main()
