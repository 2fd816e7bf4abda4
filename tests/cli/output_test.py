"""Standard output: closed pipes, full disks, raw bytes and terminals; and the measurements of bench.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pty
import re
import signal
import subprocess
import unittest

import shell
from shell import ShellTest

BENCH_KEYS = ["samples_per_s", "gb_per_s", "memcpy_gb_per_s", "memcpy_ratio", "gather_gb_per_s", "gather_ratio",
              "gather_threads", "cpu_ratio", "us_per_batch",
              "first_batch_ms", "consumer_wait_percent", "cpu_s_per_gb", "gather_cpu_s_per_gb", "peak_rss_bytes", "num_workers", "batches", "seconds",
              "device", "bus_gb_per_s"]


class OwnFiles(ShellTest):
    """What a command reads it does not write over, whatever name leads to it."""

    def setUp(self):
        super().setUp()
        self.digits(20)
        os.makedirs(self.path("pictures/a"))
        for number in range(4):
            self.write(f"pictures/a/{number}.ppm", b"P6 2 2 255\n" + bytes(12))
        os.symlink("images", self.path("symbolic"))
        os.link(self.path("images"), self.path("hard"))

    def test_no_output_is_a_file_of_the_dataset(self):
        before = self.read("images")
        says = "is a file of the dataset"
        for name in ("images", "symbolic", "hard", self.path("images")):
            for words in (["cat", "idx:images", "-o", name], ["cat", "images", "-o", name], ["cat", "idx:images,images", "-o", name],
                          ["cat", "a=idx:images", "-o", name], ["cat", "idx:images", "-o", "out", "--save-state", name],
                          ["verify", "idx:images", "--good-indices", name], ["preview", "idx:images", "-o", name],
                          ["report", "idx:images", "-o", name]):
                self.fails(1, *words, says=says)
                self.assertEqual(self.read("images"), before, words)
        for uri in ("folder:pictures", "pictures", "folder:./pictures/../pictures"):
            for words in (["cat", uri, "--indices", "-o", "pictures/a/1.ppm"], ["preview", uri, "-o", "pictures/a/1.ppm"],
                          ["report", uri, "-o", "pictures/a/1.ppm"], ["verify", uri, "--good-indices", "pictures/a/1.ppm"]):
                self.fails(1, *words, says=says)
        self.assertEqual(len(self.read("pictures/a/1.ppm")), 23)

    def test_other_files_and_states_are_written_again(self):
        for _ in range(2):
            self.ok("cat", "idx:images", "-o", "out", "--save-state", "state")
            self.ok("verify", "idx:images", "--good-indices", "good")

    def test_no_new_file_appears_in_a_directory_of_the_dataset(self):
        before = sorted(os.walk(self.path("pictures")))
        says = "is in 'pictures', a directory of the dataset"
        for words in (["cat", "folder:pictures", "--indices", "-o", "pictures/a/new.ppm"], ["preview", "folder:pictures", "-o", "pictures/a/new.png"],
                      ["cat", "folder:pictures", "--indices", "-o", "out", "--save-state", "pictures/state"],
                      ["report", "folder:pictures", "-o", "pictures/new.html"], ["verify", "folder:pictures", "--good-indices", "pictures/good"],
                      ["cat", "folder:pictures", "--indices", "--trace", "pictures/trace.json"],
                      ["convert", "folder:pictures", "arrow:pictures/set"], ["convert", "folder:pictures", "tar:pictures/a/set"]):
            self.fails(1, *words, says=says)
        self.assertEqual(sorted(os.walk(self.path("pictures"))), before)

    def test_no_saved_index_appears_in_the_folder_that_it_lists(self):
        before = sorted(os.walk(self.path("pictures")))
        for place in ("pictures/saved", "pictures/a/saved.ppm", "pictures/../pictures/a/saved"):
            self.fails(2, "info", f"folder:pictures?index={place}", says=f"index: {place} is in pictures, a directory of the dataset")
        self.assertEqual(sorted(os.walk(self.path("pictures"))), before)
        for _ in range(2):
            self.ok("info", "folder:pictures?index=saved")

    def test_a_trace_writes_over_traces_alone(self):
        before = self.read("images")
        for name in ("images", "symbolic", "hard"):
            self.fails(1, "cat", "idx:images", "--trace", name, says="is a file of the dataset")
        self.write("notes", b"not a trace")
        self.fails(1, "cat", "idx:images", "--trace", "notes", says="exists, and is not a file")
        self.write("rows.jsonl", b'{"a": 1}\n')
        self.write("empty.jsonl", b"")
        self.fails(1, "cat", "jsonl:rows.jsonl,empty.jsonl", "--trace", "empty.jsonl", says="is a file of the dataset")
        self.assertEqual(self.read("empty.jsonl"), b"")
        os.mkfifo(self.path("fifo"))
        self.fails(1, "cat", "idx:images", "--trace", "fifo", says="a FIFO, expected a file")
        self.fails(1, "cat", "idx:images", "--trace", "/proc/self/mem", says="trace /proc/self/mem: is a file of the kernel")
        self.assertEqual(self.read("images"), before)
        for _ in range(2):
            self.ok("cat", "idx:images", "--trace", "trace.json")


class SizeLimit(ShellTest):
    """`ulimit -f` sends SIGXFSZ, which ends a process without a word unless it is ignored."""

    def run_limited(self, *words):
        return subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$@"', "bash", shell.PROGRAM, *words], cwd=self.folder, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=shell.SECONDS)

    def test_a_file_beyond_the_limit_is_named(self):
        self.digits(400, size=28)
        for says, words in (("^dataline: out: File too large", ["cat", "idx:images", "-o", "out"]),
                            ("set.*too large", ["convert", "idx:images", "arrow:set"]),
                            ("^dataline: .*page.html.*: File too large", ["report", "idx:images", "--seconds", "0.05", "-o", "page.html"])):
            ran = self.run_limited(*words)
            self.assertEqual(ran.returncode, 1, (words, ran.stderr))
            self.assertRegex(ran.stderr.decode(), says, words)

    def test_a_cache_and_a_trace_beyond_the_limit_leave_the_job_alone(self):
        rows = self.digits(400, size=28)
        for words in (["--cache", "cache"], ["--trace", "trace.json", "--batch_size", "1"]):
            ran = self.run_limited("cat", "idx:images", *words)
            self.assertEqual((ran.returncode, ran.stdout == b"".join(rows)), (0, True), (words, ran.stderr))
            self.assertRegex(ran.stderr, b"too large.*ulimit -f", words)


class Fifos(ShellTest):
    """A FIFO blocks until its other end is open, and while its writer is silent. A signal ends both."""

    def setUp(self):
        super().setUp()
        self.digits(20)
        for name in ("first", "fifo"):
            os.mkfifo(self.path(name))

    def start_after_first(self, *words):
        """The command, once it has read the FIFO `first`: by then it watches for signals."""
        first = "--weights" if words[2] == "--sample_indices" else "--sample_indices"
        process = self.start(*words[:2], first, "first", *words[2:])
        with open(self.path("first"), "wb") as file:
            file.write(b"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19")
        return process

    def ends(self, process, words):
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.wait(10), process.stderr.read()), (143, b""), words)

    def test_a_signal_ends_the_wait_for_the_other_end(self):
        for words in (["cat", "idx:images", "--sample_indices", "fifo"], ["cat", "idx:images", "--weights", "fifo"],
                      ["cat", "idx:images", "--lengths", "fifo"], ["cat", "idx:images", "--load-state", "fifo"],
                      ["show", "idx:images", "--vocabulary", "fifo"], ["cat", "idx:images", "-o", "fifo"]):
            self.ends(self.start_after_first(*words), words)

    def test_a_signal_ends_the_wait_for_a_silent_writer(self):
        for words in (["cat", "idx:images", "--sample_indices", "fifo"], ["cat", "idx:images", "--load-state", "fifo"],
                      ["show", "idx:images", "--vocabulary", "fifo"]):
            process = self.start_after_first(*words)
            with open(self.path("fifo"), "wb"):
                self.ends(process, words)


class Pipes(ShellTest):
    def test_a_closed_pipe_ends_quietly_with_0(self):
        self.digits(2000)
        for words in (["cat", "idx:images", "--epochs", "0"], ["cat", "idx:images", "--indices", "--epochs", "0"],
                      ["cat", "idx:images", "--epochs", "0", "--num_workers", "0", "--batch_size", "1"]):
            process = self.start(*words)
            process.stdout.read(100)
            process.stdout.close()
            self.assertEqual((process.wait(shell.SECONDS), process.stderr.read()), (0, b""), words)

    def test_nobody_ever_reads(self):
        self.digits(2)
        for words in (["info", "idx:images"], ["options"], ["options", "--json"], ["version"], ["--help"],
                      ["completion", "bash"], ["cat", "idx:images"]):
            reader, writer = os.pipe()
            os.close(reader)
            ran = self.run_shell(*words, stdout=writer)
            os.close(writer)
            self.assertEqual((ran.status, ran.err), (0, ""), words)

    def test_a_full_disk_is_1(self):
        self.digits(2)
        for words in (["info", "idx:images"], ["options"], ["cat", "idx:images"], ["cat", "--indices", "idx:images"],
                      ["show", "idx:images"],
                      ["bench", "idx:images", "--seconds", "0.05"]):
            with open("/dev/full", "wb") as full:
                self.fails(1, *words, stdout=full, out=None, says="^dataline: standard output: No space left on device$")

    def test_a_pipe_that_does_not_block_is_written_whole(self):
        rows = self.digits(40_000)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start("cat", "idx:images", stdout=writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            self.assertEqual(stream.read() == b"".join(rows), True)
        self.assertEqual(process.wait(shell.SECONDS), 0)

    def test_nothing_is_written_before_the_dataset_is_open(self):
        for command in ("info", "cat", "bench"):
            self.fails(1, command, "idx:nowhere", says="nowhere")


class RawBytesAndTerminals(ShellTest):
    def on_terminal(self, *words):
        """What a run writes to a terminal on standard output, its status and its standard error."""
        ours, theirs = pty.openpty()
        process = self.start(*words, stdout=theirs)
        os.close(theirs)
        return shell.read_terminal(ours), process.wait(shell.SECONDS), process.stderr.read().decode()

    def test_a_terminal_gets_none_unless_it_is_asked_for(self):
        self.write("r.bin", b"abc\x00\x01")
        words = ("cat", "raw:r.bin?dtype=u8")
        text, status, err = self.on_terminal(*words)
        self.assertEqual((text, status), (b"", 2))
        self.assertRegex(err, "^dataline: cat does not write raw bytes to a terminal: redirect it .*--indices")
        self.assertEqual(self.on_terminal(*words, "--output", "-"), (b"abc\x00\x01", 0, ""))
        self.assertEqual(self.on_terminal(*words, "--indices", "--batch_size", "8"), (b"0\r\n1\r\n2\r\n3\r\n4\r\n", 0, ""))
        self.assertEqual(self.on_terminal(*words, "-o", "file"), (b"", 0, ""))

    def test_a_file_gets_the_bytes_that_standard_output_would(self):
        rows = self.digits(500)
        self.write("old", b"x" * 100_000)
        self.assertEqual(self.ok("cat", "idx:images", "-o", "old", "--save-state", "state"), b"")
        self.assertEqual(self.read("old"), b"".join(rows))
        self.assertEqual(self.ok("cat", "idx:images", "--output=-"), b"".join(rows))
        self.ok("cat", "idx:images", "--indices", "-o", "lines")
        self.assertEqual(self.read("lines").split(), [b"%d" % i for i in range(500)])

    def test_a_command_that_is_wrong_or_a_set_that_is_not_there_leaves_the_file_alone(self):
        self.digits(3)
        self.write("old", b"kept")
        self.fails(1, "cat", "idx:nowhere", "-o", "old", says="nowhere")
        self.fails(2, "cat", "idx:images", "-o", "old", "--transform", "nonsense", says="nonsense")
        self.fails(2, "cat", "idx:images", "-o", "old", "--batch_size", "0", says="batch_size")
        self.assertEqual(self.read("old"), b"kept")
        self.fails(2, "cat", "idx:images", "--output=", says="--output needs the name of a file")

    def test_a_file_that_cannot_be_written_is_named(self):
        self.digits(3)
        for says, target in (("^dataline: gone/file: No such file or directory$", "gone/file"),
                             ("^dataline: /dev/full: No space left on device$", "/dev/full"),
                             ("^dataline: .: Is a directory$", ".")):
            self.fails(1, "cat", "idx:images", "-o", target, says=says)


class Bench(ShellTest):
    def bench(self, *words):
        result = json.loads(self.ok("bench", *words, "--seconds", "0.06", "--json"))
        tuned = not any(word.startswith(("--num-workers", "--num_workers")) for word in words)
        self.assertEqual(list(result), BENCH_KEYS + ["tuned"] * tuned)
        return result

    def test_figures_fit_each_other(self):
        self.digits(5000, size=28)
        for workers in (0, 1, 2):
            result = self.bench("idx:images", "--shuffle", "full", "--batch_size", "128", "--num_workers", workers)
            self.assertEqual(result["num_workers"], workers)
            self.assertEqual((result["device"], result["bus_gb_per_s"]), ("cpu", None))
            for key in BENCH_KEYS[:-2]:
                least = 0 if key in ("num_workers", "consumer_wait_percent") else 1e-12
                self.assertGreaterEqual(result[key], least, key)
            self.assertAlmostEqual(result["gb_per_s"] / result["gather_gb_per_s"], result["gather_ratio"], delta=1e-3)
            self.assertAlmostEqual(result["gb_per_s"] / result["memcpy_gb_per_s"], result["memcpy_ratio"], delta=1e-3)
            self.assertAlmostEqual(result["gb_per_s"] / (result["samples_per_s"] * 784e-9), 1, delta=0.2)
            self.assertAlmostEqual(result["gather_cpu_s_per_gb"] / result["cpu_s_per_gb"], result["cpu_ratio"], delta=1e-3)
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
            self.assertLessEqual(result["gather_threads"], min(cores, workers + 1))
            self.assertLessEqual(result["consumer_wait_percent"], 100.5)
            self.assertGreaterEqual(result["seconds"], 0.055)
            self.assertLess(result["peak_rss_bytes"], 1 << 30)

    def test_one_or_many_fields_tokens_transforms_small_rows(self):
        uri, _, _ = self.labelled(500)
        self.write("t.bin", bytes(200_000))
        for words in ([uri], [uri, "--transform", "image: cast(f32)"], ["tokens:t.bin?length=64&views=true"],
                      ["tokens:t.bin?length=64", "--batch_size", "4"], [uri, "--batch_size", "1"], [uri, "--num_workers", "0"],
                      [uri, "--drop_last", "--batch_size", "499"], [uri, "--world_size", "3", "--rank", "2"]):
            result = self.bench(*words)
            self.assertGreater(result["gather_gb_per_s"], 0, words)

    def test_a_job_that_ends_is_repeated(self):
        self.digits(10)
        self.assertGreater(self.bench("idx:images", "--epochs", "1")["batches"], 1)

    def test_rows_that_are_the_same_everywhere_are_no_shifted_tokens(self):
        # Fields that look alike in the first rows and differ later.
        self.npy("a.npy", "|u1", (5000, 8), bytes(40_000))
        self.npy("b.npy", "|u1", (5000, 8), bytes(39_000) + bytes(range(250)) * 4)
        self.assertGreater(self.bench("npy:a=a.npy,b=b.npy")["gather_gb_per_s"], 0)

    def test_the_table_for_people(self):
        self.digits(100)
        text = self.ok("bench", "idx:images", "--seconds", "0.05").decode()
        self.assertRegex(text, r"(?m)^CPU +[\d.]+ s a GB, [\d.]+ cores busy; gather [\d.]+ s a GB on \d threads?, [\d.]+ of it$")
        for start in ("loader", "gather", "memcpy", "first batch", "consumer", "CPU", "peak memory", "measured"):
            self.assertTrue(re.search(rf"(?m)^{start}  ", text), text)

    def test_a_bad_sample_ends_it_with_1(self):
        uri, _, _ = self.labelled(100)
        self.fails(1, "bench", uri, "--seconds", "0.05", "--transform", "label: one_hot(3)", says="step 0")

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "no /proc here")
    def test_peak_memory_is_not_that_of_the_yardsticks(self):
        with open(self.path("sparse"), "wb") as file:
            file.truncate(400 << 20)
        result = self.bench("raw:sparse?dtype=u8&shape=1024", "--batch_size", "16", "--shuffle", "full",
                            "--io", "pread", "--num_workers", "1")
        self.assertLess(result["peak_rss_bytes"], 100 << 20)


if __name__ == "__main__":
    shell.main()
