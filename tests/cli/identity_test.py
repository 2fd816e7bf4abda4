"""Which data is the same data: a cache, a saved state and a conversion that resumes never take one set for another that looks alike.

Every set here is written by Python's own modules, and what must be delivered is computed from the values, not by Dataline.

SPDX-License-Identifier: Apache-2.0
"""

import io
import json
import os
import shutil
import struct
import tarfile
import zipfile

import shell
from damaged import masked
from shell import ShellTest

ROWS, WIDTH = 40, 8
TIME = 1_000_000_000  # of modification: the same for all files, as tar, zip, Docker and Nix leave them


def npy(value):
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({ROWS}, {WIDTH}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes([value]) * (ROWS * WIDTH)


def npz(value):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("x.npy"), npy(value))
    return out.getvalue()


def tar(value):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for row in range(ROWS):
            member = tarfile.TarInfo(f"{row:03}.bin")
            member.size = WIDTH
            archive.addfile(member, io.BytesIO(bytes([value]) * WIDTH))
    return out.getvalue()


def safetensors(value):
    head = json.dumps({"x": {"dtype": "U8", "shape": [ROWS, WIDTH], "data_offsets": [0, ROWS * WIDTH]}}).encode().ljust(96)
    return struct.pack("<Q", len(head)) + head + bytes([value]) * (ROWS * WIDTH)


def idx(value):
    return struct.pack(">BBBBII", 0, 0, 8, 2, ROWS, WIDTH) + bytes([value]) * (ROWS * WIDTH)


def numbers(value):
    return struct.pack("<q", value) * ROWS


# URI with {} for the path of the file, its contents, what one job delivers.
FILES = {
    "npy": ("npy:{}", npy, lambda value: bytes([value]) * (ROWS * WIDTH)),
    "npz": ("npz:{}", npz, lambda value: bytes([value]) * (ROWS * WIDTH)),
    "raw": ("raw:{}?dtype=u8&shape=8", lambda value: bytes([value]) * (ROWS * WIDTH), lambda value: bytes([value]) * (ROWS * WIDTH)),
    "idx": ("idx:{}", idx, lambda value: bytes([value]) * (ROWS * WIDTH)),
    "safetensors": ("safetensors:{}", safetensors, lambda value: bytes([value]) * (ROWS * WIDTH)),
    "tar": ("tar:{}?fields=bin", tar, lambda value: bytes([value]) * (ROWS * WIDTH)),
    "csv": ("csv:{}", lambda value: "x\n" + f"{value}\n" * ROWS, numbers),
    "jsonl": ("jsonl:{}?fields=x:i64", lambda value: f'{{"x": {value}}}\n' * ROWS, numbers),
}


class Sets(ShellTest):
    def put(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)) or ".", exist_ok=True)
        self.write(name, content)
        os.utime(self.path(name), (TIME, TIME))
        return name

    def put_folder(self, name, value):
        for row in range(ROWS):
            self.put(f"{name}/{'ab'[row % 2]}/{row:03}.pgm", b"P5\n4 2\n255\n" + bytes([value]) * WIDTH)
        return name

    def delivered(self, uri, *more):
        ran = self.run_shell("cat", uri, *more)
        self.assertEqual(ran.status, 0, (uri, ran.err))
        return ran.out


