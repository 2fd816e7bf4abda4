"""recover on damaged tar archives: members around the damage are saved, and none is delivered with bytes of another.

The oracle: the members that were written, and what the test itself makes of the archive.

SPDX-License-Identifier: Apache-2.0
"""

import io
import random
import tarfile

import shell
from damaged import Damage


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
                                "a.tar: offset 0: member '000.dat' of 540 bytes is truncated: its data contains another header, at offset 1024"])

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


if __name__ == "__main__":
    shell.main()
