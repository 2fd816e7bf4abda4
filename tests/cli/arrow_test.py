"""Arrow files in the shell, written from the description of the format alone (tests/fuzz/arrow_seeds.py).

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import sys

import shell
from shell import ShellTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import arrow_seeds as arrow


class Arrow(ShellTest):
    def rows(self, first, count, null=None):
        """A batch of x = first, first + 1, ... and t, its decimal text."""
        texts = [str(first + i).encode() for i in range(count)]
        ends = [sum(map(len, texts[:i])) for i in range(count + 1)]
        bits = sum(1 << i for i in range(count) if i != null).to_bytes(8, "little")
        nodes = [(count, 0 if null is None else 1), (count, 0)]
        return arrow.batch(count, nodes, [bits, arrow.i32(*range(first, first + count)), b"", arrow.i32(*ends), b"".join(texts)])

    def write_table(self, name, *batches, stream=False):
        number = {0: arrow.i32(32), 1: b"\1"}
        written = arrow.files([arrow.field("x", arrow.INT, number), arrow.field("t", arrow.UTF8)], list(batches))
        self.write(name, written[0 if stream else 1])

    def test_a_file_and_a_stream_are_told_by_their_content(self):
        for stream in (False, True):
            self.write_table("table", self.rows(0, 20), self.rows(20, 30), stream=stream)
            info = json.loads(self.ok("info", "table", "--json"))
            self.assertEqual((info["format"], info["samples"], info["notes"]), ("arrow", 50, []))
            self.assertEqual([(f["name"], f["dtype"], f["shape"]) for f in info["fields"]], [("x", "i32", []), ("t", "u8", [-1])])
            self.assertEqual(self.ok("cat", "table", "--field", "x"), arrow.i32(*range(50)))
            self.assertEqual(self.ok("cat", "arrow:table?fields=t", "--io", "pread"), "".join(map(str, range(50))).encode())

    def test_a_shuffle_is_that_of_the_indices(self):
        self.write_table("table", self.rows(0, 64), self.rows(64, 64), self.rows(128, 5))
        for shuffle in (["--shuffle", "full"], ["--shuffle", "window", "--shuffle-block", "128"]):
            indices = list(map(int, self.ok("cat", "table", *shuffle, "--seed", "3", "--indices").split()))
            self.assertEqual(sorted(indices), list(range(133)))
            self.assertEqual(self.ok("cat", "table", *shuffle, "--seed", "3", "--field", "x"), arrow.i32(*indices))

    def test_a_null_is_a_bad_sample_that_is_named_or_a_number(self):
        self.write_table("table.arrow", self.rows(0, 8), self.rows(8, 8, null=3))
        ran = self.run_shell("cat", "arrow:table.arrow", "--field", "x", "--batch-size", "16")
        self.assertEqual(ran.status, 1)
        self.assertIn("field 'x': record batch 1, row 3: a null", ran.err)
        self.assertEqual(self.ok("cat", "arrow:table.arrow?nulls=fill(-1)", "--field", "x"), arrow.i32(*range(11), -1, *range(12, 16)))

    def test_a_directory_is_its_files_in_natural_order(self):
        os.mkdir(self.path("set"))
        for shard in (10, 2):
            self.write_table(f"set/data-{shard}.arrow", self.rows(shard, 2), stream=True)
        self.write("set/state.json", "{}")
        self.assertEqual(self.ok("cat", "arrow:set", "--field", "x"), arrow.i32(2, 3, 10, 11))


if __name__ == "__main__":
    shell.main()
