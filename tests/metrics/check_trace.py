#!/usr/bin/env python3
"""Whether a trace is what docs/pages/guides/metrics.md says: Chrome's trace event format, as far as we write it.

    check_trace.py TRACE.json [--whole] [--least N]

--whole: the loader lived within the trace and all its batches were released, so that each flow begins and ends. --least: so many
spans at least. Ends with 1 and the first defect, else prints one line.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import decimal
import json
import sys


def fail(text, event=None):
    sys.exit(f"check_trace: {text}" + ("" if event is None else f": {event}"))


def check_event(event):
    """The members of one event, by its phase."""
    if not isinstance(event, dict) or not isinstance(event.get("name"), str) or not event["name"]:
        fail("expected an object with a name", event)
    if event.get("ph") not in ("M", "X", "s", "t", "f"):
        fail("expected ph M, X, s, t or f", event)
    for member in ("pid", "tid"):
        if type(event.get(member)) is not int:
            fail(f"expected a whole number {member}", event)
    if event["ph"] == "M":
        if not isinstance(event.get("args", {}).get("name"), str):
            fail("expected args.name", event)
        return
    # Microseconds with three digits: a double would not hold them.
    if not isinstance(event.get("ts"), decimal.Decimal):
        fail("expected ts with digits after the point", event)
    if event["ph"] == "X" and not (isinstance(event.get("dur"), (decimal.Decimal, int)) and event["dur"] >= 0):
        fail("expected dur of 0 or more", event)
    if event["ph"] in "stf" and not (isinstance(event.get("id"), str) and event.get("cat") == "batch"):
        fail("expected an id and the category batch", event)


def check_tracks(events):
    """Spans of a track follow each other, or one lies within the other; each track has a name."""
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
        if event["ph"] != "M" and (event["pid"], event["tid"]) not in named:
            fail("a track without a name", event)
    for spans in tracks.values():
        spans.sort(key=lambda span: (span["ts"], -span["dur"]))
        open_until = []  # the ends of the spans around
        for span in spans:
            end = span["ts"] + span["dur"]
            while open_until and open_until[-1] <= span["ts"]:
                open_until.pop()
            if open_until and end > open_until[-1]:
                fail("a span overlaps the one before", span)
            open_until.append(end)
    return sum(map(len, tracks.values()))


def check_flows(events, whole):
    """A batch begins once, ends once, and what happens to it comes in between."""
    flows = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "stf":
            flows[event["id"]].append(event)
    for flow in flows.values():
        phases = collections.Counter(event["ph"] for event in flow)
        if phases["s"] > 1 or phases["f"] > 1:
            fail("a flow begins or ends twice", flow[0])
        if whole and (phases["s"] != 1 or phases["f"] != 1):
            fail("a flow without its begin or its end", flow)
        begin = [event["ts"] for event in flow if event["ph"] == "s"]
        end = [event["ts"] for event in flow if event["ph"] == "f"]
        for event in flow:
            if (begin and event["ts"] < begin[0]) or (end and event["ts"] > end[0]):
                fail("a step of a flow before its begin or after its end", event)
    return len(flows)


def main():
    """See above."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("trace")
    arguments.add_argument("--whole", action="store_true")
    arguments.add_argument("--least", type=int, default=1)
    given = arguments.parse_args()
    with open(given.trace, encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    if trace.get("displayTimeUnit") != "ms" or not isinstance(trace.get("traceEvents"), list):
        fail("expected displayTimeUnit ms and the list traceEvents")
    if not str(trace.get("otherData", {}).get("realtime_ns", "")).isdigit():
        fail("expected otherData.realtime_ns")
    for event in trace["traceEvents"]:
        check_event(event)
    spans, flows = check_tracks(trace["traceEvents"]), check_flows(trace["traceEvents"], given.whole)
    if spans < given.least:
        fail(f"expected {given.least} spans, got {spans}")
    print(f"{spans} spans, {flows} batches")


if __name__ == "__main__":
    main()
