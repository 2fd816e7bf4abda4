"""verify and recover on sets whose manifest has checksums: what differs is named, and none of it passes as good.

The oracles: what was written before the damage, tarfile and zipfile.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import struct
import tarfile
import zipfile

import shell
from damaged import Damage


class Checksums(Damage):
    """Sets that Dataline wrote, whose manifest has a CRC-32C a shard."""

    # Each shard of tokens, 64 of them, is three samples of 16 and their targets.
    A_SHARD = {"arrow": 4, "npy": 4, "tokens": 3, "tfrecord": 4, "tar": 4}
    OPENS = {"arrow": "arrow:set", "npy": "npy:set", "tokens": "tokens:set?length=16&dtype=u8", "tfrecord": "tfrecord:set?fields=data:u8[4x4]",
             "tar": "tar:set"}

    def make(self, form, count=40):
        """Ten shards of four rows of 16 bytes; returns the rows."""
        rows = [bytes((i * 16 + k) % 251 for k in range(16)) for i in range(count)]
        if form == "tar":
            for i, row in enumerate(rows):
                os.makedirs(self.path("files"), exist_ok=True)
                self.write(f"files/{i:03}.dat", row)
            with tarfile.open(self.path("a.tar"), "w") as tar:
                for i in range(count):
                    tar.add(self.path(f"files/{i:03}.dat"), f"{i:03}.dat")
            self.ok("convert", "tar:a.tar", "tar:set", "--shard-bytes", "1", "--batch-size", "4")
        elif form == "tokens":
            self.idx("rows", rows, (16,))
            self.ok("convert", "idx:rows", "tokens:set", "--shard-bytes", "1", "--batch-size", "4")
        else:
            self.idx("rows", rows, (4, 4))
            self.ok("convert", "idx:rows", f"{form}:set", "--shard-bytes", "1", "--batch-size", "4")
        return rows

    def shards(self, form):
        return sorted(name for name in os.listdir(self.path("set")) if name != "dataline.manifest")

    def test_a_flipped_bit_is_named_in_each_format_that_is_written(self):
        for form, uri in self.OPENS.items():
            self.make(form)
            shards = self.shards(form)
            self.assertEqual(len(shards), 10, form)
            self.assertEqual(self.run_shell("verify", uri).status, 0, form)
            name = "set/" + shards[3]
            size = len(self.read(name))
            for at in (size - 1, size - 20, 40):
                if at == 40 and form == "tokens":  # where the header is: without it the number of samples is not known
                    self.flip(name, at)
                    self.fails(1, "verify", uri, says=f"{name}: its CRC-32C is")
                    continue
                self.flip(name, at)
                status, said = self.verify(uri)
                self.assertEqual(status, 1, (form, at))
                self.assertEqual(len(said["damaged"]), 1, (form, said))
                self.assertIn(name, said["damaged"][0])
                self.assertIn("CRC-32C", said["damaged"][0])
                if form != "tfrecord":  # whose records have checksums of their own
                    bad = [bad["index"] for bad in said["bad_samples"]]
                    self.assertEqual(bad, list(range(3 * self.A_SHARD[form], 4 * self.A_SHARD[form])), form)
                self.flip(name, at)
            shutil.rmtree(self.path("set"))

    def test_rows_of_a_shard_that_differs_are_not_saved_where_nothing_proves_them(self):
        for form in ("arrow", "npy", "tokens", "tar"):
            rows = self.make(form)
            name = "set/" + self.shards(form)[3]
            data = self.read(name)
            place = data.index(rows[13])
            self.write(name, data[:place] + bytes(len(data) - place))  # a zeroed tail
            said = self.recover(self.OPENS[form])
            self.assertEqual(len(said["lost"]), 1, (form, said))
            self.assertRegex(said["lost"][0], rf"^left out: {name}: its CRC-32C is 0x[0-9a-f]+, .*4 samples")
            self.assertEqual(said["samples"], 9 * self.A_SHARD[form], form)
            if form != "tokens":
                self.assertEqual(self.saved({"tar": "dat"}.get(form)), b"".join(rows[:12] + rows[16:]), form)
            shutil.rmtree(self.path("set"))

    def test_records_that_have_checksums_of_their_own_are_saved(self):
        rows = self.make("tfrecord")
        name = "set/part-00003.tfrecord"
        self.flip(name, self.read(name).index(rows[13]))
        said = self.recover(self.OPENS["tfrecord"])
        self.assertEqual((said["samples"], said["bad"]), (39, 1))
        self.assertRegex(said["lost"][0], rf"^damaged: {name}: its CRC-32C")
        self.assertEqual(self.saved(), b"".join(rows[:13] + rows[14:]))
        # Without them nothing is proved.
        said = self.recover(self.OPENS["tfrecord"] + "&crc=ignore")
        self.assertEqual(said["samples"], 36)
        self.assertRegex(said["lost"][0], rf"^left out: {name}: ")

    def test_a_missing_shard_keeps_its_indices_and_is_listed(self):
        rows = self.make("arrow")
        os.remove(self.path("set/part-00003.arrow"))
        status, said = self.verify("arrow:set", "--good-indices", "good")
        self.assertEqual((status, said["samples"], said["bad"]), (1, 40, 4))
        self.assertIn("set/part-00003.arrow: is missing", said["damaged"][0])
        self.assertEqual(self.read("good").split(), [str(i).encode() for i in range(40) if i // 4 != 3])
        said = self.recover("arrow:set")
        self.assertIn("left out: set/part-00003.arrow: is missing", said["lost"][0])
        self.assertEqual(self.saved(), b"".join(rows[:12] + rows[16:]))

    def test_a_missing_shard_of_tokens_is_an_error_of_verify_for_its_samples_are_not_known(self):
        self.make("tokens")
        name = self.shards("tokens")[3]
        os.remove(self.path(f"set/{name}"))
        self.fails(1, "verify", self.OPENS["tokens"], says=f"set/{name}: is missing")
        self.assertEqual(len(self.recover(self.OPENS["tokens"])["lost"]), 1)

    def test_a_shard_of_0_bytes_has_lost_its_samples_where_the_manifest_states_some(self):
        for form in ("arrow", "npy", "tar"):
            self.make(form)
            name = "set/" + self.shards(form)[2]
            os.truncate(self.path(name), 0)
            self.fails(1, "info", self.OPENS[form], says=name)
            self.assertIn(f"left out: {name}", self.run_shell("info", self.OPENS[form], "--bad-files", "skip").err)
            os.remove(self.path("set/dataline.manifest"))
            ran = self.run_shell("info", self.OPENS[form])
            self.assertEqual(ran.status, 0, form)
            self.assertIn("1 file has no samples: " + os.path.basename(name), ran.err, "a warning: it lacks its header")
            shutil.rmtree(self.path("set"))

    def test_a_missing_last_shard_is_found(self):
        self.make("arrow")
        os.remove(self.path("set/part-00009.arrow"))
        status, said = self.verify("arrow:set")
        self.assertEqual((status, said["samples"], said["bad"]), (1, 40, 4))

    def test_bytes_that_follow_a_shard_are_left_out_and_its_rows_are_saved(self):
        for form in ("arrow", "npy", "tokens", "tar", "tfrecord"):
            rows = self.make(form)
            name = "set/" + self.shards(form)[3]
            data = self.read(name)
            self.write(name, data + b"0123456789abcdef" * 4)
            status, said = self.verify(self.OPENS[form])
            self.assertEqual((status, said["samples"], said["bad"]), (1, 10 * self.A_SHARD[form], 0), form)
            self.assertIn(f"{name}: 64 bytes from offset {len(data)} follow", said["damaged"][0])
            said = self.recover(self.OPENS[form])
            self.assertEqual((said["samples"], len(said["lost"])), (10 * self.A_SHARD[form], 1), (form, said))
            if form != "tokens":
                self.assertEqual(self.saved({"tar": "dat"}.get(form)), b"".join(rows), form)
            shutil.rmtree(self.path("set"))

    def test_a_file_that_the_manifest_does_not_list_is_named(self):
        self.make("arrow")
        shutil.copy(self.path("set/part-00003.arrow"), self.path("set/part-00010.arrow"))
        status, said = self.verify("arrow:set")
        self.assertEqual((status, said["bad"], len(said["damaged"])), (1, 0, 1))
        self.assertIn("set/part-00010.arrow: dataline.manifest next to it does not list it", said["damaged"][0])
        self.assertEqual(self.recover("arrow:set")["lost"], said["damaged"])

    def test_a_manifest_whose_sums_do_not_fit_is_named(self):
        self.make("arrow")
        lines = self.read("set/dataline.manifest").decode().splitlines(keepends=True)
        for text, says in (("".join(lines[:-1]), "the set is incomplete"),
                           ("".join(lines[:-1]) + lines[-1].replace('"samples": 40', '"samples": 41'), "its last line states 41"),
                           ("".join(lines[:2] + lines[3:]), "does not list it"),
                           ("".join(lines).replace('"samples": 4,', '"samples": 5,', 1), "has 4 samples"),
                           ("nonsense\n", "line 1"), ("", "has 0 bytes and no complete first line"), (lines[0][:-1], "no complete first line"),
                           ("".join(lines) + "more\n", "5 bytes from offset"), ("".join(lines) + lines[-1], "follow its last line"),
                           ("".join(lines) + "\n", "1 bytes from offset"), ("".join(lines) + "x", "follow its last line")):
            self.write("set/dataline.manifest", text)
            status, said = self.verify("arrow:set")
            self.assertEqual(status, 1, text)
            self.assertTrue(any(says in line for line in said["damaged"]), (says, said["damaged"]))
            self.assertTrue(any(says in line for line in self.recover("arrow:set")["lost"]), says)

    def test_a_manifest_of_another_format_is_named(self):
        for form, other in (("arrow", "tar"), ("tar", "arrow"), ("npy", "tfrecord"), ("tokens", "tar"), ("tfrecord", "npy")):
            self.make(form)
            head = self.read("set/dataline.manifest").decode()
            self.write("set/dataline.manifest", head.replace(f'"format": "{form}"', f'"format": "{other}"', 1))
            status, said = self.verify(self.OPENS[form])
            self.assertEqual(status, 1, form)
            self.assertIn(f"set/dataline.manifest: line 1: the format is {other}, but the shard 'part-00000.", said["damaged"][0])
            shard = "set/" + self.shards(form)[3]
            self.flip(shard, len(self.read(shard)) - 1)  # the checksums are still compared
            ran = self.run_shell("verify", self.OPENS[form])
            self.assertEqual(ran.status, 1, form)
            self.assertIn(f"{shard}: its CRC-32C is", ran.out.decode() + ran.err)
            shutil.rmtree(self.path("set"))

    def test_an_unfinished_set_is_named_and_its_shards_are_compared(self):
        rows = self.make("arrow")
        os.rename(self.path("set"), self.path("set.partial"))
        text = self.read("set.partial/dataline.manifest")
        self.write("set.partial/dataline.manifest", text[:text.rindex(b'{"samples"')])
        status, said = self.verify("arrow:set.partial")
        self.assertEqual((status, said["bad"], len(said["damaged"])), (1, 0, 1))
        self.flip("set.partial/part-00002.arrow", 500)
        said = self.recover("arrow:set.partial")
        self.assertEqual(len(said["lost"]), 2)
        self.assertEqual(self.saved(), b"".join(rows[:8] + rows[12:]))

    def test_one_file_of_a_set_is_compared_too(self):
        self.make("arrow")
        self.assertEqual(self.run_shell("verify", "arrow:set/part-00003.arrow").status, 0)
        self.flip("set/part-00003.arrow", 500)
        self.assertEqual(self.verify("arrow:set/part-00003.arrow")[1]["bad"], 4)
        self.assertEqual(self.verify("arrow:set/part-{00002..00004}.arrow")[1]["bad"], 4)
        self.fails(1, "recover", "arrow:set/part-00003.arrow", "arrow:saved", says="its CRC-32C is")
        self.ok("recover", "arrow:set/part-00003.arrow", "arrow:saved", "--checksums", "records")

    def test_a_manifest_that_is_a_link_to_nowhere_is_named_and_one_that_is_missing_is_not(self):
        for form in ("arrow", "npy", "tfrecord", "tar"):
            self.make(form)
            uri, name = self.OPENS[form], self.shards(form)[3]
            os.remove(self.path("set/dataline.manifest"))
            self.assertEqual(self.run_shell("verify", uri).status, 0, form)
            os.symlink("nowhere", self.path("set/dataline.manifest"))
            for each in (uri, uri.replace("set", f"set/{name}", 1)):
                status, said = self.verify(each)
                self.assertEqual((status, said["damaged"]), (1, ["damaged: set/dataline.manifest: is a broken link: the files next to it are not compared"]), each)
                self.assertEqual(self.recover(each)["lost"], said["damaged"], each)
            shutil.rmtree(self.path("set"))

    def test_bytes_behind_the_manifest_do_not_end_the_comparison_of_the_shards(self):
        rows = self.make("arrow")
        self.write("set/dataline.manifest", self.read("set/dataline.manifest") + b"garbage")
        self.flip("set/part-00003.arrow", 500)
        self.assertEqual(len(self.recover("arrow:set")["lost"]), 2)
        self.assertEqual(self.saved(), b"".join(rows[:12] + rows[16:]))

    def test_a_file_is_compared_also_where_a_link_in_another_directory_leads_to_it(self):
        self.make("arrow")
        os.mkdir(self.path("links"))
        for i in range(10):
            os.symlink(f"../set/part-{i:05}.arrow", self.path(f"links/{i}.arrow"))
        os.symlink("links/3.arrow", self.path("twice.arrow"))
        os.symlink("set", self.path("other"))
        whole = ("arrow:links/3.arrow", "arrow:twice.arrow", "arrow:other/part-00003.arrow", "arrow:other", "arrow:links", "arrow:twice.arrow,links/4.arrow")
        for uri in whole:
            self.assertEqual(self.run_shell("verify", uri).status, 0, uri)
        self.flip("set/part-00003.arrow", 500)
        for uri in whole:
            status, said = self.verify(uri)
            self.assertEqual((status, said["bad"], len(said["damaged"])), (1, 4, 1), uri)
            self.assertIn("CRC-32C", said["damaged"][0])

    def test_each_command_compares_when_it_is_told_to(self):
        self.make("arrow")
        self.flip("set/part-00003.arrow", 500)
        self.assertEqual(len(self.ok("cat", "arrow:set")), 640)
        self.fails(1, "cat", "arrow:set", "--checksums", "files", says=r"set/part-00003\.arrow: its CRC-32C is 0x[0-9a-f]+, dataline\.manifest states")

    def test_stored_members_of_an_npz_are_compared(self):
        header = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
        header += b"{'descr': '<i8', 'fortran_order': False, 'shape': (40, 4), }".ljust(117) + b"\n"
        for i in range(2):
            with zipfile.ZipFile(self.path(f"{i}.npz"), "w", zipfile.ZIP_STORED) as archive:
                archive.writestr("x.npy", header + struct.pack("<160q", *range(i * 160, i * 160 + 160)))
        self.assertEqual(self.run_shell("verify", "npz:1.npz").status, 0)
        self.flip("1.npz", 800)
        with zipfile.ZipFile(self.path("1.npz")) as archive:
            self.assertEqual(archive.testzip(), "x.npy")
        status, said = self.verify("npz:0.npz,1.npz")
        self.assertEqual((status, said["samples"], said["bad"]), (1, 80, 40))
        self.assertRegex(said["damaged"][0], r"1\.npz: .*x\.npy.*CRC-32")
        said = self.recover("npz:0.npz,1.npz")
        self.assertEqual(said["samples"], 40)
        self.assertRegex(said["lost"][0], r"^left out: 1\.npz: ")


if __name__ == "__main__":
    shell.main()
