#!/usr/bin/env python3
"""Loops in every language by one script of cases: loops.json, run by each language's driver (README.md).

  loops_test.py [--case TEXT] NAME=COMMAND...   COMMAND: the driver of that language, as a shell would split it

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import shlex
import subprocess
import sys

LIMIT_S = 120  # of one language: a call that hangs ends here


def steps_of(case):
    return [(f"open {case['open']}", "ok"), *case["steps"]]


def run(cases, command):
    """What the driver printed, line by line, and how it ended; "" when that was well."""
    commands = "".join(f"{step}\n" for case in cases for step, _ in steps_of(case))
    try:
        ran = subprocess.run(shlex.split(command), input=commands, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode().splitlines(), f"the driver hung for {LIMIT_S} s"
    ended = "" if ran.returncode == 0 else f"the driver ended with {ran.returncode}: {ran.stderr.strip()}"
    return ran.stdout.splitlines(), ended


def differences(cases, command):
    """One text for each case that went otherwise than the script says."""
    printed, ended = run(cases, command)
    found = []
    for case in cases:
        steps = steps_of(case)
        got, printed = printed[:len(steps)], printed[len(steps):]
        wrong = [f"{case['name']}: {step}: expected {expected!r}, got {line!r}"
                 for (step, expected), line in zip(steps, got) if line != expected]
        if len(got) < len(steps):
            wrong.append(f"{case['name']}: {steps[len(got)][0]}: expected {steps[len(got)][1]!r}, and nothing came")
        found += wrong[:1]
        if len(got) < len(steps):
            break
    if printed:
        found.append(f"after the last step it printed {printed[0]!r}")
    return found + [ended] * (ended != "")


def main():
    arguments = sys.argv[1:]
    cases = json.loads((pathlib.Path(__file__).parent / "loops.json").read_text(encoding="utf-8"))["cases"]
    if arguments[:1] == ["--case"]:
        cases = [case for case in cases if arguments[1] in case["name"]]
        arguments = arguments[2:]
    if not cases or not arguments:
        sys.exit(__doc__)
    failed = 0
    for argument in arguments:
        name, _, command = argument.partition("=")
        found = differences(cases, command)
        for text in found:
            print(f"{name}: {text}")
        print(f"loops in {name}: {len(cases)} cases, {len(found)} differences")
        failed += bool(found)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
