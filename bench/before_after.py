#!/usr/bin/env python3
"""Two builds of Dataline on the same work in one run: before_after.py OLD NEW [--rows a,b] [--turns N] [--rounds N] [--seconds S]

OLD and NEW are build folders (build/release of two checkouts). Their `dataline_rows` take turns, the one that begins changes,
so that a slow moment of the machine hits both. Prints a table: the median of each, and of the turns' own ratios (new over old;
below 1 is faster), with the least and the most.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

# What a row is about, where it has it; less is better.
FIGURES = ("us_per_batch", "wait_percent", "first_batch_ms", "next_epoch_us", "resume_ms")
ROWS = "rows_u8_47mb,rows_f32,tokens,overhead,first_batch,next_epoch,resume,consumer_1ms"


def figures(build, row, options):
    """The median of a turn's rounds, for each variant of the row."""
    command = [build / "bench/dataline_rows", row, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{build}: {row}: {done.stderr.strip() or done.returncode}")
    samples = {}
    for line in done.stdout.splitlines():
        for variant, told in json.loads(line).get("round", {}).items():
            name = next((figure for figure in FIGURES if figure in told), None)
            if name is not None:
                samples.setdefault((row, variant, name), []).append(told[name])
    return {key: statistics.median(values) for key, values in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--rounds", default="3")
    parser.add_argument("--seconds", default="0.2")
    parser.add_argument("--photos", help="a folder of JPEGs, for the rows of photographs")
    told = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as data:
        options = ["--data", data, "--rounds", told.rounds, "--seconds", told.seconds]
        options += ["--photos", told.photos] if told.photos else []
        for row in told.rows.split(","):
            for turn in range(told.turns):
                order = ("old", "new") if turn % 2 == 0 else ("new", "old")
                both = {which: figures(getattr(told, which), row, options) for which in order}
                for key in both["old"].keys() & both["new"].keys():
                    found.setdefault(key, []).append((both["old"][key], both["new"][key]))
    print("| row | variant | figure | old | new | new / old (least to most) |\n|---|---|---|---|---|---|")
    for (row, variant, name), pairs in sorted(found.items()):
        old, new = (statistics.median(side) for side in zip(*pairs))
        ratios = [n / o for o, n in pairs if o > 0]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else ""
        print(f"| {row} | {variant} | {name} | {old:.3g} | {new:.3g} | {ratio} |")


if __name__ == "__main__":
    main()
