#!/usr/bin/env python3
"""A results file as a table.

    bench/report.py [FILE] [--markdown] [--all]     FILE: the one in bench/results that was measured last, by default

`--markdown` is a page's worth for a README; `--all` lists every variant of every row with its spread instead.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib

import table

HEADS = ("work", "dataline", "best other", "ratio", "goal", "met", "least .. greatest round")


def cells(line):
    return line.work, line.ours, line.other, line.ratio, line.goal, line.verdict, line.spread


def heading(results):
    machine, rows = results["machine"], results["rows"]
    versions = {name: version for row in rows.values() for name, version in row.get("versions", {}).items()}
    commits = sorted({row["commit"][:10] + (" with changes" if row["changed"] else "") for row in rows.values()})
    loads = [row[at] for row in rows.values() for at in ("load_before", "load_after")]
    out = ["driver: fake, NO MEASUREMENT: the rates mean nothing"] if any(table.is_fake(row) for row in rows.values()) else []
    out += [f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, Linux {machine['kernel']}; "
            f"commit {', '.join(commits)}; load average {min(loads):.1f} to {max(loads):.1f}"]
    cards = {" ".join(row["gpu"].values()) for row in rows.values() if row.get("gpu")}
    out += [f"GPU: {card}" for card in sorted(cards)]
    if versions:
        out.append("others: " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())))
    return out


def not_measured(results):
    return [why for row in results["rows"].values() for why in row["failed"].values()]


def plain(results):
    rows = [HEADS] + [cells(line) for line in table.lines(results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    out = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    missing = not_measured(results)
    return "\n".join(out + (["", "not measured:"] + [f"  {why}" for why in missing] if missing else []))


def markdown(results):
    lines = [line for line in table.lines(results) if line.short]
    rows = [("work", "Dataline", "best other", "ratio", "goal", "met"), ("---",) * 6]
    rows += [(line.work, line.ours, line.other, line.ratio, line.goal, line.verdict) for line in lines]
    out = ["| " + " | ".join(row) + " |" for row in rows]
    missing = not_measured(results)
    if missing:
        out += ["", f"{len(missing)} programs or variants took no part in some row; `bench/report.py` names each."]
    return "\n".join(out)


def everything(results):
    out = []
    for name, entry in results["rows"].items():
        out.append(f"\n{name}: {entry['rounds']} rounds of {entry['seconds']} s, commit {entry['commit'][:10]}"
                   f"{' with changes' if entry['changed'] else ''}, load {entry['load_before']:.1f} to "
                   f"{entry['load_after']:.1f}")
        row = table.Row(entry)
        for variant in sorted(row.samples):
            for metric, values in row.samples[variant].items():
                out.append(f"  {variant:32} {metric:24} {row.value(variant, metric):12.5g}   "
                           f"{min(values):.5g} .. {max(values):.5g}")
        out += [f"  {variant:32} {note}" for variant, note in entry.get("notes", {}).items()]
        out += [f"  {variant:32} not measured: {why}" for variant, why in entry["failed"].items()]
    return "\n".join(out)


def newest(folder):
    """By what the files say: a checkout gives all of them the same time."""
    every = [(json.loads(path.read_text()), path) for path in folder.glob("*.json")]
    known = [(max(row["time"] for row in results["rows"].values()), path) for results, path in every if table.lines(results)]
    return max(known, default=(None, None))[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    folder = pathlib.Path(__file__).parent / "results"
    path = asked.file or newest(folder)
    if path is None:
        parser.error(f"no results in {folder}: run bench/run.sh")
    results = json.loads(pathlib.Path(path).read_text())
    print("\n".join(heading(results)), end="\n\n")
    print(everything(results) if asked.all else markdown(results) if asked.markdown else plain(results))


if __name__ == "__main__":
    main()
