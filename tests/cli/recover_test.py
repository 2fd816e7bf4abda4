"""recover: what a damaged set still has is written as a new one, and what is lost is listed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import struct

import shell
from images_test import png
from shell import ShellTest


class Recover(ShellTest):
    def make(self, form, count=40):
        """A set in shards of four rows."""
        self.digits(count)
        self.ok("convert", "idx:images", f"{form}:set", "--shard-bytes", "1", "--batch-size", "4")
        return [self.read("images")[16 + 16 * i:][:16] for i in range(count)]

    def cut(self, name, keep):
        data = self.read(name)
        self.write(name, data[:keep] if keep >= 0 else data[:len(data) + keep])

    def test_a_sound_set_is_saved_whole(self):
        self.make("arrow")
        self.assertRegex(self.ok("recover", "arrow:set", "arrow:saved").decode(), r"^40 samples, [\d.]+ kB in 1 shard: arrow:saved\n$")
        self.assertEqual(self.ok("cat", "arrow:saved"), self.ok("cat", "arrow:set"))

    def test_files_that_cannot_be_opened_are_left_out_and_listed(self):
        rows = self.make("arrow")
        self.write("set/part-00003.arrow", "nonsense of no format")
        self.write("set/part-00005.arrow", "")
        ran = self.run_shell("recover", "arrow:set", "arrow:saved", "--json")
        self.assertEqual(ran.status, 0, ran.err)
        said = json.loads(ran.out)
        self.assertEqual((said["samples"], said["bad"], len(said["lost"])), (32, 0, 2))
        self.assertRegex(said["lost"][0], r"^left out: set/part-00003\.arrow: offset 0: ")
        self.assertRegex(said["lost"][1], r"^left out: set/part-00005\.arrow: ")
        kept = [row for i, row in enumerate(rows) if i // 4 not in (3, 5)]
        self.assertEqual(self.ok("cat", "arrow:saved"), b"".join(kept))

    def test_an_arrow_file_without_its_footer_is_read_up_to_its_last_whole_batch(self):
        rows = self.make("arrow")
        self.cut("set/part-00002.arrow", -1)
        self.cut("set/part-00004.arrow", 500)  # in its only batch
        self.assertEqual(self.run_shell("cat", "arrow:set").status, 1)
        out = self.ok("recover", "arrow:set", "arrow:saved").decode()
        self.assertRegex(out, r"set/part-00004\.arrow: cut: \d+ bytes from offset \d+ on are left out\n")
        kept = [row for i, row in enumerate(rows) if i // 4 != 4]
        self.assertEqual(self.ok("cat", "arrow:saved"), b"".join(kept))

    def test_tokens_are_written_once_as_the_message_about_windows_says(self):
        tokens = struct.pack("<100H", *(i % 10 for i in range(100)))
        self.write("t.bin", tokens + b"x")
        self.fails(1, "recover", "tokens:t.bin?length=8", "tokens:windows",
                   says=r"windows of tokens have two, x and y.*tokens:FILE\?documents=eot:ID.*raw:FILE\?dtype=u16")
        for target, uri in ("documents", "tokens:t.bin?documents=eot:9"), ("numbers", "raw:t.bin?dtype=u16"):
            with self.subTest(uri):
                self.assertRegex(self.ok("recover", uri, f"tokens:{target}").decode(), "t.bin: .*\n.* in 1 shard: tokens:")
                self.assertEqual(self.read(f"{target}/part-00000.npy")[-200:], tokens)

    def test_a_tar_archive_is_read_up_to_where_it_is_cut(self):
        for i in range(6):
            os.makedirs(self.path("photos/c"), exist_ok=True)
            self.write(f"photos/c/{i}.png", png(4 + i, 4, bytes(range(12 * (4 + i)))))
        self.ok("convert", "folder:photos", "tar:set")
        self.cut("set/part-00000.tar", 5 * 2048 + 700)  # in the sixth sample: a header and its picture, a header and its label
        out = self.ok("recover", "tar:set", "tar:saved").decode()
        self.assertRegex(out, r"set/part-00000\.tar: cut: \d+ bytes from offset \d+ on are left out\n5 samples, ")
        size = ("--max-bytes-per-sample", "1MiB", "--field", "image")
        whole = self.ok("cat", "folder:photos", *size)
        saved = self.ok("cat", "tar:saved", *size)
        self.assertTrue(whole.startswith(saved))
        self.assertLess(len(saved), len(whole))

    def test_a_record_that_is_cut_and_one_that_is_damaged_are_left_out(self):
        rows = self.make("tfrecord")
        self.cut("set/part-00001.tfrecord", -3)
        data = bytearray(self.read("set/part-00002.tfrecord"))
        data[40] ^= 1  # in its first record, whose checksum then tells
        self.write("set/part-00002.tfrecord", bytes(data))
        ran = self.run_shell("recover", "tfrecord:set?fields=data:u8[4x4]", "arrow:saved")
        self.assertEqual(ran.status, 0, ran.err)
        self.assertIn("left out: sample 7: set/part-00002.tfrecord", ran.err)
        self.assertIn("38 samples, ", ran.out.decode())
        kept = [row for i, row in enumerate(rows) if i not in (7, 8)]
        self.assertEqual(self.ok("cat", "arrow:saved"), b"".join(kept))

    def test_a_half_written_set_has_its_finished_shards(self):
        self.digits(40)
        self.write("bad.npy", b"")
        rows = self.make("arrow")
        os.rename(self.path("set"), self.path("set.partial"))
        os.rename(self.path("set.partial/part-00009.arrow"), self.path("set.partial/part-00009.arrow.new0"))
        self.ok("recover", "arrow:set.partial", "arrow:saved")
        self.assertEqual(self.ok("cat", "arrow:saved"), b"".join(rows[:36]))

    def test_where_nothing_is_left_the_first_cause_is_told(self):
        self.make("arrow", count=8)
        for name in ("part-00000.arrow", "part-00001.arrow"):
            self.write(f"set/{name}", "nonsense of no format")
        ran = self.run_shell("recover", "arrow:set", "arrow:saved")
        self.assertEqual(ran.status, 1)
        self.assertIn("none of 2 files can be opened, the first because of: set/part-00000.arrow: offset 0: ", ran.err)
        self.assertFalse(os.path.exists(self.path("saved")))

    def test_an_error_shows_the_uri_as_it_was_written(self):
        for uri in ("tokens:", "csv:x.csv?fields=a:b"):
            ran = self.run_shell("recover", uri, "npy:saved")
            self.assertEqual(ran.status, 2)
            self.assertIn(f"\n  {uri}\n", ran.err)
            self.assertNotIn("end=cut", ran.err)

    def test_bad_files_is_an_option_of_every_command(self):
        self.make("arrow")
        self.write("set/part-00003.arrow", "nonsense of no format")
        self.assertEqual(self.run_shell("info", "arrow:set").status, 1)
        ran = self.run_shell("info", "arrow:set", "--bad-files", "skip", "--json")
        self.assertEqual(json.loads(ran.out)["samples"], 36)
        self.assertIn("left out: set/part-00003.arrow", json.loads(ran.out)["notes"][0])
        self.assertIn("left out: set/part-00003.arrow", ran.err)
        # One file is no set, and a file that is missing is one that cannot be opened.
        self.assertEqual(self.run_shell("info", "arrow:set/part-00003.arrow", "--bad-files", "skip").status, 1)
        said = self.ok("info", "arrow:set/part-{00001..00004}.arrow,none.arrow", "--bad-files", "skip", "--json", "--quiet")
        self.assertEqual(json.loads(said)["samples"], 12)

    def test_paths_side_by_side_are_not_skipped(self):
        self.make("arrow")
        self.digits(40)
        self.fails(2, "info", "arrow:a=set,b=set", "--bad-files", "skip", says="paths side by side")


if __name__ == "__main__":
    shell.main()
