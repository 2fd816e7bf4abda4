"""Two builds of Dataline on the same work: OLD and NEW are build folders (build/release of two checkouts), of which each runs
`dataline_rows`. A ratio below 1: the new one is faster.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from turns import Group

ROUNDS = 4

# What a row is about, where it has it; less is better.
FIGURES = ("us_per_batch", "wait_percent", "first_batch_ms", "next_epoch_us", "resume_ms")
ROWS = "rows_u8_47mb,rows_f32,tokens,overhead,first_batch,next_epoch,resume,consumer_1ms"


def figures(which, build, row, options):
    """The median of a turn's rounds, for each variant of the row."""
    command = [build / "bench/dataline_rows", row, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{build}: {row}: {done.stderr.strip() or done.returncode}")
    samples = {}
    for line in done.stdout.splitlines():
        for variant, values in json.loads(line).get("round", {}).items():
            name = next((figure for figure in FIGURES if figure in values), None)
            if name is not None:
                samples.setdefault(f"{variant}, {which}", {}).setdefault(name, []).append(values[name])
    return {variant: {name: statistics.median(values) for name, values in figures.items()} for variant, figures in samples.items()}


def new_over_old(samples):
    both = [variant.removesuffix(", new") for variant in samples if variant.endswith(", new") and variant.replace(", new", ", old") in samples]
    return [(figure, f"{variant}, new", f"{variant}, old") for variant in both for figure in samples[f"{variant}, new"]]


def arguments(parser):
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--each", default="3", metavar="N", help="rounds of dataline_rows in a turn, of which the median counts")
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--photos", help="a folder of JPEGs, for the rows of photographs")


def groups(asked):
    with tempfile.TemporaryDirectory() as data:
        options = ["--data", data, "--rounds", asked.each, "--seconds", str(asked.seconds)]
        options += ["--photos", asked.photos] if asked.photos else []
        for row in asked.rows.split(","):
            yield Group(f"before and after: {row}", [lambda which=which, row=row: figures(which, getattr(asked, which), row, options)
                                                     for which in ("old", "new")], ratios=new_over_old)
