"""The store: what cannot be read is absent, writers do not disturb each other, it stays small.

SPDX-License-Identifier: Apache-2.0
"""

import json
import multiprocessing
import os

from store import Store
from testing import TreeCase

ENTRY = {"part": "p", "when": "2026-11-28 14:02", "commit": "1a2b3c4", "passed": 3, "skips": []}


def write_many(folder, first):
    own = Store(folder, max_entries=50)
    for number in range(60):
        own.keep(f"shared{number % 20}", {**ENTRY, "passed": first})
        own.keep(f"own{first}-{number}", ENTRY)


class Stored(TreeCase):
    def test_an_entry_is_found_by_its_key_alone(self):
        self.store.keep("one", ENTRY)
        self.assertEqual(self.store.find("one"), ENTRY)
        self.assertIsNone(self.store.find("two"))

    def test_a_corrupted_entry_is_absent(self):
        for text in ("", "{", "[]", "null", '{"part": "p"}', json.dumps({**ENTRY, "skips": 3}), "\0" * 100):
            self.store.keep("one", ENTRY)
            (self.store.folder / "one.json").write_text(text, encoding="utf-8")
            self.assertIsNone(self.store.find("one"), text)
        (self.store.folder / "one.json").write_bytes(b"\xff\xfe")
        self.assertIsNone(self.store.find("one"))

    def test_a_killed_writer_leaves_the_old_entry(self):
        self.store.keep("one", ENTRY)
        (self.store.folder / "abc.new").write_text('{"part": "p"', encoding="utf-8")
        self.assertEqual(self.store.find("one"), ENTRY)

    def test_a_reader_of_the_old_entry_keeps_it_whole(self):
        self.store.keep("one", ENTRY)
        with open(self.store.folder / "one.json", encoding="utf-8") as reader:
            self.store.keep("one", {**ENTRY, "passed": 4})
            self.assertEqual(json.load(reader), ENTRY)
        self.assertEqual(self.store.find("one")["passed"], 4)

    def test_two_writers_at_the_same_time_leave_whole_entries(self):
        writers = [multiprocessing.Process(target=write_many, args=(self.store.folder, first)) for first in (1, 2)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            self.assertEqual(writer.exitcode, 0)
        left = list(self.store.folder.iterdir())
        self.assertTrue(left)
        self.assertLessEqual(len(left), 51)
        for path in left:
            self.assertIsNotNone(self.store.find(path.stem), path)

    def test_the_entries_used_longest_ago_are_removed(self):
        small = Store(self.folder / "small", max_entries=3)
        for number in range(3):
            small.keep(f"k{number}", ENTRY)
            os.utime(small.folder / f"k{number}.json", (number + 1, number + 1))
        small.find("k0")  # use makes it young
        small.keep("k3", ENTRY)
        self.assertEqual(sorted(path.stem for path in small.folder.iterdir()), ["k0", "k2", "k3"])

    def test_the_size_is_bounded(self):
        small = Store(self.folder / "small", max_bytes=10_000)
        for number in range(40):
            small.keep(f"k{number}", {**ENTRY, "skips": ["x" * 900]})
        self.assertLessEqual(sum(path.stat().st_size for path in small.folder.iterdir()), 10_000)

    def test_a_store_that_cannot_be_written_is_no_failure(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        blocked = Store(self.folder / "file" / "store")
        blocked.keep("one", ENTRY)
        self.assertIsNone(blocked.find("one"))
