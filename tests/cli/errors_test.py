"""Exit statuses and error lines: 2 for what is wrong in the command line itself, 1 for what failed.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

import shell
from shell import ShellTest


class CommandLine(ShellTest):
    def setUp(self):
        super().setUp()
        self.digits(40)

    def test_words_that_are_no_command_line(self):
        for says, *words in (
                ("no command 'infoo', did you mean 'info'", "infoo"),
                ("no command 'zzz'$", "zzz"),
                ("no command 'cta', did you mean 'cat'", "cta"),
                ("'--bacth_size', did you mean '--batch-size'", "cat", "idx:images", "--bacth_size", "4"),
                ("command comes first", "--quiet", "info"),
                ("cat needs a URI", "cat"),
                ("info needs a URI", "info", "--plan"),
                ("'more' is one word too many", "cat", "idx:images", "more"),
                ("'x' is one word too many", "version", "x"),
                ("'--batch_sise', did you mean '--batch-size'", "cat", "idx:images", "--batch_sise", "4"),
                ("'--feild', did you mean '--field'", "cat", "idx:images", "--feild=x"),
                ("'--zzzzzz'$", "cat", "idx:images", "--zzzzzz"),
                ("'--seconds'", "cat", "idx:images", "--seconds", "1"),
                ("flags start with two dashes; cat has the short flags -o -q -v -h$", "cat", "idx:images", "-b", "4"),
                ("no flag '-n1'.*cat has the short flags -o", "cat", "idx:images", "-n1"),
                ("no flag '-b' in '-qb'", "cat", "idx:images", "-qb"),
                ("two dashes, did you mean '--batches'", "cat", "idx:images", "-batches", "4"),
                ("two dashes, did you mean '--batch-size'", "cat", "idx:images", "-batch_size=4"),
                ("two dashes, did you mean '--output'", "cat", "idx:images", "-output", "x"),
                ("-n needs a value", "show", "idx:images", "-n"),
                ("-n needs a value", "show", "idx:images", "-qn"),
                ("--count: expected a whole number.*got 'x'", "show", "idx:images", "-nx"),
                ("--quiet: expected true or false, got 'maybe'", "show", "idx:images", "-q=maybe"),
                ("--batch-size needs a value", "cat", "idx:images", "--batch_size"),
                ("--shuffle needs a value", "cat", "idx:images", "--shuffle", "--seed", "3"),
                ("--batches: expected a whole number of at least 0, got 'x'", "cat", "idx:images", "--batches", "x"),
                ("--batches: expected a whole number of at least 0, got '-1'", "cat", "idx:images", "--batches", "-1"),
                ("--batches: expected a whole number", "cat", "idx:images", "--batches", "99999999999999999999"),
                ("--seconds: expected a number of seconds above 0, got '0'", "bench", "idx:images", "--seconds", "0"),
                ("--seconds: expected a number of seconds above 0, got 'nan'", "bench", "idx:images", "--seconds", "nan"),
                ("--save-state needs the name of a file", "cat", "idx:images", "--save-state", ""),
                ("--load-state needs the name of a file", "cat", "idx:images", "--load-state="),
                ("--indices: expected true or false", "cat", "idx:images", "--indices=maybe"),
                ("write a boolean as --drop-last=false", "cat", "idx:images", "--drop_last", "false")):
            with self.subTest(words):
                self.fails(2, *words, says=says)

    def test_values_that_an_option_does_not_take(self):
        for says, *words in (
                ("batch_size.*from 1 to.*got '0'", "--batch_size", "0"),
                ("batch_size.*got 'many'", "--batch_size", "many"),
                ("seed.*got '-1'", "--seed", "-1"),
                ("seed.*9223372036854775808", "--seed", "9223372036854775808"),
                ("shuffle.*none.*full.*got 'maybe'", "--shuffle", "maybe"),
                ("drop_last.*true or false.*got '1x'", "--drop_last=1x"),
                ("memory_budget.*got '3 parsecs'", "--memory_budget", "3 parsecs"),
                ("drop_last.*last_batch", "--drop_last", "--last_batch", "keep"),
                ("batch_size.*global_batch_size|global_batch_size.*batch_size", "--batch_size", "4", "--global_batch_size", "8"),
                ("rank", "--rank", "2", "--world_size", "2"),
                ("max_bad.*-1", "--max_bad", "-2")):
            with self.subTest(words):
                self.fails(2, "cat", "idx:images", *words, says=says)

    def test_fields_that_are_not_there(self):
        uri, _, _ = self.labelled(5)
        self.fails(2, "cat", uri, says="which field.*label, image")
        self.fails(2, "cat", uri, "--field", "imag", says="no field 'imag'.*label, image")
        self.fails(2, "cat", uri, "--indices", "--field", "imag", says="no field 'imag'")

    def test_what_failed_is_1(self):
        self.write("cut", self.read("images")[:-1])
        self.write("empty", b"")
        self.write("words", "0 1 two 3")
        self.write("far", "0 1 40")
        self.write("words3", "0 1 2")
        self.write("negative", "1 " * 39 + "-1")
        self.write("nostate", "hello\n")
        os.mkdir(self.path("folder.d"))
        os.mkfifo(self.path("pipe"))
        for says, *words in (
                ("nowhere", "cat", "idx:nowhere"),
                ("cut", "cat", "idx:cut"),
                ("empty", "cat", "idx:empty"),
                ("pipe", "cat", "idx:pipe"),
                ("nothere: No such file", "cat", "idx:images", "--load-state", "nothere"),
                ("nostate|state", "cat", "idx:images", "--load-state", "nostate"),
                ("words: line 1: expected a sample index, got 'two'", "cat", "idx:images", "--sample_indices", "words"),
                ("40", "cat", "idx:images", "--sample_indices", "far"),
                ("-1", "cat", "idx:images", "--weights", "negative"),
                ("^dataline: words3: 3 weights, expected one per sample, 40$", "cat", "idx:images", "--weights", "words3"),
                ("^dataline: nostate: state: expected a first line", "cat", "idx:images", "--load-state", "nostate"),
                ("nothere: No such file", "cat", "idx:images", "--weights", "nothere"),
                ("step", "cat", "idx:images", "--start_step", "1000"),
                ("memory_budget", "cat", "idx:images", "--memory_budget", "1KiB"),
                ("folder.d: .*plain file", "cat", "idx:images", "--save-state", "folder.d"),
                ("gone: No such file", "cat", "idx:images", "--save-state", "gone/state")):
            with self.subTest(words):
                self.fails(1, *words, says=says)

    def test_a_job_of_empty_epochs_is_an_error_not_a_loop(self):
        self.fails(1, "cat", "idx:images", "--drop_last", "--batch_size", "100", "--epochs", "0", says=".")

    def test_a_state_and_a_start_contradict_each_other(self):
        self.ok("cat", "idx:images", "--batches", "1", "--save-state", "state")
        for words in (("--start_step", "1"), ("--start-epoch=0",), ("--start-step", "0")):
            ran = self.fails(2, "cat", "idx:images", "--load-state", "state", *words, says="contradict each other: the state has")
            self.assertIn(words[0].partition("=")[0].replace("-", "_")[2:], ran.err.replace("-", "_"))
        self.ok("cat", "idx:images", "--load-state", "state")

    def test_a_scheme_that_is_not_there_lists_those_that_are(self):
        ran = self.fails(2, "info", "idz:images", says="unknown scheme 'idz', did you mean 'idx'\\? the schemes are npy npz safetensors idx raw mnist")
        self.assertIn("dataline help uris", ran.err)

    def test_what_is_on_other_machines_is_said_in_plain_words(self):
        for uri in ("s3://bucket/train.tar", "gs://bucket/a", "https://host/a.npy?token=a&x", "hf://datasets/mnist", "tar:s3://b/a.tar"):
            ran = self.fails(2, "info", uri, says="only local files are read: download or mount them")
            self.assertNotIn("not supported yet", ran.err)

    def test_the_same_failures_in_info_and_bench(self):
        for command in ("info", "bench"):
            self.fails(1, command, "idx:nowhere", says="nowhere")
            self.fails(2, command, "ids:images", says="scheme 'ids'")
        self.fails(2, "bench", "idx:images", "--transform", "normalise(mnist)", says="normalise")
        self.fails(1, "bench", "idx:images", "--start_step", "1000", says="step")


class Marks(ShellTest):
    def mark(self, wrong, *words):
        """The command fails with 2, shows a text and puts ^ under the first byte of `wrong` in it."""
        ran = self.fails(2, *words, says="column|scheme|URI|transform")
        _, text, under, *_ = ran.err.splitlines()
        self.assertEqual(under.strip(), "^", ran.err)
        self.assertEqual(text[under.index("^"):].startswith(wrong), True, ran.err)
        return text

    def test_a_mark_stands_under_what_is_wrong(self):
        self.digits(3)
        self.mark("nomalize", "cat", "idx:images", "--transform", "cast(f32), nomalize(mnist)")
        self.mark("splt", "info", "idx:images?splt=train")
        self.mark("minst", "info", "minst:images")
        self.mark("x: cast", "cat", "idx:images", "--transform", "x: cast(f32)")

    def test_a_mark_counts_characters_not_bytes(self):
        self.digits(3, name="Größe")
        self.mark("splt", "info", "idx:Größe?splt=train")

    def test_a_long_text_is_cut_around_the_mark(self):
        text = ", ".join(["cast(f32)"] * 200) + ", nomalize(mnist)"
        self.digits(3)
        shown = self.mark("nomalize", "cat", "idx:images", "--transform", text)
        self.assertLess(len(shown), 120)
        self.assertTrue(shown.strip().startswith("..."))

    def test_names_are_shown_as_they_are_but_for_controls_and_direction(self):
        self.write("名前.csv", "prénom\n1\n".encode())
        ran = self.run_shell("info", "csv:名前.csv?fields=nöm:text")
        self.assertIn("名前.csv: no column 'nöm'; it has prénom", ran.err)
        for mark, shown in (("\u202e", "\\u202e"), ("\u2066", "\\u2066"), ("\u061c", "\\u061c"), ("\x9b", "\\u009b"), ("\x1b", "\\x1b")):
            ran = self.run_shell("info", f"csv:é{mark}.csv?bad={mark}")
            self.assertIn(f"é{shown}.csv", ran.err)
            self.assertNotIn(mark, ran.err)

    def test_the_mark_stays_below_what_is_shown(self):
        ran = self.run_shell("info", "csv:\u202eé.csv?bad=1")
        line, under = ran.err.splitlines()[1:3]
        self.assertEqual(line, "  csv:\\u202eé.csv?bad=1")
        self.assertEqual(under.index("^"), line.index("bad"))

    def test_control_characters_do_not_reach_the_terminal(self):
        self.digits(3)
        ran = self.run_shell("cat", "idx:images", "--transform", "cast(f32),\x1b[31m\nbad")
        self.assertEqual(ran.status, 2)
        self.assertNotIn("\x1b", ran.err)
        self.assertEqual(len(ran.err.splitlines()[0:3]), len(ran.err.splitlines()))


class Flags(ShellTest):
    def test_spellings_of_a_flag(self):
        rows = self.digits(10)
        wanted = b"".join(rows[:8])
        for words in (["--batch_size", "4", "--batches", "2"], ["--batch-size=4", "--batches=2"],
                      ["--batch_size", "3", "--batch-size", "4", "--batches", "7", "--batches", "2"],
                      ["--drop_last", "--drop-last=false", "--batch_size", "8", "--batches", "1"]):
            self.assertEqual(self.ok("cat", "idx:images", *words), wanted, words)
        self.assertEqual(self.ok("cat", "--batch_size", "4", "--batches", "2", "--", "idx:images"), wanted)

    def test_the_last_of_two_settings_wins(self):
        self.digits(50)
        last = self.ok("cat", "idx:images", "--shuffle", "full", "--seed", "2", "--indices")
        self.assertEqual(self.ok("cat", "idx:images", "--seed", "1", "--shuffle", "none", "--shuffle", "full", "--seed", "2",
                                 "--indices"), last)
        self.assertNotEqual(self.ok("cat", "idx:images", "--shuffle", "full", "--seed", "1", "--indices"), last)

    def test_a_value_may_start_with_a_dash(self):
        rows = self.digits(3)
        self.assertEqual(self.ok("cat", "idx:images", "--max_bad", "-1", "--num_workers", "-1"), b"".join(rows))

    def test_a_path_that_looks_like_a_flag(self):
        self.npy("--a.npy", "|u1", (3,), b"abc")
        self.assertEqual(self.ok("cat", "--", "--a.npy"), b"abc")

    def test_descriptors_that_the_caller_closed_are_not_taken_by_files(self):
        self.digits(3)
        ran = subprocess.run(["sh", "-c", 'exec "$0" cat idx:images --save-state state >&-', shell.PROGRAM], cwd=self.folder,
                             stderr=subprocess.PIPE, timeout=shell.SECONDS, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(b"standard output: Bad file descriptor", ran.stderr)


if __name__ == "__main__":
    shell.main()
