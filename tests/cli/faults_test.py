"""The shell without memory, threads and descriptors: one line, exit status 1, whichever call fails, once or from then on.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import unittest

import shell
from images_test import png
from shell import ShellTest

LINE = "dataline: out of memory\n"
JSON_LINE = '{"error": {"message": "out of memory", "code": "DL_ERR_NO_MEMORY", "exit": 1}}\n'


class Failing(ShellTest):
    def setUp(self):
        super().setUp()
        self.library = os.path.join(os.path.dirname(os.path.dirname(shell.PROGRAM)), "lib", "libfailing_calls.so")
        if not os.path.exists(self.library):
            self.skipTest("no " + self.library)

    def run_failing(self, failing, *words, count=None):
        environment = dict(os.environ, LD_PRELOAD=self.library, DATALINE_FAILING=failing)
        if count:
            environment["DATALINE_FAILING_COUNT"] = self.path(count)
        return self.run_shell(*words, env=environment)


class WithoutMemory(Failing):
    def check_every(self, stride, *words):
        """Each stride-th allocation of a run that is good otherwise fails, alone and with all later ones."""
        good = self.run_failing("", *words, count="count")
        self.assertEqual((good.status, good.err), (0, ""))
        count = int(self.read("count"))
        self.assertGreater(count, 20, words)
        for more in ("", "+"):
            for number in range(1, count + 1, stride):
                ran = self.run_failing(f"malloc:{number}{more}", *words)
                self.assertEqual((ran.status, ran.err.count("\n")), (1, 1), (words, number, more, ran.err))
                if more:
                    self.assertIn(ran.err, {LINE, JSON_LINE} if "--json" in words else {LINE}, (words, number))
                self.assertTrue(good.out.startswith(ran.out), (words, number, "other bytes"))

    def test_cat_ends_with_one_line_wherever_memory_runs_out(self):
        self.write("r.bin", bytes(range(64)))
        self.check_every(1, "cat", "raw:r.bin?dtype=u8", "--num_workers", 0, "--batch_size", 8, "--save-state", "state")

    def test_so_do_the_commands_that_read_no_samples(self):
        self.write("r.bin", bytes(range(64)))
        for stride, *words in ((31, "info", "raw:r.bin?dtype=u8", "--json"), (31, "options"), (31, "transforms", "--json"),
                               (31, "version"), (31, "help", "uris"), (31, "cat", "--help")):
            with self.subTest(words):
                self.check_every(stride, *words)

    def test_a_wrong_command_line_without_memory_is_one_line_too(self):
        for number in (1, 2, 5, 20, 50, 100, 200):
            ran = self.run_failing(f"malloc:{number}+", "cat", "raw:r.bin", "--batch_sise", "4")
            self.assertEqual((ran.status, ran.err), (1, LINE), number)


class WithoutDescriptors(Failing):
    def test_info_ends_with_one_line_and_calls_no_picture_unreadable(self):
        os.makedirs(self.path("set/c"))
        for i in range(4):
            self.write(f"set/c/{i}.png", png(2, 2, bytes(12)))
        words = ("info", "folder:set", "--images", "--json")
        good = self.ok(*words)
        self.assertIn(b'"read": 4, "unreadable": 0', good)
        failed = 0
        for number in range(1, 40):
            ran = self.run_failing(f"openat:{number}", *words)
            if ran.status == 0:
                self.assertEqual((ran.out, ran.err), (good, ""), number)
                continue
            self.assertEqual(ran.err.count("\n"), 1, (number, ran.err))
            error = json.loads(ran.err)["error"]
            self.assertEqual((error["code"], error["exit"]), ("DL_ERR_TOO_MANY_FILES", 1), number)
            self.assertRegex(error["message"], r"set.*too many open files", number)
            failed += 1
        self.assertGreaterEqual(failed, 5)  # the folder, and each picture


class WithoutThreads(Failing):
    def test_a_worker_that_cannot_start_says_how_many_what_bounds_them_and_what_to_do(self):
        self.write("r.bin", bytes(64))
        ran = self.run_failing("pthread_create:3", "cat", "raw:r.bin?dtype=u8", "--num_workers", 4)
        self.assertEqual(ran.status, 1)
        self.assertRegex(ran.err, r"^dataline: worker 2 of 4: thread 'dataline-1' could not be started: Resource temporarily "
                                  r"unavailable.*lower num_workers \(0 needs no thread\), or raise the limit\n$")

    def test_the_limit_that_is_set_is_named(self):
        self.write("r.bin", bytes(64))
        command = 'ulimit -u 4242; exec "$0" cat "raw:r.bin?dtype=u8" --num_workers 2'
        environment = dict(os.environ, LD_PRELOAD=self.library, DATALINE_FAILING="pthread_create:2+")
        ran = subprocess.run(["bash", "-c", command, shell.PROGRAM], cwd=self.folder, env=environment, stderr=subprocess.PIPE,
                             timeout=shell.SECONDS, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(b"limits: ulimit -u 4242", ran.stderr)

    def test_the_shells_own_thread_says_what_it_is_for(self):
        self.write("r.bin", bytes(64))
        ran = self.run_failing("pthread_create:1+", "cat", "raw:r.bin?dtype=u8", "--num_workers", 0)
        self.assertEqual(ran.status, 1)
        self.assertRegex(ran.err, r"^dataline: no thread could be started to watch for Ctrl-C; threads are limited by ulimit -u.*"
                                  r"pids.max.*: Resource temporarily unavailable\n$")


if __name__ == "__main__":
    shell.main()
