#!/usr/bin/env python3
"""Draws the training run of a results file, and writes what was measured into docs/pages/tuning-experiment.md, between two
comments; everything with a number on that page is made here.

    bench/tuning/draw.py [FILE...]  the newest in bench/results with that run, on a CPU and on a GPU, by default
    bench/tuning/draw.py --check    status 1 if page or drawings are not what this makes of the files that the page names
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
SUFFIXES = {"tuning": "", "tuning_cuda": "-gpu"}  # of the rows' drawings
ONLY_ON_A_GPU = {"d": "pytorch, a prefetcher on a side stream"}


def parts(row, name):
    wait, copy, epoch = (row.value(name, metric) for metric in ("wait_s", "copy_s", "epoch_s"))
    return {"compute": epoch - wait - copy, "copy": copy, "wait": wait}


def bar_rows(entry, row):
    rows = []
    for letter in [*"abcdefg", *(letter for letter in entry["settings"] if len(letter) > 1)]:
        name = entry["settings"].get(letter)
        if name in row.samples:
            rows.append((f"({letter}) {name}", parts(row, name)))
        else:
            rows.append((f"({letter}) {name or ONLY_ON_A_GPU.get(letter, '')}", "not measured" if name else "only on a GPU"))
    more = [name for name in ("pytorch batched w0", *entry["tuned"]) if name in row.samples]
    return rows + [(name, parts(row, name)) for name in more]


def drawings(entry, row, suffix):
    """{file name: its text}"""
    floor = row.value(entry["settings"]["e"], "epoch_s")
    tuned = next(((found["num_workers"], row.value(name, "epoch_s")) for name, found in entry["tuned"].items()), None)
    sweeps = {loader: values for loader, sweep in entry["sweeps"].items() if (values := measured(sweep, row))}
    return {f"tuning-experiment{suffix}.svg": drawing.bars(bar_rows(entry, row)),
            f"tuning-experiment{suffix}-workers.svg": drawing.workers(sweeps, floor, tuned)}


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
    card = f"{entry['gpu']['name']}; " if entry["gpu"] else ""
    return (f"{card}{machine['cpu']}, {machine['cores']} CPUs, Linux {machine['kernel']}; PyTorch {versions['torch']}; {entry['data']}; "
            f"{entry['time'][:10]}, commit {entry['commit'][:10]}{' with changes' if entry['changed'] else ''}. Load average "
            f"{entry['load_before']:.1f} before and {entry['load_after']:.1f} after, {entry['stolen_percent']:.0f} % of the CPUs' "
            f"time stolen by other VMs. Medians of {entry['rounds']} epochs, in which all variants take turns; every epoch is in "
            f"`bench/results/{path.name}`.\n")


def measured_part(results, name, path):
    entry, row, suffix = results["rows"][name], Row(results["rows"][name]), SUFFIXES[name]
    heads = ("variant", "compute, s", "copy, s", "wait, s", "an epoch, s", "CPU, s", "accuracy, %")
    said = findings(entry, row, results["machine"]["cores_allowed"], bool(suffix))
    where, of = ("GPU", ", on a GPU") if suffix else ("CPU", "")
    return "\n".join([
        f"## On a {where}\n", machine_line(results, entry, path), f"### Where an epoch's time goes{of}\n", picture(f"tuning-experiment{suffix}.svg"),
        table_of(heads, [variant_line(entry, row, each) for each in row.samples]),
        f"### By number of workers{of}\n", picture(f"tuning-experiment{suffix}-workers.svg"),
        f"### What the guides say{of}\n", table_of(("guides say", "measured, an epoch", "so"), said)])


def files(paths):
    """{path: text} of what is made of the files of results."""
    made, sections = {}, []
    for path in paths:
        results = json.loads(path.read_text())
        for name in (name for name in SUFFIXES if has(results, name)):
            sections.append(measured_part(results, name, path))
            entry = results["rows"][name]
            made.update(drawings(entry, Row(entry), SUFFIXES[name]))
    if not any(text.startswith("## On a GPU") for text in sections):
        sections.append("## On a GPU\n\nThe experiment has not run on a GPU yet. To run it: `bench/run.sh --tuning --device cuda`.\n")
    before, rest = PAGE.read_text().split(BEGIN)
    page = before + "\n".join([BEGIN, *sections, END]) + rest.split(END)[1]
    return {PAGE: page, **{PAGE.parent / "_static" / name: text for name, text in made.items()}}


def has(results, name):
    """A row of this program's, not one from before it had settings."""
    return "settings" in results["rows"].get(name, {})


def newest(name):
    """The file in which the run was measured last, in a list; or none."""
    every = [(json.loads(path.read_text()), path) for path in RESULTS.glob("*.json")]
    found = [(results["rows"][name]["time"], path) for results, path in every if has(results, name)]
    return [max(found)[1]] if found else []


def stale():
    """What is not as it would be drawn of the results that the page names."""
    named = dict.fromkeys(re.findall(r"`bench/results/([\w.-]+\.json)`", PAGE.read_text()))
    made = files([RESULTS / name for name in named])
    return [str(path) for path, text in made.items() if not path.exists() or path.read_text() != text]


def main():
    if sys.argv[1:] == ["--check"]:
        other = stale()
        sys.exit(f"draw.py: not as it is drawn: {', '.join(other)}" if other else 0)
    paths = [pathlib.Path(word) for word in sys.argv[1:]] or newest("tuning") + newest("tuning_cuda")
    if not paths:
        sys.exit("draw.py: no file in bench/results has the training run: bench/run.sh --tuning makes one")
    for made, text in files(paths).items():
        made.write_text(text)
        print(made.relative_to(REPOSITORY))


if __name__ == "__main__":
    main()
