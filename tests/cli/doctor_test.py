"""doctor: planted bottlenecks are named, and the change that it advises is checked.

Rates on a machine that others use vary: what is asserted is the cause, and where a factor of several is planted, the gain.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import unittest

import shell
from shell import ShellTest


class Doctor(ShellTest):
    def doctor(self, *words, seconds="0.4"):
        return json.loads(self.ok("doctor", *words, "--seconds", seconds, "--json"))

    def setUp(self):
        super().setUp()
        self.digits(4000, 28)

    def test_a_slow_consumer_is_the_limit(self):
        said = self.doctor("idx:images", "--batch-size", "64", "--num-workers", "1", "--consumer-ms", "5")
        self.assertEqual((said["cause"], said["change"], said["measured_gain"]), ("consumer", None, None), said)
        self.assertEqual(said["predicted_gain"], 1)
        runs = {row["run"]: row for row in said["evidence"]}
        self.assertGreater(runs["no consumer"]["samples_per_s"], runs["as asked"]["samples_per_s"])
        self.assertGreaterEqual(runs["as asked"]["step_ms"], 5)

    def test_a_budget_below_the_plan_is_named_and_not_an_error(self):
        said = self.doctor("idx:images", "--batch-size", "1024", "--memory-budget", "64KiB")
        self.assertEqual((said["cause"], said["change"]), ("memory_budget", {"option": "memory_budget", "value": "auto"}))
        self.assertEqual((said["evidence"], said["memory"]), ([], []))

    def test_held_batches_are_named_with_the_option(self):
        said = self.doctor("idx:images", "--batch-size", "64", "--num-workers", "1", "--max-leases", "2", "--consumer-holds", "8")
        self.assertEqual((said["cause"], said["change"]), ("leases_held", {"option": "max_leases", "value": "8"}), said)
        self.assertIsNotNone(said["measured_gain"])

    def test_without_a_driver_the_pin_is_refused_for_that_and_the_warning_comes_once(self):
        self.npy("a.npy", "<u8", (1000,), bytes(8000))
        ran = self.run_shell("doctor", "npy:a.npy", "--pin-memory", "--cuda-library", "/nowhere/libcuda.so.1", "--seconds", "0.3", "--json")
        self.assertEqual(ran.status, 0, ran.err)
        found = json.loads(ran.out)
        self.assertEqual(found["cause"], "pin_refused")
        self.assertIn("not page-locked", found["verdict"])
        self.assertNotIn("RLIMIT", found["verdict"])
        self.assertEqual(ran.err.count("not page-locked"), 1, ran.err)

    def test_memory_is_told_by_purpose(self):
        said = self.doctor("idx:images", "--consumer-ms", "2")
        self.assertGreater(said["memory"][0]["bytes"], 0)
        self.assertIn("prefetch_depth", said["memory"][0]["option"])

    def test_the_cpus_that_are_busy_count_the_consumer_that_does_the_work(self):
        said = self.doctor("idx:images", "--batch-size", "64", "--num-workers", "0")
        asked = said["evidence"][0]
        self.assertEqual((asked["run"], asked["num_workers"], asked["workers_busy"]), ("as asked", 0, 0))
        self.assertGreater(asked["cpus_busy"], 0.05)

    def test_people_get_the_same_as_text(self):
        text = self.ok("doctor", "idx:images", "--num-workers", "1", "--consumer-ms", "5", "--seconds", "0.4").decode()
        self.assertTrue(text.startswith("the consumer is the limit"), text)
        self.assertIn("as asked", text)

    def test_storage_alone_is_told_beside_the_loader(self):
        said = self.doctor("idx:images", "--batch-size", "64", "--num-workers", "1", seconds="0.3")
        self.assertGreater(said["storage"]["random_bytes_per_s"], 0)
        self.assertGreater(said["storage"]["sequential_bytes_per_s"], 0)
        self.assertAlmostEqual(said["storage"]["piece_bytes"], 784, delta=80)
        self.assertTrue(all(0 <= row[share] <= 1 for row in said["evidence"] for share in ("read_share", "storage_share", "no_cpu_share")))

    def traced(self, *words):
        self.ok("cat", "idx:images", "--trace", "t.json", "--batch-size", "64", "-o", "out", *words)

    def test_a_trace_alone_gives_a_verdict_and_nothing_runs(self):
        self.traced("--num-workers", "0")
        said = json.loads(self.ok("doctor", "--attach", "t.json", "--json"))
        (row,) = said["evidence"]
        self.assertEqual((row["run"], row["steps"], row["num_workers"]), ("trace", 63, 0))
        self.assertIsNone(said["measured_gain"])
        self.assertGreater(row["work_ms"], 0)
        self.assertAlmostEqual(sum(stage["share"] for stage in said["stages"]), 1, places=6)
        text = self.ok("doctor", "--attach", "t.json").decode()
        self.assertTrue(text.startswith("from the trace alone: "), text)
        self.assertIn("63 steps", text)

    def test_a_trace_with_a_uri_gives_the_time_of_the_consumer(self):
        self.traced("--num-workers", "1")
        step = json.loads(self.ok("doctor", "--attach", "t.json", "--json"))["evidence"][0]["step_ms"]
        said = self.doctor("idx:images", "--attach", "t.json", "--batch-size", "64", "--num-workers", "1", seconds="0.3")
        runs = {row["run"]: row for row in said["evidence"]}
        self.assertGreaterEqual(runs["as asked"]["step_ms"], step)
        self.assertIn("no consumer", runs)

    def test_what_is_no_trace_is_refused(self):
        self.fails(2, "doctor", says="doctor needs a URI, or --attach TRACE")
        self.fails(1, "doctor", "--attach", "none.json", says="none.json")
        self.fails(1, "doctor", "--attach", "images", says="images: expected a trace that trace=FILE wrote")
        self.write("x.json", "{}")
        self.fails(1, "doctor", "--attach", "x.json", says="x.json: expected a trace that trace=FILE wrote")
        head = '{"displayTimeUnit":"ms","otherData":{"producer":"dataline"},"traceEvents":[\n'
        span = '{"name":"read","ph":"X","pid":1,"tid":1,"ts":1.0,"dur":1.0,"args":{"epoch":0,"step":0}}\n]}\n'
        self.write("t.json", head + span)
        self.fails(1, "doctor", "--attach", "t.json", says="has no step of a consumer")
        self.traced()
        self.fails(2, "doctor", "--attach", "t.json", "--batch-size", "3", says="--batch-size")
        self.fails(2, "doctor", "--attach", "t.json", "--consumer-ms", "3", says="--consumer-ms")

    def test_the_guide_explains_the_causes_that_there_are_and_no_other(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(root, "bindings/cli/doctor/judge.cpp"), encoding="utf-8") as file:
            table = file.read().split("kCauses[] = {")[1].split("};")[0]
        with open(os.path.join(root, "docs/pages/gpu-waits.md"), encoding="utf-8") as file:
            guide = file.read().split("| cause |")[1].split("\n\n")[0]
        self.assertEqual(sorted(re.findall(r'\{"(\w+)",', table)), sorted(re.findall(r"(?m)^\| `(\w+)` \|", guide)))

    def test_what_is_wrong_in_the_command_line_ends_it(self):
        self.fails(2, "doctor", "idx:images", "--consumer-cpu", says="--consumer-cpu needs --consumer-ms")
        self.fails(2, "doctor", "idx:images", "--transform", "nothing", says="nothing")
        self.fails(1, "doctor", "idx:absent", says="absent")


if __name__ == "__main__":
    shell.main()
