#!/usr/bin/env python3
"""A results file as a table.

    bench/report.py [FILE] [--markdown] [--all]     FILE: the newest in bench/results by default

`--all` lists every variant of every row with its spread instead.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib

import table

HEADS = ("work", "dataline", "best other", "ratio", "goal", "met")


def cells(results):
    return [(line.work, line.ours, line.other, line.ratio, line.goal, line.verdict)
            for line in table.lines(results)]


def plain(results):
    rows = [HEADS] + cells(results)
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown(results):
    rows = [HEADS, ("---",) * len(HEADS)] + cells(results)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def everything(results):
    out = []
    for name, row in results["rows"].items():
        out.append(f"\n{name}: {row['rounds']} rounds of {row['seconds']} s, commit {row['commit'][:12]}"
                   f"{' with changes' if row['changed'] else ''}, load {row['load_before']:.1f} to {row['load_after']:.1f}")
        samples = table.Row(row["samples"])
        for variant in row["samples"]:
            for metric in row["samples"][variant]:
                low, high = samples.spread(variant, metric)
                out.append(f"  {variant:32} {metric:24} {samples.value(variant, metric):12.5g}   "
                           f"{low:.5g} .. {high:.5g}")
        for variant, why in row["failed"].items():
            out.append(f"  {variant:32} not measured: {why}")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    folder = pathlib.Path(__file__).parent / "results"
    path = asked.file or max(folder.glob("*.json"), default=None, key=lambda each: each.stat().st_mtime)
    if path is None:
        parser.error(f"no results in {folder}: run bench/run.sh")
    results = json.loads(pathlib.Path(path).read_text())
    machine = results["machine"]
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, Linux {machine['kernel']}")
    print(everything(results) if asked.all else markdown(results) if asked.markdown else plain(results))


if __name__ == "__main__":
    main()
