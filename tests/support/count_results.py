"""Counts a ctest JUnit file: prints what failed and what was skipped with its reason, then "passed failed skipped". A test that
ran a whole GoogleTest program counts as its cases, which the program told in FOLDER/<name>.xml.

  count_results.py JUNIT_XML COUNTS_FILE [FOLDER]

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys
from xml.etree import ElementTree


def reason(case):
    """Why a test was skipped: GoogleTest's text, a script's "skipped: ..." line, or what ctest says."""
    output = case.findtext("system-out") or ""
    told = re.search(r"^\S+:\d+: Skipped\n(.*)$", output, re.MULTILINE) or re.search(r"^skipped: (.*)$", output, re.MULTILINE)
    if told:
        return told.group(1).strip()
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"


def was_skipped(case):
    """The test itself asked for it. ctest calls a test without its program "skipped" too: that is a failure."""
    skipped = case.find("skipped")
    return case.get("status") == "disabled" or (skipped is not None and skipped.get("message", "").startswith("SKIP_RE"))


def verdict(case):
    if case.get("status") == "run":
        return "passed", ""
    return ("skipped", reason(case)) if was_skipped(case) else ("failed", "")


def cases_of(program, told):
    """(name, verdict, reason) of a program's cases; one more where it failed and none of them tells so."""
    found = []
    for case in ElementTree.parse(told).getroot().iter("testcase"):
        name = f"{program.get('name')}.{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            found.append((name, "failed", ""))
        elif skipped is not None:
            lines = [line for line in skipped.get("message", "").splitlines() if line.strip()]
            found.append((name, "skipped", lines[-1].strip() if lines else "no reason given"))
        elif case.get("status") == "run":
            found.append((name, "passed", ""))
    if program.get("status") != "run" and all(case[1] != "failed" for case in found):
        found.append((program.get("name"), "failed", ""))
    return found


def read(results, folder=None):
    """(name, verdict, reason) of every test in a ctest JUnit file."""
    found = []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        told = pathlib.Path(folder) / f"{case.get('name')}.xml" if folder else None
        found += cases_of(case, told) if told and told.exists() else [(case.get("name"), *verdict(case))]
    return found


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, outcome, why in read(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None):
        counts[outcome] += 1
        if outcome == "failed":
            print(f"  FAILED {name}")
        elif outcome == "skipped":
            print(f"  skipped {name}: {why}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("{passed} {failed} {skipped}\n".format(**counts))


if __name__ == "__main__":
    main()
