"""cat: the yardstick. The same URI, options and seed give the same bytes, whatever does the work.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import struct

import shell
from shell import ShellTest, indices_of


class Bytes(ShellTest):
    def test_file_order_is_the_file(self):
        rows = self.digits(100)
        for batch_size, workers in itertools.product((1, 7, 32, 1000), (0, 1, 3)):
            self.assertEqual(self.ok("cat", "idx:images", "--batch_size", batch_size, "--num_workers", workers), b"".join(rows))

    def test_nothing_but_the_order_options_changes_the_bytes(self):
        rows = self.digits(70_000, size=2)  # past the table shuffle, into the keyed bijection
        job = ["cat", "idx:images", "--shuffle", "full", "--seed", "5", "--batch_size", "64"]
        wanted = self.ok(*job)
        self.assertEqual(sorted(wanted[i:i + 4] for i in range(0, len(wanted), 4)), sorted(rows))
        self.assertNotEqual(wanted, b"".join(rows))
        for words in (["--num_workers", "0"], ["--num_workers", "1"], ["--num_workers", "5"], ["--prefetch_depth", "1"],
                      ["--prefetch_depth", "17"], ["--max_leases", "1"], ["--io", "pread"], ["--io", "memory"],
                      ["--batch_size", "1000"], ["--memory_budget", "64MiB"]):
            self.assertEqual(self.ok(*job, *words) == wanted, True, words)

    def test_indices_tell_row_by_row_what_is_written(self):
        rows = self.digits(103)
        for words in (["--shuffle", "full"], ["--shuffle", "full", "--last_batch", "pad", "--batch_size", "10"],
                      ["--drop_last", "--batch_size", "10"], ["--shuffle", "full", "--epochs", "3"],
                      ["--shuffle", "full", "--rank", "1", "--world_size", "3", "--batch_size", "5"]):
            indices = indices_of(self.ok("cat", "idx:images", *words, "--indices"))
            self.assertEqual(self.ok("cat", "idx:images", *words), b"".join(rows[i] for i in indices), words)

    def test_rows_of_padding_are_written(self):
        self.digits(10)
        indices = indices_of(self.ok("cat", "idx:images", "--last_batch", "pad", "--batch_size", "4", "--indices"))
        self.assertEqual(indices, [*range(10), 0, 1])

    def test_a_field_of_several(self):
        uri, labels, images = self.labelled(40)
        self.assertEqual(self.ok("cat", uri, "--field", "label"), bytes(labels))
        self.assertEqual(self.ok("cat", uri, "--field", "image"), b"".join(images))
        self.assertEqual(indices_of(self.ok("cat", uri, "--indices")), list(range(40)))
        self.assertEqual(indices_of(self.ok("cat", uri, "--indices", "--field", "label")), list(range(40)))

    def test_values_come_in_host_byte_order(self):
        self.npy("a.npy", ">i4", (5,), struct.pack(">5i", 1, -2, 3, 2**31 - 1, 5))
        self.assertEqual(self.ok("cat", "npy:a.npy"), struct.pack("=5i", 1, -2, 3, 2**31 - 1, 5))

    def test_epochs_default_to_one_and_batches_stop(self):
        rows = self.digits(20)
        all_rows = b"".join(rows)
        self.assertEqual(self.ok("cat", "idx:images", "--epochs", "2"), all_rows * 2)
        self.assertEqual(self.ok("cat", "idx:images", "--batch_size", "8", "--epochs", "0", "--batches", "5"),
                         all_rows + b"".join(rows[:16]))
        self.assertEqual(self.ok("cat", "idx:images", "--batches", "0"), b"")
        self.assertEqual(self.ok("cat", "idx:images", "--start_epoch", "2", "--epochs", "3"), all_rows)

    def test_overlapping_views_are_written_packed(self):
        tokens = struct.pack("<1001H", *(i * 31 % 65536 for i in range(1001)))
        self.write("t.bin", tokens)
        for shuffle in ("none", "full"):
            job = ["--shuffle", shuffle, "--batch_size", "3"]
            for field in ("x", "y"):
                apart = self.ok("cat", "tokens:t.bin?length=100", "--field", field, *job)
                self.assertEqual(self.ok("cat", "tokens:t.bin?length=100&views=true", "--field", field, *job), apart)
        self.assertEqual(self.ok("cat", "tokens:t.bin?length=100", "--field", "x"), tokens[:2000])
        self.assertEqual(self.ok("cat", "tokens:t.bin?length=100", "--field", "y"), tokens[2:2002])

    def test_a_transform_is_what_the_definition_says(self):
        rows = self.digits(9)

        def f32(value):
            return struct.unpack("=f", struct.pack("=f", value))[0]

        a, b = f32(1 / (255 * 0.3081)), f32(-0.1307 / 0.3081)
        wanted = b"".join(struct.pack("=f", f32(f32(x * a) + b)) for row in rows for x in row)
        self.assertEqual(self.ok("cat", "idx:images", "--transform", "normalize(mnist)"), wanted)


class Arrays(ShellTest):
    WANTED = [4, 0, 3, 3, 1]

    def chosen(self, name):
        return indices_of(self.ok("cat", "idx:images", "--sample_indices", name, "--indices"))

    def test_indices_from_text(self):
        self.digits(5)
        for text in ("4\n0\n3\n3\n1\n", "4 0 3\t3 1", "4,0,3, 3,1", "# order\n4 0 # first\r\n3 3 1",
                     "4.000e+00\n0.0e+00\n3.0\n3\n1\n"):
            self.write("order", text)
            self.assertEqual(self.chosen("order"), self.WANTED, text)

    def test_indices_from_npy_of_every_integer_type(self):
        self.digits(5)
        for code, letter in (("i1", "b"), ("u1", "B"), ("i2", "h"), ("u2", "H"), ("i4", "i"), ("u4", "I"), ("i8", "q"),
                             ("u8", "Q")):
            for order in "<>":
                self.npy("order.npy", order + code, (5,), struct.pack(f"{order}5{letter}", *self.WANTED))
                self.assertEqual(self.chosen("order.npy"), self.WANTED, order + code)
        for version in (2, 3):
            self.npy("order.npy", "<i8", (5,), struct.pack("<5q", *self.WANTED), version=version)
            self.assertEqual(self.chosen("order.npy"), self.WANTED)

    def test_a_pipe_is_read_once(self):
        self.digits(5)
        # Given twice, the last wins, and the first is not even opened.
        self.assertEqual(indices_of(self.ok("cat", "idx:images", "--sample_indices", "nowhere", "--sample_indices",
                                            "/dev/stdin", "--indices", stdin=None, input=b"4 0 3 3 1")), self.WANTED)

    def test_files_that_are_no_array_of_indices(self):
        self.digits(5)
        good = struct.pack("<3q", 1, 2, 3)
        cases = {
            "expected one dimension, got shape \\(3, 1\\)": lambda: self.npy("a", "<i8", (3, 1), good),
            "expected one dimension, got shape \\(\\)": lambda: self.npy("a", "<i8", (), good),
            "expected numbers .*, got dtype '\\|O'": lambda: self.npy("a", "|O", (3,), good),
            "got dtype '<U3'": lambda: self.npy("a", "<U3", (3,), good),
            "got dtype '<c8'": lambda: self.npy("a", "<c8", (3,), good),
            "number 0: expected a sample index, got dtype f64": lambda: self.npy("a", "<f8", (3,), good),
            "above 2\\^63": lambda: self.npy("a", "<u8", (1,), b"\xff" * 8),
            "expected 4 numbers of 8 bytes, the file has 24": lambda: self.npy("a", "<i8", (4,), good),
            "the header|.npy header": lambda: self.write("a", b"\x93NUMPY\x01\x00\xff\xff{'descr'"),
            "version": lambda: self.write("a", b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16),
            "has no 'descr'": lambda: self.write("a", b"\x93NUMPY\x01\x00\x10\x00" + b" " * 16),
            "12 bytes, the file has 6": lambda: self.write("a", b"\x93NUMPY"),
            "line 3: expected a sample index, got '1.5'": lambda: self.write("a", "1\n2\n1.5\n"),
            "line 1: expected a sample index, got '0x10'": lambda: self.write("a", "0x10"),
            "got '1e30'": lambda: self.write("a", "1e30"),
            "got '99999999999999999999'": lambda: self.write("a", "99999999999999999999"),
        }
        for says, make in cases.items():
            with self.subTest(says):
                make()
                self.fails(1, "cat", "idx:images", "--sample_indices", "a", says=says)

    def test_weights_from_text_and_npy(self):
        self.digits(4)
        weights = [0, 0.5, 0, 2]
        job = ["cat", "idx:images", "--indices", "--seed", "3", "--samples_per_epoch", "40", "--weights"]
        self.write("w.txt", "0 0.5\n0 2")
        wanted = self.ok(*job, "w.txt")
        self.assertEqual((len(indices_of(wanted)), set(indices_of(wanted))), (40, {1, 3}))
        for order in "<>":
            self.npy("w.npy", order + "f8", (4,), struct.pack(order + "4d", *weights))
            self.assertEqual(self.ok(*job, "w.npy"), wanted)
            self.npy("w.npy", order + "f4", (4,), struct.pack(order + "4f", *weights))
            self.assertEqual(self.ok(*job, "w.npy"), wanted)
        self.npy("w.npy", "|u1", (4,), bytes([0, 1, 0, 4]))  # the same weights times two
        self.assertEqual(self.ok(*job, "w.npy"), wanted)


class Ranks(ShellTest):
    def test_ranks_joined_step_by_step_are_one_stream(self):
        rows = self.digits(101)
        job = ["cat", "idx:images", "--shuffle", "full", "--seed", "8", "--global_batch_size", "12", "--epochs", "2"]
        whole = indices_of(self.ok(*job, "--indices"))
        steps, slots = 9, [12] * 8 + [5]
        for world in (1, 2, 3, 5, 12, 13):
            streams = [indices_of(self.ok(*job, "--indices", "--rank", rank, "--world_size", world)) for rank in range(world)]
            joined, taken = [], [0] * world
            for size in slots * 2:
                for rank in range(world):
                    count = size * (rank + 1) // world - size * rank // world
                    joined += streams[rank][taken[rank]:taken[rank] + count]
                    taken[rank] += count
            self.assertEqual(joined, whole, world)
            self.assertEqual(sum(map(len, streams)), 2 * len(rows))
        self.assertEqual(len(whole), 2 * sum(slots))
        self.assertEqual(steps * 2, len(slots) * 2)


class BadSamples(ShellTest):
    """one_hot(5) refuses labels from 5 on: sample 23 is the only such one."""

    def setUp(self):
        super().setUp()
        self.uri, self.labels, self.images = self.labelled(40, label=lambda i: 7 if i == 23 else i % 5)
        self.job = ["cat", self.uri, "--field", "image", "--batch_size", "4", "--transform", "label: one_hot(5)"]

    def test_raise_names_the_step_and_the_batches_before_it_are_written(self):
        for workers in (0, 1, 4):
            self.fails(1, *self.job, "--num_workers", workers, says=r"step 5\b.*23", out=b"".join(self.images[:20]))

    def test_raise_saves_the_position_of_that_step(self):
        self.fails(1, *self.job, "--save-state", "s", says="step 5", out=b"".join(self.images[:20]))
        rest = self.ok("cat", self.uri, "--field", "image", "--batch_size", "4", "--load-state", "s")
        self.assertEqual(rest, b"".join(self.images[20:]))

    def test_replaced_samples_are_told_in_one_line_at_the_end(self):
        for policy in ("replace", "quarantine"):
            ran = self.run_shell(*self.job, "--on_error", policy, "--num_workers", "2")
            self.assertEqual((ran.status, len(ran.err.splitlines())), (0, 1), ran.err)
            self.assertRegex(ran.err, r"^dataline: 1 bad sample: sample 23 replaced by \d+ \(.+\)\n$")
            other = int(ran.err.split("replaced by ")[1].split()[0])
            wanted = self.images[:23] + [self.images[other]] + self.images[24:]
            self.assertEqual(ran.out, b"".join(wanted))
            indices = self.run_shell(*self.job, "--on_error", policy, "--indices").out
            self.assertEqual(indices_of(indices)[23], other)

    def test_many_bad_samples_are_still_one_line(self):
        uri, _, _ = self.labelled(40, label=lambda i: 9 if i % 4 == 0 else 1)
        ran = self.run_shell("cat", uri, "--field", "image", "--transform", "label: one_hot(5)", "--on_error", "replace")
        self.assertEqual((ran.status, len(ran.err.splitlines())), (0, 1), ran.err)
        self.assertRegex(ran.err, "^dataline: 10 bad samples: .*; and 7 more\n$")

    def test_too_many_bad_samples_are_told_and_then_the_failure(self):
        uri, _, _ = self.labelled(40, label=lambda i: 9 if i % 4 == 0 else 1)
        ran = self.run_shell("cat", uri, "--field", "image", "--transform", "label: one_hot(5)", "--on_error", "replace",
                             "--max_bad", "3")
        told, failed = ran.err.splitlines()
        self.assertEqual(ran.status, 1)
        self.assertRegex(told, "^dataline: [0-9]+ bad samples: sample 0 ")
        self.assertRegex(failed, "^dataline: .*max_bad is 3")


if __name__ == "__main__":
    shell.main()
