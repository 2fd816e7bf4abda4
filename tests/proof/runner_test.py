"""What runs again and what does not.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import os
import select
import shutil
import time

import report
from testing import TreeCase, write


class Runs(TreeCase):
    def setUp(self):
        super().setUp()
        write(self.root, {"input": "1", "other": "1"})

    def run_parts(self, *parts, **more):
        """Runs the parts with a new runner, as a new call of tests/run.sh does."""
        made = self.runner(**more)
        made.run(parts)
        return made

    def test_what_passed_does_not_run_again_and_is_told_of(self):
        part = self.script("true")
        first, second = self.run_parts(part), self.run_parts(part)
        self.assertEqual((self.runs(), len(first.results), len(second.results)), (1, 1, 0))
        self.assertRegex(self.told[-1], r"^part: same inputs passed \d{4}-\d\d-\d\d \d\d:\d\d at no commit with changes$")

    def test_a_changed_input_runs_it_again(self):
        part = self.script("true")
        self.run_parts(part)
        write(self.root, {"input": "2"})
        self.run_parts(part)
        self.assertEqual(self.runs(), 2)

    def test_a_file_that_is_not_an_input_does_not(self):
        part = self.script("true")
        self.run_parts(part)
        write(self.root, {"other": "2"})
        self.run_parts(part)
        self.assertEqual(self.runs(), 1)

    def test_a_checkout_elsewhere_shares_what_passed(self):
        part = self.script("true")
        self.run_parts(part)
        other = self.folder / "elsewhere"
        shutil.copytree(self.root, other)
        self.run_parts(part, root=other)
        self.assertEqual(self.runs(), 1)

    def test_a_failed_part_is_not_stored(self):
        part = self.script("echo why; false")
        for _ in range(2):
            made = self.run_parts(part)
            self.assertEqual(made.results[0].failed, 1)
        self.assertEqual(self.runs(), 2)
        self.assertIn("  why", self.told)

    def test_a_failed_part_does_not_stop_the_later_ones(self):
        made = self.run_parts(self.script("false", "one"), self.script("true", "two"))
        self.assertEqual([result.verdict for result in made.results], ["FAILED", "passed"])

    def test_fresh_runs_what_passed(self):
        part = self.script("true")
        self.run_parts(part)
        self.run_parts(part, fresh=True)
        self.assertEqual(self.runs(), 2)

    def test_a_part_that_is_always_run_has_no_key(self):
        part = self.script("echo '7 passed, 0 failed, 0 skipped'", always=True)
        self.run_parts(part)
        made = self.run_parts(part)
        self.assertEqual((self.runs(), made.results[0].passed), (2, 7))

    def test_stored_skips_are_told_again(self):
        part = self.script("echo 'skipped: clang-tidy is not installed'; exit 77")
        self.run_parts(part)
        self.told.clear()
        self.run_parts(part)
        self.assertEqual(self.runs(), 1)
        self.assertEqual(self.told[1], "  skipped part: skipped: clang-tidy is not installed")

    def test_a_skip_that_the_key_does_not_explain_is_not_stored(self):
        part = self.script("echo 'skipped: the moon is full'; exit 77")
        self.run_parts(part)
        self.run_parts(part)
        self.assertEqual(self.runs(), 2)
        self.assertIn("not stored", self.told[-1])

    def test_a_declared_variable_counts_and_is_passed(self):
        part = self.script('test "$DECLARED" = 2', environment=("DECLARED",))
        self.run_parts(part, environment={"DECLARED": "2"})
        self.run_parts(part, environment={"DECLARED": "2"})
        self.assertEqual(self.runs(), 1)
        self.assertTrue(self.run_parts(part, environment={"DECLARED": "3"}).results[0].failed)
        self.assertEqual(self.runs(), 2)

    def test_an_undeclared_variable_neither_counts_nor_is_passed(self):
        part = self.script('test -z "$UNDECLARED"')
        self.run_parts(part, environment={"UNDECLARED": "2"})
        self.run_parts(part, environment={"UNDECLARED": "3"})
        self.assertEqual((self.runs(), self.told[-1].startswith("part: same inputs")), (1, True))

    def test_a_part_is_passed_nothing_that_other_parts_declare(self):
        part = self.script('test -z "$DATALINE_OTHER"', environment=("DECLARED",))
        self.assertEqual(self.run_parts(part, environment={"DATALINE_OTHER": "1"}).results[0].failed, 0)

    def test_the_command_counts(self):
        part = self.script("true")
        self.run_parts(part)
        self.run_parts(dataclasses.replace(part, command=(*part.command, "more")))
        self.assertEqual(self.runs(), 2)

    def test_what_is_assumed_counts_with_long_alone(self):
        part = self.script("true", assumes=("other",))
        for long, expected in ((False, 1), (True, 3)):
            self.run_parts(part, long=long)
            write(self.root, {"other": f"changed {long}"})
            self.run_parts(part, long=long)
            self.assertEqual(self.runs(), expected)

    def test_inputs_that_change_while_it_runs_are_not_stored(self):
        part = self.script(f"echo more >>{self.root}/input")
        self.run_parts(part)
        self.assertIn("its inputs changed meanwhile", self.told[-1])
        self.run_parts(part)
        self.assertEqual(self.runs(), 2)

    def test_a_part_that_takes_too_long_is_ended_with_its_children(self):
        began = time.monotonic()
        made = self.run_parts(self.script(f"sleep 600 & echo $! >{self.folder}/child; wait", seconds=1))
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(made.results[0].failed, 1)
        child = int((self.folder / "child").read_text(encoding="utf-8"))
        try:
            descriptor = os.pidfd_open(child)
        except ProcessLookupError:
            return
        self.addCleanup(os.close, descriptor)
        ended, _, _ = select.select([descriptor], [], [], 60)  # a busy machine may take its time to end what was killed
        self.assertEqual(ended, [descriptor])

    def test_parts_beside_others_are_all_reported(self):
        made = self.run_parts(self.script("true", "one", beside=("two",)), self.script("false", "two"))
        self.assertEqual(sorted((result.name, result.verdict) for result in made.results), [("one", "passed"), ("two", "FAILED")])

    def test_a_part_runs_beside_those_that_it_names_and_no_other(self):
        slow = self.script(f"while [ ! -e {self.folder}/go ]; do sleep 0.05; done", "slow", beside=("quick",))
        quick = self.script(f"touch {self.folder}/go", "quick/one")  # alone, the slow one would never end
        after = self.script(f"touch {self.folder}/after", "after")
        made = self.run_parts(slow, quick, after)
        self.assertEqual({result.name: result.verdict for result in made.results}, {"slow": "passed", "quick/one": "passed", "after": "passed"})
        self.assertEqual(made.results[-1].name, "after")  # the slow one was reported before it began


class Reports(TreeCase):
    def test_the_last_line_counts_what_ran_and_the_line_above_what_did_not(self):
        ran = report.Result("a", passed=3, failed=1, skips=["x: y"])
        lines = report.summary([ran], [("b", {"passed": 40, "skips": ["s"]})], 60, 2)
        self.assertEqual(lines[-1], "3 passed, 1 failed, 1 skipped")
        self.assertRegex(lines[-2], r"^1 parts not run again, .*: 40 tests, 1 skipped")

    def test_times_are_appended_and_bounded(self):
        path = self.folder / "times.tsv"
        rows = report.rows([report.Result("a", passed=1, key="k", compile_seconds=1.25, run_seconds=2)], "2026-11-28 14:02", "1a2b3c4", "cpu x 2")
        for _ in range(2):
            report.add_times(path, rows)
        lines = path.read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0].split("\t"), list(report.COLUMNS))
        self.assertEqual(lines[1:], ["2026-11-28 14:02\t1a2b3c4\tcpu x 2\ta\tk\t1.2\t2.0\t0.0\tpassed"] * 2)
        report.add_times(path, rows * (report.MAX_ROWS + 5))
        self.assertEqual(len(path.read_text(encoding="utf-8").splitlines()), report.MAX_ROWS + 1)
