"""Mixes in the shell: recipes are URIs like others.

SPDX-License-Identifier: Apache-2.0
"""

import json
import struct
import unittest

import shell
from shell import ShellTest


class MixTest(ShellTest):
    def setUp(self):
        super().setUp()
        for name, rows in (("a.bin", b"abc"), ("b.bin", b"de")):
            self.write(name, rows)

    def recipe(self, **more):
        parts = [
            {"name": "first", "uri": "raw:a.bin?dtype=u8", "weight": 3},
            {"name": "second", "uri": "raw:b.bin?dtype=u8", "weight": 1},
        ]
        return self.write("mix.json", json.dumps({"parts": parts, **more}))

    def test_info_shows_parts_counts_and_shares(self):
        self.recipe()
        table = self.ok("info", "mix:mix.json").decode()
        self.assertRegex(table, r"first +3 +- +75 % +raw:a\.bin")
        told = json.loads(self.ok("info", "mix:mix.json", "--json"))
        self.assertEqual(told["format"], "mix")
        self.assertEqual([part["samples"] for part in told["parts"]], [3, 2])
        self.assertEqual([part["share"] for part in told["parts"]], [0.75, 0.25])
        self.assertEqual([part["repeat"] for part in told["parts"]], [None, None])

    def test_cat_joined_over_ranks_is_the_whole_and_indices_name_the_part(self):
        self.recipe(samples_per_epoch=1024)
        job = ("--shuffle", "full", "--seed", 3, "--global_batch_size", 128)
        whole = self.ok("cat", "mix:mix.json", *job)
        self.assertEqual(sum(whole.count(c) for c in b"abc"), 768)
        rows = [line.split() for line in self.ok("cat", "mix:mix.json", "--indices", *job).decode().splitlines()]
        self.assertEqual(bytes((b"abc", b"de")[int(part)][int(index)] for part, index in rows), whole)
        halves = [self.ok("cat", "mix:mix.json", *job, "--world_size", 2, "--rank", rank) for rank in (0, 1)]
        steps = range(0, len(halves[0]), 64)
        self.assertEqual(b"".join(half[at : at + 64] for at in steps for half in halves), whole)

    def test_a_part_may_have_a_transform_which_info_shows(self):
        table = self.ok("info", "mix:" + self.recipe()).decode()
        self.assertNotIn("transform", table)
        parts = [{"name": "first", "uri": "raw:a.bin?dtype=u8", "repeat": 1, "transform": "cast(f32)"},
                 {"name": "second", "uri": "raw:b.bin?dtype=u8", "repeat": 1, "transform": "scale(2)"}]
        self.write("mix.json", json.dumps({"parts": parts}))
        table = self.ok("info", "mix:mix.json").decode()
        self.assertRegex(table, r"second +2 +1 +40 % +raw:b\.bin\?dtype=u8 +scale\(2\)")
        told = json.loads(self.ok("info", "mix:mix.json", "--json"))
        self.assertEqual([part["transform"] for part in told["parts"]], ["cast(f32)", "scale(2)"])
        rows = self.ok("cat", "mix:mix.json", "--batch_size", 5)
        self.assertEqual(struct.unpack("=5f", rows), (97, 98, 99, 200, 202))
        self.fails(2, "info", "mix:mix.json?axes=T", says="axes is not supported for a mix whose parts have their own transforms")
        parts[1]["transform"] = "cast(i64)"
        self.write("mix.json", json.dumps({"parts": parts}))
        self.fails(1, "info", "mix:mix.json", says="part second: field 'data' becomes i64, in part first it becomes f32")

    def test_a_saved_position_goes_on(self):
        self.recipe(schedule=[{"step": 5, "weights": {"second": 1}}], samples_per_epoch=100)
        job = ("--shuffle", "full", "--batch_size", 10, "--epochs", 2)
        whole = self.ok("cat", "mix:mix.json", *job)
        self.assertLessEqual(set(whole[50:]), set(b"de"))
        head = self.ok("cat", "mix:mix.json", *job, "--batches", 7, "--save-state", "state")
        rest = self.ok("cat", "mix:mix.json", *job, "--load-state", "state")
        self.assertEqual(head + rest, whole)
        self.write("a.bin", b"abcd")
        self.fails(1, "cat", "mix:mix.json", *job, "--load-state", "state", says="part first: 4 samples, saved with 3")

    def test_what_is_wrong_names_the_recipe_and_the_part(self):
        self.recipe()
        self.write("b.bin", b"")
        self.fails(1, "info", "mix:mix.json", says="mix.json: mix: part second has no samples")
        self.write("mix.json", '{"parts": [\n{"uri": "raw:a.bin?dtype=u8"}]}')
        self.fails(1, "info", "mix:mix.json", says="mix.json: line 2: part 0 has neither a weight nor a repeat")
        self.fails(2, "info", "mix:mix.json,mix.json", says="mix accepts one recipe")


if __name__ == "__main__":
    shell.main()
