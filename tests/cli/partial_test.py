"""PATH.partial: a writer takes over what a writer made, and harms nothing else.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil

import shell
from damaged import Damage


class Partial(Damage):
    """PATH.partial that is not a writer's."""

    def setUp(self):
        super().setUp()
        self.digits(8)

    def refused(self, says):
        before = {name: os.lstat(os.path.join(where, name)).st_mtime_ns for where, _, names in os.walk(self.folder) for name in names}
        self.fails(1, "convert", "idx:images", "arrow:set", says=says)
        after = {name: os.lstat(os.path.join(where, name)).st_mtime_ns for where, _, names in os.walk(self.folder) for name in names}
        self.assertEqual(after, before)

    def test_a_directory_without_a_manifest_keeps_its_files(self):
        os.mkdir(self.path("set.partial"))
        for name in ("part-00000.arrow", "part-00000.arrow.new0", "mine.txt"):
            self.write(f"set.partial/{name}", "mine")
            self.refused(r"set\.partial: has files .* that no manifest lists")
            os.remove(self.path(f"set.partial/{name}"))
        self.ok("convert", "idx:images", "arrow:set")  # an empty one

    def test_a_manifest_of_something_else_is_kept_with_all_files(self):
        os.mkdir(self.path("set.partial"))
        self.write("set.partial/part-00000.arrow", "mine")
        for text in ("", "{\"set\": 1, \"for", "hello\n", "{\"version\": 2}\n", "hello"):
            self.write("set.partial/dataline.manifest", text)
            self.refused(r"set\.partial")

    def test_links_and_files_in_its_place_are_kept(self):
        os.mkdir(self.path("mine"))
        self.write("mine/part-00000.arrow", "mine")
        for make in (lambda: os.symlink("mine", self.path("set.partial")), lambda: os.symlink("nowhere", self.path("set.partial")),
                     lambda: self.write("set.partial", "mine"), lambda: os.mkfifo(self.path("set.partial"))):
            make()
            self.refused(r"set\.partial: is not a directory")
            os.remove(self.path("set.partial"))
        self.assertFalse(os.path.exists(self.path("nowhere")))

    def half(self):
        """An unfinished set with one shard."""
        shutil.rmtree(self.path("set.partial"), ignore_errors=True)
        self.ok("convert", "idx:images", "arrow:whole", "--shard-bytes", "1", "--batch-size", "4")
        os.rename(self.path("whole"), self.path("set.partial"))
        lines = self.read("set.partial/dataline.manifest").splitlines(keepends=True)
        self.write("set.partial/dataline.manifest", b"".join(lines[:2]))
        os.remove(self.path("set.partial/part-00001.arrow"))

    def test_a_manifest_or_shard_that_is_a_link_or_a_directory_is_kept(self):
        for name in ("dataline.manifest", "part-00000.arrow", "part-00001.arrow", "part-00001.arrow.new0"):
            for make in (lambda path: os.symlink("../mine", path), os.mkdir, os.mkfifo):
                self.half()
                self.write("mine", "mine")
                path = self.path(f"set.partial/{name}")
                if os.path.exists(path):
                    os.remove(path)
                make(path)
                self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: is not a regular file")
                self.assertTrue(os.path.lexists(path))
                self.assertEqual(self.read("mine"), b"mine")

    def test_a_file_that_no_killed_writer_can_have_left_is_kept_and_named(self):
        for name in ("part-00002.arrow", "part-00099.arrow", "part-00002.arrow.new0", "part-00000.arrow.new0", "part-1.arrow", "part-000007.arrow", "mine.arrow"):
            self.half()
            self.write("set.partial/part-00001.arrow", "left")
            self.write(f"set.partial/{name}", "mine")
            before = {each: self.read(f"set.partial/{each}") for each in os.listdir(self.path("set.partial"))}
            self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: dataline\.manifest lists 1 shard, but not this file")
            self.assertEqual({each: self.read(f"set.partial/{each}") for each in os.listdir(self.path("set.partial"))}, before)

    def test_a_file_with_a_second_name_is_kept(self):
        for name in ("dataline.manifest", "part-00000.arrow", "part-00001.arrow", "part-00001.arrow.new0"):
            self.half()
            path = self.path(f"set.partial/{name}")
            if not os.path.exists(path):
                self.write(f"set.partial/{name}", "mine")
            os.link(path, self.path("second"))
            before = self.read("second")
            self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: has more than one hard link")
            self.assertEqual((self.read("second"), os.stat(path).st_nlink), (before, 2))
            os.remove(self.path("second"))

    def test_text_behind_the_last_line_of_a_manifest_is_kept(self):
        self.ok("convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4")
        os.rename(self.path("set"), self.path("set.partial"))
        text = self.read("set.partial/dataline.manifest") + b"mine"
        self.write("set.partial/dataline.manifest", text)
        self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says="4 bytes from offset .* follow its last line")
        self.assertEqual(self.read("set.partial/dataline.manifest"), text)

    def test_later_shards_that_the_manifest_lists_are_written_again(self):
        self.ok("convert", "idx:images", "arrow:whole", "--shard-bytes", "1", "--batch-size", "2")
        shutil.copytree(self.path("whole"), self.path("set.partial"))
        lines = self.read("set.partial/dataline.manifest").splitlines(keepends=True)
        self.write("set.partial/dataline.manifest", b"".join(lines[:4]) + lines[4][:20])
        self.flip("set.partial/part-00001.arrow", 100)
        self.ok("convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "2", "--quiet")
        for name in os.listdir(self.path("whole")):
            self.assertEqual(self.read(f"set/{name}"), self.read(f"whole/{name}"), name)

    def test_only_names_that_the_writer_uses_are_removed(self):
        self.half()
        mine = ["part-00001.arrow.news", "part-00001.arrow.new01", "part-00001.arrow.bak", "part-x.arrow.new0", "part-00001.tar"]
        for name in (*mine, "part-00001.arrow", "part-00001.arrow.new0"):
            self.write(f"set.partial/{name}", "mine")
        self.ok("convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", "--quiet")
        self.assertEqual(sorted(os.listdir(self.path("set"))), sorted([*mine, "dataline.manifest", "part-00000.arrow", "part-00001.arrow"]))
        self.assertTrue(all(self.read(f"set/{name}") == b"mine" for name in mine))


if __name__ == "__main__":
    shell.main()
