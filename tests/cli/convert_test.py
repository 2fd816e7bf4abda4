"""convert: a set holds what the loader delivers, is read by other programs, and is gone on with where a run was ended.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import resource
import signal
import tarfile
import time
import zlib

import shell
from images_test import png
from shell import ShellTest

CUT = png(4, 3, bytes(range(36)))[:30]


class Convert(ShellTest):
    def numbers(self, count=1000):
        self.digits(count)
        return "idx:images"

    def pictures(self, bad=(), count=6):
        for i in range(count):
            os.makedirs(self.path(f"set/{'ab'[i % 2]}"), exist_ok=True)
            self.write(f"set/{'ab'[i % 2]}/{i}.png", CUT if i in bad else png(3 + i, 4, bytes(range(12 * (3 + i)))))
        return "folder:set"

    def same(self, one, other, *fields, options=()):
        for field in fields:
            read = [self.ok("cat", uri, "--field", field, *options, "--max-bytes-per-sample", "1MiB") for uri in (one, other)]
            self.assertEqual(read[0], read[1], field)
            self.assertTrue(read[0])

    def manifest(self, folder):
        return [json.loads(line) for line in self.read(f"{folder}/dataline.manifest").splitlines()]

    def test_a_set_delivers_what_its_source_does(self):
        uri = self.numbers()
        text = self.ok("convert", uri, "arrow:out", "--shard-bytes", "4KiB").decode()
        self.assertRegex(text, r"^1,000 samples, [\d.]+ kB in \d shards: arrow:out\n$")
        self.same(uri, "arrow:out", "data")
        self.assertFalse(os.path.exists(self.path("out.partial")))

    def test_npy_and_tokens_deliver_what_their_source_does(self):
        uri = self.numbers()
        self.ok("convert", uri, "npy:out", "--shard-bytes", "4KiB", "--shuffle", "full", "--seed", 5)
        self.assertEqual(self.ok("cat", "npy:out"), self.ok("cat", uri, "--shuffle", "full", "--seed", 5))
        self.write("lines.jsonl", "".join(json.dumps({"ids": [i] * (i % 5)}) + "\n" for i in range(50)))
        self.ok("convert", "jsonl:lines.jsonl?fields=ids:u16[]", "tokens:words")
        flat = b"".join(i.to_bytes(2, "little") * (i % 5) for i in range(50))
        self.assertEqual(self.ok("cat", "tokens:words?length=3&stride=3", "--field", "x"), flat[: len(flat) // 6 * 6 - (0 if len(flat) % 6 else 6)])

    def test_a_parquet_set_has_a_footer_a_shard_and_is_read_by_the_plug_in(self):
        self.ok("convert", self.numbers(), "parquet:out", "--shard-bytes", "4KiB")
        head, *shards, end = self.manifest("out")
        self.assertEqual((head["format"], end["samples"]), ("parquet", 1000))
        for shard in shards:
            data = self.read(f"out/{shard['shard']}")
            self.assertEqual((data[:4], data[-4:], len(data)), (b"PAR1", b"PAR1", shard["bytes"]))
            self.assertIn(b"ARROW:schema", data[-8 - int.from_bytes(data[-8:-4], "little"):])
        self.fails(2, "info", "parquet:out", says="parquet: the plug-in libdataline-parquet.so reads it, but is not loaded")

    def test_a_codec_is_a_flag(self):
        uri = self.numbers()
        for codec in ("lz4", "zstd"):
            self.ok("convert", uri, f"arrow:{codec}", "--codec", codec, "--shard-bytes", "4KiB")
            self.same(uri, f"arrow:{codec}", "data")
            self.assertEqual(self.manifest(codec)[0]["codec"], codec)
        self.fails(2, "convert", uri, "tar:out", "--codec", "zstd", says="unknown key 'codec'; a set of tar accepts shard_bytes")
        self.fails(2, "convert", uri, "arrow:out", "--codec", "gzip", says="codec: expected none, lz4 or zstd, got 'gzip'")

    def test_the_manifest_counts_every_shard(self):
        self.ok("convert", self.numbers(), "arrow:out", "--shard-bytes", "4KiB")
        head, *shards, end = self.manifest("out")
        self.assertEqual((head["format"], head["shard_bytes"]), ("arrow", 4096))
        self.assertEqual(head["fields"][0]["shape"], [4, 4])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["dataline.manifest", *(s["shard"] for s in shards)])
        for shard in shards:
            self.assertEqual(os.path.getsize(self.path(f"out/{shard['shard']}")), shard["bytes"])
        self.assertEqual(end, {"samples": 1000, "bytes": sum(s["bytes"] for s in shards), "shards": len(shards)})

    def test_what_is_done_once_a_sample_is_done_here(self):
        uri = self.pictures()
        self.ok("convert", uri, "arrow:out", "--transform", "image: decode, resize([5, 6])")
        fields = json.loads(self.ok("info", "arrow:out", "--json"))["fields"]
        self.assertEqual([(f["name"], f["dtype"], f["shape"], f["axes"]) for f in fields[:2]],
                         [("image", "u8", [5, 6, 3], "HWC"), ("label", "i64", [], None)])
        decoded = self.ok("cat", uri, "--field", "image", "--transform", "image: decode, resize([5, 6])", "--max-bytes-per-sample", "1MiB")
        self.assertEqual(self.ok("cat", "arrow:out", "--field", "image"), decoded)

    def test_a_tar_set_is_read_by_tarfile(self):
        uri = self.pictures()
        self.ok("convert", uri, "tar:out", "--shard-bytes", "4KiB")
        members = {}
        for name in sorted(os.listdir(self.path("out"))):
            if name.endswith(".tar"):
                with tarfile.open(self.path(f"out/{name}")) as archive:
                    members.update({member.name: archive.extractfile(member).read() for member in archive})
        expected = {}
        for number, i in enumerate((0, 2, 4, 1, 3, 5)):  # classes first
            expected[f"{number:09}.png"] = self.read(f"set/{'ab'[i % 2]}/{i}.png")
            expected[f"{number:09}.cls"] = str(i % 2).encode()
        self.assertEqual({name: data for name, data in members.items() if name in expected}, expected)
        self.same(uri, "tar:out", "image", "label")

    def test_a_shuffle_is_written_in_its_order(self):
        uri = self.numbers()
        order = ("--shuffle", "full", "--seed", "7")
        self.ok("convert", uri, "tfrecord:out", *order)
        shuffled = self.ok("cat", uri, *order)
        self.assertEqual(self.ok("cat", "tfrecord:out?fields=data:u8[4x4]"), shuffled)

    def test_pads_are_no_samples_and_epochs_follow_one_another(self):
        uri = self.numbers(10)
        said = json.loads(self.ok("convert", uri, "arrow:out", "--batch-size", "4", "--last-batch", "pad", "--epochs", "2", "--json"))
        self.assertEqual((said["samples"], said["resumed"], said["bad"], said["uri"]), (20, 0, 0, "arrow:out"))
        self.assertEqual(self.ok("cat", "arrow:out"), self.ok("cat", uri, "--epochs", "2"))

    def test_a_bad_sample_ends_the_run_and_skip_bad_leaves_it_out(self):
        uri = self.pictures(bad=(2,))
        words = ("convert", uri, "arrow:out", "--transform", "image: decode, resize([4, 4])")
        ran = self.run_shell(*words)
        self.assertEqual(ran.status, 1)
        self.assertIn("2.png", ran.err)
        self.assertIn("--skip-bad leaves out bad samples", ran.err)
        self.assertFalse(os.path.exists(self.path("out")))
        ran = self.run_shell(*words, "--skip-bad")
        self.assertEqual(ran.status, 0)
        self.assertIn("left out: sample 1: ", ran.err)
        self.assertIn("5 samples, ", ran.out.decode())
        self.assertIn("1 bad left out", ran.out.decode())

    def test_a_run_that_was_ended_is_gone_on_with_and_gives_the_same_files(self):
        uri = self.numbers(60000)
        words = ("--shard-bytes", "4KiB", "--batch-size", "16", "--shuffle", "full", "--seed", "3")
        self.ok("convert", uri, "arrow:whole", *words)
        for end in (signal.SIGKILL, signal.SIGTERM):
            process = self.start("convert", uri, "arrow:out", *words)
            while process.poll() is None:
                try:
                    if self.read("out.partial/dataline.manifest").count(b"\n") >= 10:
                        break
                except FileNotFoundError:
                    pass
                time.sleep(0.001)
            process.send_signal(end)
            process.communicate()
        if os.path.exists(self.path("out.partial")):  # it was not too fast
            ran = self.run_shell("convert", uri, "arrow:out", *words)
            self.assertEqual(ran.status, 0, ran.err)
            self.assertIn("continuing after", ran.err)
        self.assertEqual(sorted(os.listdir(self.path("whole"))), sorted(os.listdir(self.path("out"))))
        for name in os.listdir(self.path("whole")):
            self.assertEqual(self.read(f"whole/{name}"), self.read(f"out/{name}"), name)

    def test_another_job_or_source_does_not_go_on(self):
        uri = self.pictures(bad=(5,))
        words = ("--shard-bytes", "1", "--transform", "image: decode, resize([4, 4])")
        self.assertEqual(self.run_shell("convert", uri, "arrow:out", *words).status, 1)
        for other in (("--shard-bytes", "1", "--transform", "image: decode, resize([4, 5])"),
                      (*words, "--shuffle", "full"), (*words, "--skip-bad"), (*words, "--rank", "1", "--world-size", "2"),
                      (*words, "--max-decoded-bytes", "64MiB"), (*words, "--on-warning", "error")):
            ran = self.run_shell("convert", uri, "arrow:out", *other)
            self.assertEqual(ran.status, 1)
            self.assertIn("finished shards of another job", ran.err)
        self.write("set/a/9.png", png(3, 4, bytes(36)))
        ran = self.run_shell("convert", uri, "arrow:out", *words)
        self.assertIn("finished shards of another job", ran.err)

    def test_how_samples_are_loaded_may_change_and_keys_of_the_uri_may_not(self):
        self.write("rows.jsonl", "".join('{"x": %s}\n' % (i if i < 9 else "null") for i in range(10)))
        words = ("--shard-bytes", "1", "--batch-size", "2")
        self.assertEqual(self.run_shell("convert", "jsonl:rows.jsonl?fields=x:i64", "arrow:out", *words).status, 1)
        ran = self.run_shell("convert", "jsonl:rows.jsonl?fields=x:i64&nulls=fill(7)", "arrow:out", *words)
        self.assertIn("finished shards of another job", ran.err)
        ran = self.run_shell("convert", "jsonl:rows.jsonl?fields=x:i64", "arrow:out", *words, "--num-workers", "0", "--io", "pread")
        self.assertEqual(ran.status, 1)
        self.assertIn("continuing after 8 samples", ran.err)
        self.assertRegex(ran.err, r"4 shards are finished \([\d.]+ kB\); the same command continues after them")

    def test_an_end_is_needed(self):
        self.fails(2, "convert", self.numbers(), "arrow:out", "--epochs", "0", says="--epochs 0 never ends")
        self.assertFalse(os.path.exists(self.path("out.partial")))

    def test_a_file_that_may_not_grow_is_named_and_the_set_can_be_gone_on_with(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 10, 40 << 10))

        words = ("convert", self.numbers(60000), "arrow:out", "--shard-bytes", "64KiB")
        ran = self.run_shell(*words, preexec_fn=small_files)
        self.assertEqual(ran.status, 1, ran.err)
        self.assertIn("out.partial/part-00000.arrow.new0: ", ran.err)
        self.assertEqual(os.listdir(self.path("out.partial")), ["dataline.manifest"])
        self.ok(*words)

    def test_what_is_there_stays(self):
        uri = self.numbers()
        self.write("out", "precious")
        ran = self.run_shell("convert", uri, "arrow:out")
        self.assertEqual(ran.status, 1)
        self.assertEqual(self.read("out"), b"precious")
        self.assertIn("out: exists, and existing files are never overwritten", ran.err)

    def test_a_wrong_command_line_is_status_2_and_marked(self):
        uri = self.numbers()
        for words, text in ((("convert", uri), "convert needs a URI and a target"),
                            (("convert", uri, "idx:out"), "'idx' cannot be written, expected one of arrow, parquet, tar, tfrecord, npy, tokens"),
                            (("convert", uri, "arrow:out", "--shard-bytes", "x"), "shard_bytes: expected a size"),
                            (("convert", uri, "arrow:out", "--start-step", "3"), "convert does not accept --start-step"),
                            (("convert", uri, "arrow:out", "more"), "'more' is one word too many")):
            ran = self.run_shell(*words)
            self.assertEqual(ran.status, 2, words)
            self.assertIn(text, ran.err)
        self.assertIn("\n  idx:out\n  ^", self.run_shell("convert", uri, "idx:out").err)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("out")), [])

    def test_pictures_of_several_sizes_are_written_encoded_or_resized(self):
        ran = self.run_shell("convert", self.pictures(), "arrow:out", "--transform", "image: decode")
        self.assertEqual(ran.status, 1)
        self.assertIn("resize them, or write the encoded bytes", ran.err)

    def test_a_field_that_the_format_does_not_hold_is_named(self):
        ran = self.run_shell("convert", self.numbers(), "tar:out")
        self.assertEqual(ran.status, 1)
        self.assertIn("field 'data' is u8[4x4]; a tar archive holds bytes, text and a label: write arrow", ran.err)

    def test_checksums_are_those_of_crc32c(self):
        # Castagnoli's polynomial bit by bit.
        def crc32c(data):
            crc = 0xFFFFFFFF
            for byte in data:
                crc ^= byte
                for _ in range(8):
                    crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
            return crc ^ 0xFFFFFFFF

        self.ok("convert", self.numbers(20), "arrow:out")
        _, shard, _ = self.manifest("out")
        self.assertEqual(shard["crc32c"], f"{crc32c(self.read('out/part-00000.arrow')):08x}")
        self.assertNotEqual(zlib.crc32(self.read("out/part-00000.arrow")), int(shard["crc32c"], 16))


if __name__ == "__main__":
    shell.main()
