"""verify and recover on damaged sets and files: what differs from its checksum is named, what is whole is saved, what is lost is listed.

The oracles: what was written before the damage, tarfile, zipfile, csv and json.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io
import json
import os
import random
import shutil
import struct
import tarfile
import zipfile

import shell
from shell import ShellTest

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked(data):
    """TFRecord's masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


class Damage(ShellTest):
    def flip(self, name, at):
        data = bytearray(self.read(name))
        data[at] ^= 1
        self.write(name, bytes(data))

    def recover(self, uri, *args):
        """The report of a recovery into arrow:saved."""
        shutil.rmtree(self.path("saved"), ignore_errors=True)
        ran = self.run_shell("recover", uri, "arrow:saved", "--json", *args)
        self.assertEqual(ran.status, 0, ran.err)
        return json.loads(ran.out)

    def saved(self, field=None):
        return self.ok("cat", "arrow:saved", *(["--field", field] if field else []))

    def verify(self, uri, *args):
        ran = self.run_shell("verify", uri, "--json", *args)
        return ran.status, json.loads(ran.out)


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
            self.assertIn(f"{name}: 64 bytes from offset {len(data)} on follow", said["damaged"][0])
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
        self.assertIn("set/part-00010.arrow: dataline.manifest beside it does not list it", said["damaged"][0])
        self.assertEqual(self.recover("arrow:set")["lost"], said["damaged"])

    def test_a_manifest_whose_sums_do_not_fit_is_named(self):
        self.make("arrow")
        lines = self.read("set/dataline.manifest").decode().splitlines(keepends=True)
        for text, says in (("".join(lines[:-1]), "the set is not finished"),
                           ("".join(lines[:-1]) + lines[-1].replace('"samples": 40', '"samples": 41'), "its last line states 41"),
                           ("".join(lines[:2] + lines[3:]), "does not list it"),
                           ("".join(lines).replace('"samples": 4,', '"samples": 5,', 1), "has 4 samples"),
                           ("nonsense\n", "line 1"), ("", "has 0 bytes and no whole first line"), (lines[0][:-1], "no whole first line"),
                           ("".join(lines) + "more\n", "5 bytes from offset"), ("".join(lines) + lines[-1], "follow its last line"),
                           ("".join(lines) + "\n", "1 bytes from offset"), ("".join(lines) + "x", "follow its last line")):
            self.write("set/dataline.manifest", text)
            status, said = self.verify("arrow:set")
            self.assertEqual(status, 1, text)
            self.assertTrue(any(says in line for line in said["damaged"]), (says, said["damaged"]))
            self.assertTrue(any(says in line for line in self.recover("arrow:set")["lost"]), says)

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
                self.assertEqual((status, said["damaged"]), (1, ["damaged: set/dataline.manifest: is a link that leads nowhere: the files beside it are not compared"]), each)
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


