"""verify: every sample is read once, each bad one is named with its file and offset, and the status tells.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import os
import struct
import tarfile
import zlib

import shell
from images_test import png
from shell import ShellTest

GOOD = png(4, 3, bytes(range(36)))
CUT = GOOD[:30]


class Verify(ShellTest):
    def pictures(self, bad, count=6):
        os.makedirs(self.path("set/c"))
        for i in range(count):
            self.write(f"set/c/{i}.png", CUT if i in bad else png(3 + i, 4, bytes(range(12 * (3 + i)))))
        return "folder:set"

    def test_a_sound_set_is_counted_and_the_status_is_0(self):
        self.digits(1000)
        text = self.ok("verify", "idx:images").decode()
        self.assertEqual(text, "1,000 samples, 16.0 kB read, none bad\n")
        said = json.loads(self.ok("verify", "idx:images", "--json"))
        self.assertEqual((said["samples"], said["bad"], said["bad_samples"], said["bytes"]), (1000, 0, [], 16000))
        self.assertEqual(said["uri"], "idx:images")

    def test_pictures_of_all_sizes_are_decoded_and_each_bad_one_is_named(self):
        uri = self.pictures(bad=(1, 4))
        for workers in (0, 2):
            ran = self.run_shell("verify", uri, "--num-workers", workers)
            self.assertEqual(ran.status, 1)
            lines = ran.out.decode().splitlines()
            self.assertRegex(lines[0], r"^sample 1: set/c/1\.png: .*decode: ")
            self.assertRegex(lines[1], r"^sample 4: set/c/4\.png: ")
            self.assertRegex(lines[2], r"^6 samples, \d+ B read, 2 bad$")
            self.assertEqual(len(lines), 3)
            self.assertEqual(ran.err, "dataline: 2 of 6 samples are bad\n")

    def test_a_large_photograph_is_not_bad(self):
        """6000 x 4000 pixels of RGB are 72 MB: more than training's max_bytes_per_sample and max_decoded_bytes."""
        os.makedirs(self.path("large/a"))
        head = struct.pack(">IIBBBBB", 6000, 4000, 8, 2, 0, 0, 0)
        rows = zlib.compress(bytes(4000 * (1 + 3 * 6000)), 1)
        chunks = b"".join(struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
                          for name, body in ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b"")))
        with open(self.path("large/a/1.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunks)
        with tarfile.open(self.path("large.tar"), "w") as tar:
            tar.add(self.path("large/a/1.png"), "1.png")
        for uri in ("folder:large", "tar:large.tar"):
            self.assertIn("1 sample, 72.0 MB read, none bad", self.ok("verify", uri).decode())
        ran = self.run_shell("verify", "folder:large", "--max-bytes-per-sample", "1MiB")
        self.assertEqual(ran.status, 1, "a limit that is given holds")
        self.assertIn("image of 6000 wide, 4000 high needs 72000000 bytes, max_bytes_per_sample is 1048576; raise "
                      "max_bytes_per_sample to at least 72000000", ran.out.decode())

    def test_json_lists_code_and_cause(self):
        ran = self.run_shell("verify", self.pictures(bad=(5,)), "--json")
        said = json.loads(ran.out)
        self.assertEqual((ran.status, said["samples"], said["bad"]), (1, 6, 1))
        self.assertEqual(said["bad_samples"][0]["index"], 5)
        self.assertRegex(said["bad_samples"][0]["code"], "^DL_ERR_")
        self.assertIn("set/c/5.png", said["bad_samples"][0]["message"])
        self.assertEqual(json.loads(ran.err)["error"]["code"], "DL_ERR_BAD_SAMPLE")

    def test_where_all_are_bad_all_are_named(self):
        ran = self.run_shell("verify", self.pictures(bad=range(6)))
        self.assertEqual(ran.status, 1)
        self.assertEqual(len(ran.out.decode().splitlines()), 7)
        self.assertIn("6 of 6 samples are bad", ran.err)

    def test_a_member_of_a_tar_is_named_with_its_offset(self):
        with tarfile.open(self.path("a.tar"), "w") as tar:
            for i in range(4):
                for suffix, data in (("png", CUT if i == 2 else GOOD), ("cls", b"x" if i == 3 else b"1")):
                    info = tarfile.TarInfo(f"{i}.{suffix}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        lines = self.run_shell("verify", "tar:a.tar").out.decode().splitlines()
        self.assertRegex(lines[0], r"^sample 2: a\.tar: member 2\.png, offset \d+: ")
        self.assertRegex(lines[1], r"^sample 3: a\.tar: offset \d+: member '3\.cls': label 'x'")
        self.assertIn("2 bad", lines[2])

    def test_the_good_indices_make_a_job_without_the_bad_ones(self):
        uri = self.pictures(bad=(0, 3))
        self.assertEqual(self.run_shell("verify", uri, "--good-indices", "good.txt").status, 1)
        self.assertEqual(self.read("good.txt"), b"1\n2\n4\n5\n")
        text = self.ok("cat", uri, "--indices", "--sample-indices", "good.txt", "--transform", "image: decode, resize([2, 2])")
        self.assertEqual(text, b"1\n2\n4\n5\n")

    def test_one_rank_of_several_reads_its_part(self):
        self.digits(100)
        counts = [json.loads(self.ok("verify", "idx:images", "--json", "--rank", r, "--world-size", 3))["samples"] for r in range(3)]
        self.assertEqual(sum(counts), 100)

    def test_a_sample_larger_than_the_default_share_needs_no_setting(self):
        os.makedirs(self.path("set/c"))
        self.write("set/c/a.png", png(900, 900, bytes(3 * 900 * 900)))
        with tarfile.open(self.path("a.tar"), "w") as tar:
            info = tarfile.TarInfo("0.bin")
            info.size = 3 << 20
            tar.addfile(info, io.BytesIO(bytes(info.size)))
        self.assertIn(b"none bad", self.ok("verify", "folder:set"))
        self.assertIn(b"3.15 MB read, none bad", self.ok("verify", "tar:a.tar"))

    def test_what_would_leave_samples_out_is_refused(self):
        self.digits(10)
        for flag, value in (("--on-error", "replace"), ("--epochs", "2"), ("--shuffle", "full"), ("--drop-last", None),
                            ("--max-bad", "3"), ("--start-step", "1")):
            self.fails(2, "verify", "idx:images", flag, *([value] if value else []), says=f"does not accept {flag}")
        self.fails(2, "verify", "idx:images", "--good-indices", "", says="needs the name of a file")
        self.fails(2, "verify", says="verify")
        self.fails(1, "verify", "idx:absent", says="absent")

    def test_a_mix_is_refused_for_it_draws(self):
        self.npy("a.npy", "<i8", (4,), struct.pack("<4q", *range(4)))
        self.write("mix.json", json.dumps({"parts": [{"name": "a", "uri": "npy:a.npy", "weight": 1}, {"name": "b", "uri": "npy:a.npy", "weight": 2}]}))
        self.fails(1, "verify", "mix:mix.json", says="verify each part")


if __name__ == "__main__":
    shell.main()
