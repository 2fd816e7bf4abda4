"""Dataline's trace and torch.profiler's of the same run as one, on one clock: what the GPU did while the loader decoded.

    merge_traces.py DATALINE.json PROFILER.json MERGED.json      then open MERGED.json in https://ui.perfetto.dev

    with loader.trace("dataline.json"), torch.profiler.profile() as seen:
        train(loader)
    seen.export_chrome_trace("profiler.json")

Both have times in microseconds: Dataline's since 1970, the profiler's since its `baseTimeNanoseconds` (without one,
since 1970 too). A PyTorch that was built without Kineto writes no clock, and its traces cannot be merged.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any


def merge(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """The profiler's trace with our tracks in it, as a process of their own. Times are relative to the profiler's."""
    base_us = Decimal(theirs.get("baseTimeNanoseconds", 0)) / 1000
    taken = {event["pid"] for event in theirs["traceEvents"] if isinstance(event.get("pid"), int)}
    process = max(taken, default=0) + 1
    moved = []
    for event in ours["traceEvents"]:
        event = {**event, "pid": process}
        if "ts" in event:
            event["ts"] = event["ts"] - base_us
        moved.append(event)
    return {**theirs, "traceEvents": [*theirs["traceEvents"], *moved]}


def main(arguments: list[str]) -> None:
    """See above. Decimal numbers, for a double holds a quarter of a microsecond of the time since 1970."""
    if len(arguments) != 3:
        sys.exit("usage: merge_traces.py DATALINE.json PROFILER.json MERGED.json")
    ours, theirs = (json.loads(Path(path).read_text(), parse_float=Decimal) for path in arguments[:2])
    if not isinstance(theirs, dict):
        sys.exit(f"{arguments[1]}: times without a clock, for this PyTorch was built without Kineto")
    merged = merge(ours, theirs)
    Path(arguments[2]).write_text(json.dumps(merged, default=float))
    print(f"{arguments[2]}: {len(merged['traceEvents'])} events")


if __name__ == "__main__":
    main(sys.argv[1:])