class TfRecords(Damage):
    def setUp(self):
        super().setUp()
        self.rows = [bytes((i * 7 + k) % 256 for k in range(10 + i % 5)) for i in range(100)]
        self.records = [record(row) for row in self.rows]
        self.starts = [sum(map(len, self.records[:i])) for i in range(101)]

    def check(self, data, kept, places=1):
        self.write("a.tfrecord", data)
        self.assertEqual(self.run_shell("info", "tfrecord:a.tfrecord?records=bytes").status, 1)
        said = self.recover("tfrecord:a.tfrecord?records=bytes")
        self.assertEqual(len(said["lost"]), places, said)
        self.assertEqual(self.saved(), b"".join(kept))
        return said["lost"]

    def test_records_before_garbage_at_the_end_are_saved(self):
        whole = b"".join(self.records)
        for garbage in (b"garbage that is no record", bytes(5000), b"x"):
            lost = self.check(whole + garbage, self.rows)
            self.assertIn(str(len(garbage)), lost[0])

    def test_records_around_a_flipped_length_are_saved(self):
        for k in (0, 50, 99):
            data = bytearray(b"".join(self.records))
            data[self.starts[k]] ^= 4
            lost = self.check(bytes(data), self.rows[:k] + self.rows[k + 1:])
            self.assertIn(f"{len(self.records[k])} bytes from offset {self.starts[k]} on are left out", lost[0])

    def test_bytes_that_are_missing_or_added_cost_their_record(self):
        whole = b"".join(self.records)
        place = self.starts[50] + 15
        self.check(whole[:place] + whole[place + 3:], self.rows[:50] + self.rows[51:])
        self.check(whole[:place] + b"abc" + whole[place:], self.rows[:50] + self.rows[51:])

    def test_several_places_are_each_listed(self):
        data = bytearray(b"".join(self.records))
        for k in (10, 11, 70):
            data[self.starts[k] + 9] ^= 1
        data[self.starts[30]:self.starts[31]] = bytes(len(self.records[30]))
        kept = [row for i, row in enumerate(self.rows) if i not in (10, 11, 30, 70)]
        self.check(bytes(data), kept, places=3)

    def test_a_file_of_no_records_is_an_error(self):
        self.write("a.tfrecord", bytes(range(256)) * 20)
        self.fails(1, "recover", "tfrecord:a.tfrecord", "arrow:saved", says="the checksum of its length")

    def test_nothing_is_skipped_unless_a_key_says_so(self):
        data = bytearray(b"".join(self.records))
        data[self.starts[50]] ^= 4
        self.write("a.tfrecord", bytes(data))
        self.fails(1, "cat", "tfrecord:a.tfrecord?records=bytes", says="damage=skip")
        self.assertEqual(self.ok("cat", "tfrecord:a.tfrecord?records=bytes&damage=skip", "--quiet"), b"".join(self.rows[:50] + self.rows[51:]))


