"""Counts a ctest JUnit file: prints what failed and what was skipped with its reason, then "passed failed skipped".

  count_results.py JUNIT_XML COUNTS_FILE

SPDX-License-Identifier: Apache-2.0
"""

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


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        name = case.get("name")
        if case.get("status") == "run":
            counts["passed"] += 1
        elif was_skipped(case):
            counts["skipped"] += 1
            print(f"  skipped {name}: {reason(case)}")
        else:
            counts["failed"] += 1
            print(f"  FAILED {name}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("{passed} {failed} {skipped}\n".format(**counts))


main()