class Cache(Sets):
    def cached(self, uri, *more):
        return self.delivered(uri, "--cache", "kept", "-q", *more)

    def check(self, uri, expected, *more):
        self.assertEqual(self.cached(uri, *more), expected, uri)
        self.assertEqual(self.cached(uri, *more), expected, (uri, "again"))

    def test_another_file_of_the_same_shape_and_time_is_read(self):
        for name, (uri, content, expected) in FILES.items():
            with self.subTest(name):
                self.check(uri.format(self.put(f"{name}/train", content(1))), expected(1))
                self.check(uri.format(self.put(f"{name}/val", content(9))), expected(9))
                self.check(uri.format(f"{name}/train"), expected(1))

    def test_a_file_that_takes_the_place_of_another_is_read(self):
        for name, (uri, content, expected) in FILES.items():
            with self.subTest(name):
                here = self.put(f"{name}/here", content(1))
                self.check(uri.format(here), expected(1))
                self.put(f"{name}/new", content(9))
                os.rename(self.path(f"{name}/new"), self.path(here))  # its times stay
                self.check(uri.format(here), expected(9))
                self.write(here, content(5))  # in place
                os.utime(self.path(here), (TIME, TIME))
                self.check(uri.format(here), expected(5))

    def test_a_link_that_leads_elsewhere_now_is_followed(self):
        for name, (uri, content, expected) in FILES.items():
            with self.subTest(name):
                self.put(f"{name}/1", content(1)), self.put(f"{name}/9", content(9))
                for value in (1, 9, 1):
                    if os.path.lexists(self.path(f"{name}/link")):
                        os.remove(self.path(f"{name}/link"))
                    os.symlink(str(value), self.path(f"{name}/link"))
                    self.check(uri.format(f"{name}/link"), expected(value))

    def test_a_directory_above_that_is_another_one_now_is_read(self):
        for name, (uri, content, expected) in FILES.items():
            with self.subTest(name):
                for value in (1, 9):
                    self.put(f"{name}/{value}/data", content(value))
                for value in (1, 9):
                    if os.path.lexists(self.path(f"{name}/now")):
                        os.remove(self.path(f"{name}/now"))
                    os.symlink(str(value), self.path(f"{name}/now"))
                    self.check(uri.format(f"{name}/now/data"), expected(value))

    def test_a_folder_that_is_extracted_again_is_read(self):
        job = ("--field", "image", "--transform", "decode(mode=gray)")
        for value in (1, 9):
            shutil.rmtree(self.path("photos"), ignore_errors=True)
            self.check("folder:" + self.put_folder("photos", value), bytes([value]) * (ROWS * WIDTH), *job)
        self.check("folder:" + self.put_folder("others", 5), bytes([5]) * (ROWS * WIDTH), *job)

    def test_parts_in_another_order_are_other_data(self):
        one, nine = self.put("one.npy", npy(1)), self.put("nine.npy", npy(9))
        size = ROWS * WIDTH
        self.check(f"npy:{one},{nine}", bytes([1]) * size + bytes([9]) * size)
        self.check(f"npy:{nine},{one}", bytes([9]) * size + bytes([1]) * size)
        for x, y in (("one", "nine"), ("nine", "one")):
            self.check(f"npy:x={x}.npy,y={y}.npy", bytes([1 if x == "one" else 9]) * size, "--field", "x")

    def test_a_folder_whose_file_is_exchanged_reads_that_file_again(self):
        job = ("--field", "image", "--transform", "decode(mode=gray)")
        self.put_folder("photos", 1)
        self.check("folder:photos", bytes([1]) * (ROWS * WIDTH), *job)
        self.put("photos/a/000.pgm", b"P5\n4 2\n255\n" + bytes([9]) * WIDTH)
        self.check("folder:photos", bytes([9]) * WIDTH + bytes([1]) * ((ROWS - 1) * WIDTH), *job)

    def test_a_list_with_other_labels_is_other_data(self):
        self.put_folder("photos", 1)
        for value in (3, 4):
            self.put("labels.csv", "".join(f"a/{row:03}.pgm,{value}\n" for row in range(0, ROWS, 2)))
            self.check("folder:photos?labels=labels.csv", struct.pack("<q", value) * (ROWS // 2), "--field", "label")


def mds(test, folder, names):
    """A set of MosaicML Streaming: two columns of whole numbers, whose names only the index knows."""
    samples = [struct.pack("<qq", 1, 9)] * ROWS
    begin = 4 + 4 * (ROWS + 1)
    shard = struct.pack("<I", ROWS) + struct.pack(f"<{ROWS + 1}I", *range(begin, begin + 16 * ROWS + 1, 16)) + b"".join(samples)
    about = {"column_encodings": ["int", "int"], "column_names": names, "column_sizes": [8, 8], "compression": None, "format": "mds",
             "hashes": [], "raw_data": {"basename": "shard.00000.mds", "bytes": len(shard), "hashes": {}}, "samples": ROWS,
             "size_limit": 1 << 26, "version": 2, "zip_data": None}
    if not os.path.exists(test.path(f"{folder}/shard.00000.mds")):
        test.put(f"{folder}/shard.00000.mds", shard)
    test.put(f"{folder}/index.json", json.dumps({"version": 2, "shards": [about]}))


class Keys(Sets):
    """What is not in the files and changes samples all the same: keys of URIs, indexes of sets, recipes."""

    def check(self, *jobs):
        """Each job with a cache delivers what it does without, whichever other one has filled the cache before."""
        expected = [self.delivered(*job) for job in jobs]
        self.assertEqual(len(set(expected)), len(jobs), "the jobs differ")
        for _ in range(2):
            for job, wanted in zip(jobs, expected):
                self.assertEqual(self.delivered(*job, "--cache", "kept", "-q"), wanted, job)

    def test_axes(self):
        self.put("im.raw", bytes(range(96)))
        for transform in ("hflip(p=1)", "vflip(p=1), flatten", "chw", "center_crop(2), flatten"):
            self.check(*[(f"raw:im.raw?dtype=u8&shape=4x4x3&axes={axes}", "--transform", transform) for axes in ("HWC", "CHW")])

    def test_keys_that_choose_among_the_members_of_a_sample(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for row in range(ROWS):
                for extension, value in (("jpg", 1), ("png", 9)):
                    member = tarfile.TarInfo(f"{row:03}.{extension}")
                    member.size = WIDTH
                    archive.addfile(member, io.BytesIO(bytes([value]) * WIDTH))
        self.put("im.tar", out.getvalue())
        jobs = [(f"tar:im.tar?image={extension}&fields=image",) for extension in ("jpg", "png")]
        self.check(*jobs)
        self.delivered(*jobs[0], "--batches", "1", "--save-state", "s")
        self.fails(1, "cat", *jobs[1], "--load-state", "s", says="state of another job: data ")

    def test_values_in_the_place_of_nulls(self):
        self.put("x.csv", "x,y\n" + "1,2\n,2\n" * 20)
        self.put("x.jsonl", '{"x": 1}\n{"x": null}\n' * 20)
        for uri in ("csv:x.csv?fields=x:i64&nulls=fill({})", "jsonl:x.jsonl?fields=x:i64&nulls=fill({})"):
            self.check(*[(uri.format(fill),) for fill in (0, 7, 2**53, 2**53 + 1)])

    def test_columns_that_an_index_names(self):
        job = ("mds:set?fields=a",)
        mds(self, "set", ["a", "b"])
        self.assertEqual(self.delivered(*job, "--cache", "kept"), numbers(1))
        self.delivered(*job, "--batches", "1", "--save-state", "s")
        mds(self, "set", ["b", "a"])
        self.assertEqual(self.delivered(*job, "--cache", "kept"), numbers(9))
        self.fails(1, "cat", *job, "--load-state", "s", says="state of another job: data ")

    def test_damage_that_one_job_ignores_is_an_error_of_the_next(self):
        def part(tag, data):
            return bytes([tag, len(data)]) + data

        example = part(0x0A, part(0x0A, part(0x0A, b"x") + part(0x12, part(0x0A, part(0x0A, b"abc")))))
        length = struct.pack("<Q", len(example))
        self.put("x.tfrecord", length + masked(length) + example + struct.pack("<I", 0x12345678))
        read = ("tfrecord:x.tfrecord?fields=x:bytes{}", "--cache", "kept", "-q")
        ignoring = (read[0].format("&crc=ignore"), *read[1:])
        self.assertEqual(self.delivered(*ignoring), b"abc")
        self.fails(1, "cat", read[0].format(""), *read[1:], says="the checksum of its data is")
        self.assertEqual(self.delivered(*ignoring), b"abc")


class State(Sets):
    JOB = ("--batch_size", "10", "-q")

    def test_the_state_of_another_file_of_the_same_shape_is_refused(self):
        for name, (uri, content, expected) in FILES.items():
            with self.subTest(name):
                here, there = f"{name}/here/data", f"{name}/there/data"
                self.put(here, content(1)), self.put(there, content(9))
                self.delivered(uri.format(here), *self.JOB, "--batches", "1", "--save-state", "s")
                self.fails(1, "cat", uri.format(there), *self.JOB, "--load-state", "s", says="state of another job: contents .*64 KiB")
                self.put(there, content(1))
                rest = self.delivered(uri.format(there), *self.JOB, "--load-state", "s")
                self.assertEqual(rest, expected(1)[len(expected(1)) // 4:], "a copy on another machine resumes")
                os.rename(self.path(there), self.path(there + "2"))
                self.fails(1, "cat", uri.format(there + "2"), *self.JOB, "--load-state", "s", says="state of another job: file_names ")

    def test_parts_in_another_order_are_refused(self):
        self.put("a.npy", npy(1)), self.put("b.npy", npy(1))
        self.delivered("npy:a.npy,b.npy", *self.JOB, "--batches", "1", "--save-state", "s")
        self.fails(1, "cat", "npy:b.npy,a.npy", *self.JOB, "--load-state", "s", says="state of another job: file_names .*a.npy.*b.npy")
        self.delivered("npy:x=a.npy,y=b.npy", "--field", "x", *self.JOB, "--batches", "1", "--save-state", "s")
        self.fails(1, "cat", "npy:x=b.npy,y=a.npy", "--field", "x", *self.JOB, "--load-state", "s", says="state of another job: file_names ")

    def test_the_first_difference_is_named(self):
        self.put("a.npy", npy(1))
        self.delivered("npy:a.npy", *self.JOB, "--seed", "3", "--batches", "1", "--save-state", "s")
        self.fails(1, "cat", "npy:a.npy", *self.JOB, "--seed", "4", "--load-state", "s", says="another job: seed is '3' in the state, '4' here")

    def test_a_folder_is_compared_by_names_sizes_and_contents(self):
        job = ("--field", "label", *self.JOB)
        self.put_folder("photos", 1)
        self.delivered("folder:photos", *job, "--batches", "1", "--save-state", "s")
        shutil.copytree(self.path("photos"), self.path("copy"))
        self.delivered("folder:copy", *job, "--load-state", "s")
        self.put_folder("copy", 9)
        self.fails(1, "cat", "folder:copy", *job, "--load-state", "s", says="another job: contents ")
        self.put_folder("copy", 1)
        os.rename(self.path("copy/a/000.pgm"), self.path("copy/a/999.pgm"))
        self.fails(1, "cat", "folder:copy", *job, "--load-state", "s", says="another job: file_names ")

    def test_of_many_files_the_first_and_the_last_are_compared(self):
        for part in range(200):
            self.put(f"parts/{part:03}.npy", npy(1))
        self.delivered("npy:parts", *self.JOB, "--batches", "1", "--save-state", "s")
        self.delivered("npy:parts", *self.JOB, "--load-state", "s")
        for part in (0, 199):
            self.put(f"parts/{part:03}.npy", npy(9))
            self.fails(1, "cat", "npy:parts", *self.JOB, "--load-state", "s", says="another job: contents ")
            self.put(f"parts/{part:03}.npy", npy(1))

    def test_the_state_of_an_earlier_release_is_refused_in_one_line(self):
        self.put("a.npy", npy(1))
        self.write("s", "dataline state 1\nepoch: 0\nstep: 1\nchecksum: 0123456789abcdef\n")
        self.fails(1, "cat", "npy:a.npy", *self.JOB, "--load-state", "s", says="saved by a release before 0.3.*seek")


class Convert(Sets):
    """A conversion that a bad record ended after some shards: what may go on behind these, and what may not."""

    def rows(self, value, last):
        return f'{{"x": {value}}}\n' * 9 + last

    def begin(self, uri):
        ran = self.run_shell("convert", uri, "arrow:out", "--shard-bytes", "1", "--batch-size", "1")
        self.assertEqual(ran.status, 1, ran.err)
        self.assertIn("9 shards are finished", ran.err)

    def resume(self, uri):
        return self.run_shell("convert", uri, "arrow:out", "--shard-bytes", "1", "--batch-size", "1")

    def test_a_source_that_was_repaired_or_exchanged_is_refused(self):
        uri = "jsonl:rows.jsonl?fields=x:i64"
        bad, good = '{"x": n}\n', '{"x": 1}\n'
        for name, change in {
            "repaired in place": lambda: self.put("rows.jsonl", self.rows(1, good)),
            "other rows of the same size": lambda: self.put("rows.jsonl", self.rows(9, good)),
            "another file in its place": lambda: (self.put("new", self.rows(9, good)), os.rename(self.path("new"), self.path("rows.jsonl"))),
        }.items():
            with self.subTest(name):
                shutil.rmtree(self.path("out.partial"), ignore_errors=True)
                self.put("rows.jsonl", self.rows(1, bad))
                self.begin(uri)
                before = sorted(os.listdir(self.path("out.partial")))
                change()
                ran = self.resume(uri)
                self.assertEqual(ran.status, 1, ran.err)
                self.assertRegex(ran.err, r"finished shards of another job: it was started with 'file 0: rows.jsonl, \d+ bytes, .*now it is 'file 0: ")
                self.assertEqual(sorted(os.listdir(self.path("out.partial"))), before, "nothing of it is lost")
                self.assertFalse(os.path.exists(self.path("out")))

    def test_a_link_that_leads_elsewhere_and_another_path_are_refused(self):
        bad = '{"x": n}\n'
        self.put("one", self.rows(1, bad)), self.put("nine", self.rows(9, bad))
        os.symlink("one", self.path("link"))
        self.begin("jsonl:link?fields=x:i64")
        self.assertIn("finished shards of another job", self.resume("jsonl:nine?fields=x:i64").err)
        os.remove(self.path("link")), os.symlink("nine", self.path("link"))
        self.assertIn("finished shards of another job", self.resume("jsonl:link?fields=x:i64").err)
        os.remove(self.path("link")), os.symlink("one", self.path("link"))
        self.assertIn("continuing after 9 samples", self.resume("jsonl:link?fields=x:i64").err)

    def test_the_same_source_goes_on_and_the_set_has_no_paths(self):
        uri = "jsonl:deep/secret/rows.jsonl?fields=x:i64"
        self.put("deep/secret/rows.jsonl", self.rows(1, '{"x": n}\n'))
        self.begin(uri)
        self.assertIn("continuing after 9 samples", self.resume(uri).err)
        self.assertNotIn(b"secret", self.read("out.partial/dataline.manifest"))

    def test_another_recipe_of_a_mix_is_refused(self):
        self.put("a.jsonl", self.rows(1, '{"x": n}\n'))
        self.put("b.raw", bytes(96))

        def recipe(uri, **more):
            self.put("r.json", json.dumps({"parts": [{"name": "p", "uri": uri, "weight": 1, **more}]}))

        first = {"uri": "jsonl:a.jsonl?fields=x:i64", "transform": "x: cast(f32)"}
        for change in ({"transform": "x: cast(f32), scale(2)"}, {"uri": "jsonl:a.jsonl?fields=x:i64&nulls=fill(7)"}):
            shutil.rmtree(self.path("out.partial"), ignore_errors=True)
            recipe(**first)
            self.begin("mix:r.json")
            recipe(**{**first, **change})
            ran = self.resume("mix:r.json")
            self.assertEqual(ran.status, 1)
            self.assertIn("finished shards of another job: it was started with 'structure: ", ran.err)
            recipe(**first)
            self.assertIn("continuing after 9 samples", self.resume("mix:r.json").err)

    def test_a_link_that_leads_nowhere_is_one_bad_sample(self):
        self.put_folder("photos", 1)
        os.symlink("nowhere", self.path("photos/a/2x.pgm"))
        for command in (["convert", "folder:photos", "arrow:c", "--skip-bad"], ["recover", "folder:photos", "arrow:r"]):
            ran = self.run_shell(*command)
            self.assertEqual(ran.status, 0, ran.err)
            self.assertIn(b"40 samples", ran.out)

    def test_a_folder_that_was_extracted_again_is_refused(self):
        self.put_folder("photos", 1)
        self.put("photos/b/999.pgm", b"P5\n4 2\n255\n")
        words = ("convert", "folder:photos", "arrow:out", "--transform", "image: decode(mode=gray), resize([2, 4])", "--shard-bytes", "1", "--batch-size", "1")
        self.assertIn("40 shards are finished", self.run_shell(*words).err)
        shutil.rmtree(self.path("photos"))
        self.put_folder("photos", 9)
        self.put("photos/b/999.pgm", b"P5\n4 2\n255\n" + bytes(WIDTH))
        ran = self.run_shell(*words)
        self.assertEqual(ran.status, 1)
        self.assertIn("finished shards of another job", ran.err)


if __name__ == "__main__":
    shell.main()