class Tars(Damage):
    def make(self, count=20, form=tarfile.USTAR_FORMAT, name="{:03}.{}"):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as tar:
            for i in range(count):
                for suffix, data in (("dat", bytes([i]) * (600 + i)), ("cls", str(i).encode())):
                    info = tarfile.TarInfo(name.format(i, suffix))
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        return out.getvalue()

    def headers(self, data):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {member.name: member for member in tar}

    def labels(self):
        return [int.from_bytes(self.saved("label")[at:at + 8], "little") for at in range(0, len(self.saved("label")), 8)]

    def test_samples_around_a_destroyed_header_are_saved(self):
        whole = self.make()
        for i in (0, 7, 19):
            data = bytearray(whole)
            at = self.headers(whole)[f"{i:03}.dat"].offset
            data[at + 10:at + 200] = b"\xa5" * 190
            self.write("a.tar", bytes(data))
            self.assertEqual(self.run_shell("info", "tar:a.tar").status, 1)
            said = self.recover("tar:a.tar")
            self.assertEqual(self.labels(), [k for k in range(20) if k != i])
            self.assertRegex(said["lost"][0], rf"^damaged: a\.tar: 1536 bytes from offset {at} on are left out: ")

    def test_a_zeroed_header_is_no_end_of_the_archive(self):
        whole = self.make()
        at = self.headers(whole)["007.dat"].offset
        self.write("a.tar", whole[:at] + bytes(512) + whole[at + 512:])
        self.recover("tar:a.tar")
        self.assertEqual(self.labels(), [k for k in range(20) if k != 7])

    def test_garbage_behind_the_archive_is_listed(self):
        whole = self.make()
        self.write("a.tar", whole + b"garbage" * 1000)
        said = self.recover("tar:a.tar")
        self.assertEqual((said["samples"], len(said["lost"])), (20, 1))
        self.assertEqual(self.labels(), list(range(20)))

    FORMS = ((tarfile.USTAR_FORMAT, "{:03}.dat"), (tarfile.GNU_FORMAT, "d" * 120 + "/{:03}.dat"), (tarfile.PAX_FORMAT, "d" * 120 + "/{:03}.dat"),
             (tarfile.PAX_FORMAT, "{:03}.dat"))

    def archive(self, form, name, sizes):
        """An archive of members of one file each, and of each: its first and last byte with all headers, its key, its data."""
        out, data = io.BytesIO(), [random.Random(size + i).randbytes(size) for i, size in enumerate(sizes)]
        with tarfile.open(fileobj=out, mode="w", format=form) as tar:
            for i, each in enumerate(data):
                info = tarfile.TarInfo(name.format(i))
                info.size, info.mtime = len(each), 1.5
                tar.addfile(info, io.BytesIO(each))
        with tarfile.open(fileobj=io.BytesIO(out.getvalue())) as tar:
            members = [(member.offset, member.offset_data, member.offset_data + -(-member.size // 512) * 512, member.name[:-4].encode()) for member in tar]
        return out.getvalue(), [(*member, each) for member, each in zip(members, data)]

    def check_saved(self, data, members, why, others=None):
        """Exactly these are saved, or some of the others too, as they were; and something is listed as lost."""
        self.write("a.tar", data)
        said = self.recover("tar:a.tar")
        if others:
            saved = self.saved("key")
            found = [member for member in others if member[3] in saved]
            self.assertLessEqual({key for *_, key, _ in members}, {key for *_, key, _ in found}, why)
            members = found
        self.assertEqual(self.saved("key"), b"".join(key for *_, key, _ in members), why)
        self.assertEqual(self.saved("dat"), b"".join(each for *_, each in members), why)
        self.assertGreaterEqual(len(said["lost"]), 1, why)
        return said["lost"]

    def test_a_member_with_a_hole_is_left_out_and_those_behind_it_are_saved(self):
        for form, name in self.FORMS:
            whole, members = self.archive(form, name, (540, 2700, 1300, 100, 5000, 600, 1024, 700, 540, 900))
            places = ((1, "data"), (2, "inside"), (4, "inside"), (4, "name"), (6, "data"), (6, "inside"))
            for h, hole in enumerate((512, 1024, 1536, 2560, 7, 100, 300, 513, 1000, 2049)):
                for first, place in places[h % 3::3]:
                    start, data_start, _, _, _ = members[first]
                    at = {"data": data_start, "inside": data_start + 413, "name": start + 30}[place]
                    if any(at + hole <= member[0] < members[first][2] + hole for member in members) is False and any(
                            member[0] == members[first][2] + hole for member in members) and place != "name":
                        continue  # the rest of another member's data in its place, and nothing shows it
                    kept = [member for member in members if member[2] <= at or member[0] >= at + hole]
                    # A member that lost no more than the time in its pax header is whole too.
                    self.check_saved(whole[:at] + whole[at + hole:], kept, (form, name[-20:], hole, first, place), members if form == tarfile.PAX_FORMAT else None)

    def test_a_hole_is_listed_by_the_name_the_offset_and_the_bytes_of_its_member(self):
        whole, members = self.archive(tarfile.USTAR_FORMAT, "{:03}.dat", (540,) * 6)
        lost = self.check_saved(whole[:1024] + whole[1536:], members[1:], "")
        self.assertEqual(lost, ["damaged: a.tar: 1024 bytes from offset 0 on are left out: "
                                "a.tar: offset 0: member '000.dat' of 540 bytes is cut: its data holds another header, at offset 1024"])

    def test_bytes_that_are_added_anywhere_cost_the_member_that_they_are_in(self):
        for form, name in self.FORMS:
            whole, members = self.archive(form, name, (540, 2700, 1300, 100, 5000, 600, 1000, 700))
            places = ((1, 77), (2, 1299), (4, 2048), (5, 0))
            for c, count in enumerate((1, 3, 511, 700, 512, 1024)):
                added = b"\xa5" * count
                for first, at in places[c % 2::2]:
                    at += members[first][1]
                    kept = [member for i, member in enumerate(members) if i != first]
                    self.check_saved(whole[:at] + added + whole[at:], kept, (form, name[-20:], count, first))

    def test_an_archive_in_an_archive_is_a_member_whatever_follows_it(self):
        inner, _ = self.archive(tarfile.USTAR_FORMAT, "{:03}.dat", (540, 700))
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, data in (("a.tar", inner), ("b.tar", b"x" * 900), ("c.tar", b"y" * 800), ("d.tar", inner)):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        whole = bytearray(out.getvalue())
        at = len(inner) + 512
        whole[at:at + 200] = b"\xa5" * 200  # the header of b.tar
        self.write("a.tar", bytes(whole))
        self.assertEqual(len(self.recover("tar:a.tar")["lost"]), 1)
        self.assertEqual(self.saved("key"), b"acd")
        self.assertEqual(self.saved("tar"), inner + b"y" * 800 + inner)

    def test_a_member_whose_long_name_is_lost_is_not_saved_under_another(self):
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            whole = self.make(name="d" * 120 + "/{:03}.{}", form=form)
            at = self.headers(whole)["d" * 120 + "/007.dat"].offset  # of its first header, with the name
            for part in (0, 512):  # that header, and the name itself
                data = bytearray(whole)
                data[at + part:at + part + 4] = b"\xa5" * 4
                self.write("a.tar", bytes(data))
                said = self.recover("tar:a.tar")
                self.assertEqual(self.labels(), [k for k in range(20) if k != 7], (form, part, said))
                self.assertNotIn(b"d" * 120 + b"/007", self.saved("key"))
                self.assertEqual(self.saved("key").count(b"d" * 120), 19)

    def test_nothing_is_skipped_unless_a_key_says_so(self):
        data = bytearray(self.make())
        data[self.headers(bytes(data))["007.dat"].offset] ^= 1
        self.write("a.tar", bytes(data))
        self.fails(1, "cat", "tar:a.tar", "--field", "label", says="checksum")
        self.assertEqual(self.run_shell("info", "tar:a.tar?damage=skip").status, 0)


class Texts(Damage):
    LINES = ["".join(["{\"x\": ", str(i), ", \"t\": \"text ", str(i), "\"}\n"]) for i in range(50)]

    def test_a_jsonl_that_was_cut_anywhere_in_its_last_line_has_the_lines_before(self):
        whole = "".join(self.LINES).encode()
        start = len(whole) - len(self.LINES[-1])
        for end in range(start + 1, len(whole)):
            self.write("a.jsonl", whole[:end])
            said = self.recover("jsonl:a.jsonl")
            self.assertEqual(said["samples"], 49, end)
            self.assertEqual(said["lost"], [f"damaged: a.jsonl: cut: {end - start} bytes from offset {start} on are left out"])
        self.assertEqual(self.saved("x"), struct.pack("<49q", *[json.loads(line)["x"] for line in self.LINES[:49]]))

    def test_blank_lines_of_a_jsonl_are_skipped_and_count_in_the_numbers_of_lines(self):
        for blank in ("\n", "  \t \n", "\r\n", " \r\n", "\n\n\n", " " * 250 + "\n"):
            text = blank + "".join(line + (blank if i % 3 == 0 else "") for i, line in enumerate(self.LINES)) + blank + "  "
            rows = [json.loads(line)["x"] for line in text.splitlines() if line.strip()]
            self.write("a.jsonl", text)
            self.assertEqual(self.ok("cat", "jsonl:a.jsonl", "--field", "x"), struct.pack("<50q", *rows), repr(blank))
            self.assertEqual(self.recover("jsonl:a.jsonl")["lost"], [])
            self.assertEqual(self.verify("jsonl:a.jsonl")[0], 0)
            bad = text.replace('"x": 7,', '"x" 7,')
            number = next(i for i, line in enumerate(bad.split("\n"), 1) if '"x" 7,' in line)
            self.write("a.jsonl", bad)
            said = self.verify("jsonl:a.jsonl")[1]
            self.assertEqual([each["index"] for each in said["bad_samples"]], [7])
            self.assertIn(f"line {number}: byte", said["bad_samples"][0]["message"])

    def test_a_damaged_first_line_does_not_refuse_a_jsonl(self):
        for first in ("{\"x\": 0, \"t\": \"te", "garbage", "\x00\x01", "[1]"):
            self.write("a.jsonl", first + "\n" + "".join(self.LINES[1:]))
            self.fails(1, "cat", "jsonl:a.jsonl", says="line 1")
            said = self.recover("jsonl:a.jsonl")
            self.assertEqual((said["samples"], said["bad"]), (49, 1), first)
            self.assertEqual(self.saved("x"), struct.pack("<49q", *range(1, 50)))

    def test_a_whole_jsonl_loses_nothing(self):
        self.write("a.jsonl", "".join(self.LINES))
        self.assertEqual(self.recover("jsonl:a.jsonl")["lost"], [])
        self.write("a.jsonl", "".join(self.LINES)[:-1])
        self.assertEqual(self.ok("cat", "jsonl:a.jsonl", "--field", "x"), struct.pack("<50q", *range(50)))

    def test_a_csv_that_was_cut_anywhere_in_its_last_record_has_the_records_before(self):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([["t", "x"], *([f"a \"quoted\",\ntext {i}", 1000 + i] for i in range(20))])
        whole = text.getvalue().encode()
        start = whole.index(b'"a ""quoted"",\ntext 19')
        for end in range(start + 1, len(whole)):
            self.write("a.csv", whole[:end])
            said = self.recover("csv:a.csv")
            self.assertEqual(said["samples"], 19, end)
            self.assertEqual(said["lost"], [f"damaged: a.csv: cut: {end - start} bytes from offset {start} on are left out"])
        rows = list(csv.reader(io.StringIO(whole[:start].decode())))
        self.assertEqual(self.saved("x"), struct.pack("<19q", *[int(row[1]) for row in rows[1:]]))

    def test_a_number_that_was_cut_is_not_another_number(self):
        self.write("a.csv", "x,y\n1,123\n2,123")
        self.assertEqual(self.recover("csv:a.csv")["samples"], 1)
        self.assertEqual(self.saved("y"), struct.pack("<q", 123))


class OtherFields(Damage):
    """One file of several with other fields, shapes or names than the others."""

    def test_a_file_with_other_fields_is_left_out(self):
        os.mkdir(self.path("cd"))
        for odd in range(4):
            for i in range(4):
                self.write(f"cd/{i}.csv", "a,b\n1,2\n" if i == odd else f"a\n{i}\n")
            self.fails(1, "info", "csv:cd", says="cd/")
            said = self.recover("csv:cd")
            self.assertEqual(len(said["lost"]), 1, said)
            self.assertRegex(said["lost"][0], rf"^left out: cd/{odd}\.csv: ")
            self.assertEqual(self.saved(), struct.pack("<3q", *[i for i in range(4) if i != odd]))

    def test_a_file_with_another_shape_or_dtype_is_left_out(self):
        os.mkdir(self.path("nd"))
        for dtype, shape in (("<i8", (2, 3)), ("<i4", (2, 2)), ("<i8", (2,))):
            for i in range(3):
                self.npy(f"nd/{i}.npy", "<i8", (2, 2), struct.pack("<4q", *range(4 * i, 4 * i + 4)))
            size = int(dtype[2]) * (shape[0] * (shape[1] if len(shape) > 1 else 1))
            self.npy("nd/1.npy", dtype, shape, bytes(size))
            said = self.recover("npy:nd")
            self.assertRegex(said["lost"][0], r"^left out: nd/1\.npy: ")
            self.assertEqual(self.saved(), struct.pack("<8q", *range(4), *range(8, 12)))

    def test_a_line_of_a_list_whose_file_is_missing_is_left_out(self):
        os.mkdir(self.path("fd"))
        for name in ("a", "c", "d"):
            self.write(f"fd/{name}.jpg", name)
        for text, name in (("path,label\na.jpg,x\nb.jpg,y\nc.jpg,z\nd.jpg,x\n", "l.csv"),
                           ("".join(json.dumps({"path": f"{p}.jpg", "label": label}) + "\n" for p, label in ("ax", "by", "cz", "dx")), "l.jsonl")):
            self.write(name, text)
            self.fails(1, "info", f"folder:fd?labels={name}", says="b.jpg")
            said = self.recover(f"folder:fd?labels={name}")
            line = 3 if name == "l.csv" else 2
            self.assertEqual(len(said["lost"]), 1, said)
            self.assertRegex(said["lost"][0], rf"^left out: {name}: line {line}: fd/b\.jpg: no such file")
            self.assertEqual(self.saved("image"), b"acd")
            self.assertEqual(self.saved("label"), struct.pack("<3q", 0, 2, 0))  # as if no file were missing
        self.write("l.csv", "b.jpg,0\n")
        self.fails(1, "recover", "folder:fd?labels=l.csv", "arrow:none", says="none of its files can be read, .*b.jpg")


class Ranges(Damage):
    def test_a_range_names_files_of_each_format_of_files(self):
        for i in range(3):
            row = struct.pack("<2q", 2 * i, 2 * i + 1)
            self.npy(f"a{i}.npy", "<i8", (1, 2), row)
            self.idx(f"a{i}.idx", [row], (16,))
            self.write(f"a{i}.raw", row)
            self.write(f"a{i}.bin", row)
            header = json.dumps({"x": {"dtype": "I64", "shape": [1, 2], "data_offsets": [0, 16]}}).encode()
            self.write(f"a{i}.safetensors", struct.pack("<Q", len(header)) + header + row)
            with zipfile.ZipFile(self.path(f"a{i}.npz"), "w", zipfile.ZIP_STORED) as archive:
                archive.write(self.path(f"a{i}.npy"), "x.npy")
            self.write(f"a{i}.jsonl", json.dumps({"x": [2 * i, 2 * i + 1]}) + "\n")
            self.write(f"a{i}.csv", f"x\n{2 * i}\n{2 * i + 1}\n")
        for uri in ("npy:a{0..2}.npy", "idx:a{0..2}.idx", "raw:a{0..2}.raw?dtype=i64&shape=2", "safetensors:a{0..2}.safetensors", "npz:a{0..2}.npz", "jsonl:a{0..2}.jsonl",
                    "csv:a{0..2}.csv", "tokens:a{0..2}.bin?length=1&dtype=i64"):
            got = self.ok("cat", uri, *(["--field", "x"] if uri.startswith("tokens") else []), "--quiet")
            want = struct.pack("<6q", *range(6))
            self.assertEqual(got[:8], want[:8], uri)
            if not uri.startswith("tokens"):
                self.assertEqual(got, want, uri)
            self.fails(1, "cat", uri.replace("2}", "3}"), says="a3")


class Arrays(Damage):
    def test_the_whole_rows_of_a_cut_array_are_saved_and_what_follows_it_is_left_out(self):
        rows = [struct.pack("<4q", *range(i * 4, i * 4 + 4)) for i in range(30)]
        self.npy("a.npy", "<i8", (30, 4), b"".join(rows))
        self.digits(30, name="a.idx")
        digits = [self.read("a.idx")[16 + 16 * i:][:16] for i in range(30)]
        for uri, name, whole in (("npy:a.npy", "a.npy", rows), ("idx:a.idx", "a.idx", digits)):
            data = self.read(name)
            size = len(whole[0])
            self.write(name, data[:-size - 3])
            said = self.recover(uri)
            self.assertRegex(said["lost"][0], rf"^damaged: {name}: cut: {size - 3} bytes from offset {len(data) - 2 * size} on are left out: ")
            self.assertEqual(self.saved(), b"".join(whole[:28]))
            self.write(name, data + b"garbage")
            said = self.recover(uri)
            self.assertRegex(said["lost"][0], rf"^damaged: {name}: 7 bytes from offset {len(data)} on are left out: ")
            self.assertEqual(self.saved(), b"".join(whole))

    def test_an_arrow_file_with_garbage_behind_it_is_read_and_listed(self):
        self.digits(40)
        self.ok("convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4")
        shutil.copy(self.path("set/part-00002.arrow"), self.path("a.arrow"))
        self.write("a.arrow", self.read("a.arrow") + b"garbage")
        said = self.recover("arrow:a.arrow")
        self.assertEqual((said["samples"], len(said["lost"])), (4, 1))
        self.assertRegex(said["lost"][0], r"^damaged: a\.arrow: ")


    def test_the_whole_shards_of_an_mds_are_saved_and_a_bad_one_keeps_its_indices(self):
        config = {"column_encodings": ["int"], "column_names": ["x"], "column_sizes": [8], "compression": None, "format": "mds", "hashes": [],
                  "size_limit": 1 << 26, "version": 2}
        os.mkdir(self.path("mds"))
        shards = []
        for s in range(3):
            text = json.dumps(config).encode()
            begin = 4 + 4 * 11 + len(text)
            table = struct.pack("<12I", 10, *[begin + 8 * i for i in range(11)])
            name = f"shard.{s:05}.mds"
            self.write(f"mds/{name}", table + text + struct.pack("<10q", *range(10 * s, 10 * s + 10)))
            shards.append({**config, "raw_data": {"basename": name, "bytes": begin + 80, "hashes": {}}, "samples": 10, "zip_data": None})
        self.write("mds/index.json", json.dumps({"shards": shards, "version": 2}))
        self.assertEqual(self.recover("mds:mds")["lost"], [])
        for damage in (lambda data: data[:100], lambda data: data + b"x"):
            data = self.read("mds/shard.00001.mds")
            self.write("mds/shard.00001.mds", damage(data))
            said = self.recover("mds:mds")
            self.assertRegex(said["lost"][0], r"^left out: mds/shard\.00001\.mds: ")
            self.assertEqual(self.saved(), struct.pack("<20q", *range(10), *range(20, 30)))
            status, said = self.verify("mds:mds")
            self.assertEqual((status, [bad["index"] for bad in said["bad_samples"]]), (1, list(range(10, 20))))
            self.write("mds/shard.00001.mds", data)

    def test_tokens_are_read_up_to_where_their_file_is_cut(self):
        self.write("a.bin", struct.pack("<100H", *range(100))[:-1])
        said = self.recover("tokens:a.bin?length=10")
        self.assertEqual(said["samples"], 9)
        self.assertRegex(said["lost"][0], r"^damaged: a\.bin: cut: 1 bytes from offset 198 on are left out")


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
            self.refused(r"set\.partial: has files .* and no manifest")
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
            self.refused(r"set\.partial: is no directory")
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
                self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: is no regular file")
                self.assertTrue(os.path.lexists(path))
                self.assertEqual(self.read("mine"), b"mine")

    def test_a_file_that_no_killed_writer_can_have_left_is_kept_and_named(self):
        for name in ("part-00002.arrow", "part-00099.arrow", "part-00002.arrow.new0", "part-00000.arrow.new0", "part-1.arrow", "part-000007.arrow", "mine.arrow"):
            self.half()
            self.write("set.partial/part-00001.arrow", "left")
            self.write(f"set.partial/{name}", "mine")
            before = {each: self.read(f"set.partial/{each}") for each in os.listdir(self.path("set.partial"))}
            self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: dataline\.manifest beside it lists 1 shard, not this file")
            self.assertEqual({each: self.read(f"set.partial/{each}") for each in os.listdir(self.path("set.partial"))}, before)

    def test_a_file_with_a_second_name_is_kept(self):
        for name in ("dataline.manifest", "part-00000.arrow", "part-00001.arrow", "part-00001.arrow.new0"):
            self.half()
            path = self.path(f"set.partial/{name}")
            if not os.path.exists(path):
                self.write(f"set.partial/{name}", "mine")
            os.link(path, self.path("second"))
            before = self.read("second")
            self.fails(1, "convert", "idx:images", "arrow:set", "--shard-bytes", "1", "--batch-size", "4", says=rf"set\.partial/{name}: has other names too")
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
