"""A bad sample is told with where it lies: by cat (raised, replaced, quarantined) and info --images, for people and as JSON.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import os
import tarfile
import unittest

import shell
from images_test import png
from shell import ShellTest

GOOD = png(4, 3, bytes(range(36)))
CUT = GOOD[:30]


class PlacesTest(ShellTest):
    def folder_of(self, name, count=4, bad=2, bad_name=None):
        """folder/c/0.png ...; picture `bad` is cut."""
        for i in range(count):
            picture = bad_name if i == bad and bad_name else f"{i}.png".encode()
            path = os.path.join(os.fsencode(self.path(name)), b"c", picture)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(CUT if i == bad else GOOD)
        return "folder:" + name

    def tar_of(self, name, bad=()):
        with tarfile.open(self.path(name), "w") as tar:
            for i in range(3):
                for suffix, data in (("PNG", CUT if i in bad else GOOD), ("cls", b"%d" % i)):
                    info = tarfile.TarInfo(f"train/{i}.{suffix}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        return name

    def raised(self, uri, *words, says):
        return self.fails(1, "cat", uri, "--field", "image", "--transform", "image: decode, resize([2, 2])", "--num_workers", 0,
                          *words, says=says, out=None).err


class Pictures(PlacesTest):
    def test_the_file_of_a_folder_is_named_once(self):
        for io_mode in ("auto", "memory"):
            err = self.raised(self.folder_of("set"), "--io", io_mode, says="sample 2: set/c/2.png: field 'image': decode: ")
            self.assertEqual(err.count("2.png"), 1, err)

    def test_a_file_that_cannot_be_read_is_named_once_too(self):
        uri = self.folder_of("set", bad=-1)
        self.write("set/c/1.png", b"")
        err = self.raised(uri, says="sample 1: set/c/1.png: offset 0: the file is empty")
        self.assertEqual(err.count("1.png"), 1, err)

    def test_shard_member_and_offset_of_a_tar_through_concat_and_shuffle(self):
        self.tar_of("a.tar")
        self.tar_of("b.tar", bad=(1,))
        for words in ((), ("--shuffle", "full")):
            self.raised("tar:a.tar,b.tar", *words, says="sample 4: b.tar: member train/1.PNG, offset 2560: field 'image': decode")

    def test_zipped_parts_name_the_file_of_the_field_that_is_wrong(self):
        self.npy("x.npy", "|u1", (3, 2), bytes(6))
        self.npy("y.npy", "<i8", (3,), b"".join(v.to_bytes(8, "little") for v in (1, 9, 2)))
        self.fails(1, "cat", "npy:image=x.npy,label=y.npy", "--field", "label", "--transform", "label: one_hot(5)",
                   says="sample 1: y.npy: record 1, offset 136: field 'label': one_hot: expected a label from 0 to 4, got 9")

    def test_pictures_of_unequal_size_are_named_and_not_said_to_be_left_out(self):
        self.folder_of("set", bad=-1)
        self.write("set/c/2.png", png(5, 5, bytes(75)))
        for policy in ("raise", "replace", "quarantine"):
            ran = self.fails(1, "cat", "folder:set", "--field", "image", "--transform", "image: decode", "--on_error", policy,
                             says="sample 2: set/c/2.png: field 'image': sample 2 is 5 wide, 5 high, sample 0 of the same batch is 4 wide, 3 high")
            self.assertEqual(len(ran.err.splitlines()), 1, ran.err)
            self.assertNotIn("left out", ran.err)

    def test_what_was_replaced_is_listed_with_its_file_and_what_was_not_delivered_is_not_called_replaced(self):
        uri = self.folder_of("set", count=8, bad=5)
        words = ("--field", "image", "--transform", "image: decode, resize([2, 2])", "--batch_size", 2, "--num_workers", 0)
        for policy in ("replace", "quarantine"):
            ran = self.run_shell("cat", uri, *words, "--on_error", policy)
            self.assertEqual(ran.status, 0, ran.err)
            self.assertRegex(ran.err, r"^dataline: 1 bad sample: sample 5 replaced by \d \(set/c/5.png: field 'image': decode: ")
        ran = self.run_shell("cat", uri, *words, "--on_error", "replace", "--max_bad", 0)
        self.assertEqual(ran.status, 1)
        self.assertNotIn("replaced by", ran.err)

    def test_a_long_path_leaves_name_and_cause_in_one_line(self):
        deep = "/".join(["d" * 100] * 8)
        uri = self.folder_of(deep)
        err = self.raised(uri, says=r"sample 2: \.\.\.[d/]+/c/2.png: field 'image': decode: PNG ends at byte 30")
        self.assertLess(len(err), 512)
        ran = self.run_shell("cat", uri, "--field", "image", "--transform", "image: decode, resize([2, 2])", "--on_error", "replace")
        self.assertRegex(ran.err, r"\(\.\.\.[d/]+/c/2.png: field 'image': decode: PNG ends at byte 30")
        with open(os.path.join(self.folder, deep, "c", "1.png"), "wb"):
            pass
        self.raised(uri, says=r"sample 1: \.\.\.[d/]+/c/1.png: offset 0: the file is empty")

    def test_a_name_of_255_bytes_keeps_its_end(self):
        self.raised(self.folder_of("set", bad_name=b"n" * 245 + b"-last.png", count=1, bad=0),
                    says=r"sample 0: \.\.\.n+-last.png: field 'image': decode: PNG ends at byte 30")

    def test_odd_bytes_in_a_name_stay_one_line_of_printable_utf8(self):
        uri = self.folder_of("set", bad_name=b"a\n\x1b\xff\xc2\x9b\xe2\x82\xac.png", count=1, bad=0)
        err = self.raised(uri, says="sample 0: set/c/a...*\u20ac.png: field 'image': decode")
        self.assertTrue(err.rstrip("\n").isprintable(), err)


class InfoImages(PlacesTest):
    def images(self, uri):
        return json.loads(self.ok("info", uri, "--images", "--json"))["images"]

    def test_unreadable_ones_are_named_by_sample_and_file_once(self):
        images = self.images(self.folder_of("set"))
        self.assertEqual(len(images["unreadable_samples"]), 1)
        self.assertRegex(images["unreadable_samples"][0], "^sample 2: set/c/2.png: PNG ends at byte 30")
        self.tar_of("a.tar", bad=(0,))
        self.assertRegex(self.images("tar:a.tar")["unreadable_samples"][0],
                         "^sample 0: a.tar: member train/0.PNG, offset 512: PNG ends at byte 30")
        text = shell.one_line(self.ok("info", "folder:set", "--images").decode())
        self.assertIn("unreadable sample 2: set/c/2.png: PNG", text)

    def test_the_field_that_was_read_is_told_also_where_none_was_named(self):
        self.assertEqual(self.images(self.folder_of("set"))["field"], "image")
        with tarfile.open(self.path("x.tar"), "w") as tar:
            info = tarfile.TarInfo("0.gif")
            info.size = len(GOOD)
            tar.addfile(info, io.BytesIO(GOOD))
        self.assertEqual(json.loads(self.ok("info", "tar:x.tar?fields=gif", "--images", "--json"))["images"]["field"], "gif")


if __name__ == "__main__":
    shell.main()
