"""Which files of a directory, and members of an archive, belong to a dataset: one rule for all formats.

Hidden names and __MACOSX are left out, suffixes ignore case, files of other kinds are left out and reported once. The contents
are what Python's csv, json, tarfile and zipfile wrote.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import gzip
import io
import json
import os
import struct
import tarfile
import zipfile

import shell
from damaged import record
from shell import ShellTest, zstd_of

FOREIGN = ("README", "MD5SUMS", "._a.x", ".DS_Store", "__MACOSX/._a.x", ".ipynb_checkpoints/a.x", "old/a.x")


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def npy_of(data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def zip_of(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def megatron_index(lengths):
    """Two-byte tokens: the index of as many sequences, each a document."""
    pointers = [sum(lengths[:i]) * 2 for i in range(len(lengths))]
    head = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, 8, len(lengths), len(lengths) + 1)
    return head + struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(lengths)}q", *pointers) + struct.pack(
        f"<{len(lengths) + 1}q", *range(len(lengths) + 1))


class Names(ShellTest):
    def put(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        self.write(name, data)

    def notes(self, uri):
        return json.loads(self.ok("info", uri, "--json"))["notes"]

    def left_out(self, uri):
        """The notes about what was left out, each once."""
        found = [note for note in self.notes(uri) if "left out: " in note]
        self.assertEqual(len(found), len(set(found)), found)
        return found

    def count(self, uri):
        return json.loads(self.ok("info", uri, "--json"))["samples"]

    def test_suffixes_ignore_case_in_every_format(self):
        u8 = b"\x01\x02"
        formats = {
            "csv": (("a.csv", b"x,y\n1,2\n"), ("B.CSV", b"x,y\n3,4\n"), ("c.Csv.GZ", gzip.compress(b"x,y\n5,6\n")),
                    ("d.csv.ZST", zstd_of(b"x,y\n7,8\n")), ("E.TSV", b"x\ty\n9\t10\n")),
            "jsonl": (("a.jsonl", b'{"x": 1}\n'), ("B.JSONL", b'{"x": 2}\n'), ("c.NDJSON", b'{"x": 3}\n'),
                      ("d.Jsonl.GZ", gzip.compress(b'{"x": 4}\n'))),
            "npy": (("a.npy", npy_of(b"\x01")), ("B.NPY", npy_of(b"\x02"))),
            "npz": (("a.npz", zip_of([("x.npy", npy_of(b"\x01"))])), ("B.NPZ", zip_of([("x.npy", npy_of(b"\x02"))]))),
            "tar": (("a.tar", tar_of([("0.txt", b"1")])), ("B.TAR", tar_of([("1.txt", b"2")]))),
            "tfrecord": (("a.tfrecord", record(b"1")), ("B.TFRECORD", record(b"2")), ("c.TFRecord-00000-OF-00001", record(b"3")),
                         ("d.tfrecords.GZ", gzip.compress(record(b"4")))),
            "idx": (("a.idx", bytes([0, 0, 8, 1, 0, 0, 0, 1, 7])), ("B.IDX", bytes([0, 0, 8, 1, 0, 0, 0, 1, 8])),
                    ("C-UBYTE.GZ", gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 1, 9])))),
            "safetensors": tuple((name, struct.pack("<Q", len(head)) + head + data) for name, data in (("a.safetensors", b"\x01"),
                                 ("B.SafeTensors", b"\x02")) for head in [b'{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}']),
            "raw?dtype=u8": (("a.bin", u8[:1]), ("B.BIN", u8[1:])),
            "tokens?dtype=u8&length=1": (("a.bin", u8), ("B.BIN", u8)),
            "megatron": (("a.idx", megatron_index([1])), ("a.bin", u8), ("B.IDX", megatron_index([1])), ("B.BIN", u8)),
        }
        for format, files in formats.items():
            scheme, _, keys = format.partition("?")
            for name, data in files:
                self.put(f"{scheme}/{name}", data)
            uri = f"{scheme}:{scheme}" + (f"?{keys}" if keys else "")
            expected = len(files) if scheme != "megatron" else len(files) // 2
            self.assertEqual(self.count(uri), expected, format)
            self.assertEqual(self.left_out(uri), [], format)
            self.put(f"{scheme}/README", b"not data")
            self.put(f"{scheme}/MD5SUMS", b"not data either")
            self.put(f"{scheme}/._{files[0][0]}", b"\x00\x05\x16\x07")
            self.put(f"{scheme}/__MACOSX/{files[0][0]}", b"\x00\x05\x16\x07")
            self.put(f"{scheme}/.ipynb_checkpoints/{files[0][0]}", files[0][1])
            self.put(f"{scheme}/old/{files[0][0]}", files[0][1])
            self.assertEqual(self.count(uri), expected, format)
            [note] = self.left_out(uri)
            self.assertIn(f"{scheme}: left out: 2 files of other kinds (MD5SUMS, README), ", note)
            self.assertIn(f"._{files[0][0]}", note)
            self.assertTrue(note.endswith("1 subdirectory (old)"), note)
            log = [line for line in self.run_shell("cat", uri, "--verbose").err.splitlines() if ": note: " not in line]
            self.assertEqual(sum("left out: " in line for line in log), 1, log)

    def test_capital_suffixes_are_detected_and_tabs_go_by_the_suffix(self):
        rows = [["x", "y"], ["a,b", "1"], ["c", "2"]]
        text = io.StringIO()
        csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
        tabs = text.getvalue().encode()
        for name, data in (("B.TSV", tabs), ("b.tsv", tabs), ("c.Tsv.gz", gzip.compress(tabs)), ("D.TSV.GZ", gzip.compress(tabs)),
                           ("E.TSV.ZST", zstd_of(tabs))):
            self.write(name, data)
            for uri in (name, f"csv:{name}"):
                self.assertEqual(self.ok("cat", uri, "--field", "x"), b"a,bc", uri)
                self.assertEqual(self.ok("cat", uri, "--field", "y"), struct.pack("<2q", 1, 2), uri)
        for name, data, format in (("X.CSV", b"x\n1\n", "csv"), ("DATA.NPY", npy_of(b"\x01"), "npy"), ("A.TAR", tar_of([("0.a", b"x")]), "tar"),
                                   ("a.Jsonl.GZ", gzip.compress(b'{"x": 1}\n'), "jsonl"), ("B.NDJSON", b'{"x": 1}\n', "jsonl"),
                                   ("T.BIN", bytes(4096), "tokens"), ("E.TFRECORD", gzip.compress(record(b"x")), "tfrecord")):
            self.write(name, data)
            ran = self.run_shell("info", name, "--json")
            found = json.loads(ran.out)["format"] if ran.status == 0 else ran.err
            self.assertIn(format, found, name)

    def test_names_that_the_user_gives_are_read_whatever_they_are(self):
        self.put("d/.hidden", b"x\n1\n")
        self.put("d/b.txt", b"x\n2\n")
        self.put("d/c1.dat", b"x\n3\n")
        self.put("d/c2.dat", b"x\n4\n")
        for uri, expected in (("csv:d/.hidden,d/b.txt", [1, 2]), ("csv:d/c{1..2}.dat", [3, 4])):
            self.assertEqual(self.ok("cat", uri, "--field", "x"), struct.pack("<2q", *expected))
            self.assertEqual(self.left_out(uri), [])
        self.put("__MACOSX/a.csv", b"x\n5\n")
        self.assertEqual(self.ok("cat", "csv:__MACOSX", "--field", "x"), struct.pack("<q", 5))

    def test_raw_never_reads_a_readme(self):
        for name in ("README", "MD5SUMS", "readme.md", "notes.txt"):
            self.put(f"d/{name}", b"1234")
        self.fails(1, "info", "raw:d?dtype=u8", says=r"d: no raw files \(.*\) among the 4 in this directory; it has 4 files \(MD5SUMS, README, notes.txt")
        self.put("d/a.u8", b"\x07")
        self.put("d/b.U8", b"\x08")
        self.assertEqual(self.ok("cat", "raw:d?dtype=u8"), b"\x07\x08")
        self.put("d/labels.bin", b"\x09")
        self.fails(1, "info", "raw:d?dtype=u8", says=r"d: raw files with different suffixes \(1 \*\.bin, 2 \*\.u8\).*name the files")
        self.assertEqual(self.ok("cat", "raw:d/a.u8,d/README?dtype=u8"), b"\x071234")
        self.write("x.FLOAT32", b"\0" * 8)
        self.assertIn(b"read as u8, although the suffix names f32: x.FLOAT32", self.ok("info", "raw:x.FLOAT32?dtype=u8"))
        self.assertNotIn(b"although", self.ok("info", "raw:x.FLOAT32?dtype=f32"))

    def test_a_directory_without_data_says_what_is_there(self):
        self.put("d/.a.csv", b"x\n1\n")
        self.put("d/README", b"")
        self.put("d/train/b.csv", b"x\n1\n")
        self.fails(1, "info", "csv:d", says=r"d: no csv files \(\*\.csv, .*it has 1 file \(README\), 1 hidden name "
                                            r"\(\.a\.csv\), 1 subdirectory \(train\)")
        os.makedirs(self.path("hidden/.x"))
        self.put("hidden/._a.npy", b"")
        self.fails(1, "info", "hidden", says=r"2 hidden names \(\._a\.npy, \.x\)")
        os.makedirs(self.path("empty"))
        self.fails(1, "info", "npy:empty", says="the directory is empty")

    def test_hidden_names_are_no_classes_and_no_samples(self):
        for name in ("cat/a.jpg", "cat/._a.jpg", "cat/.d/x.jpg", "cat/__MACOSX/x.jpg", "cat/notes.txt", "dog/b.JPG", ".ipynb_checkpoints/c.jpg",
                     "__MACOSX/cat/._a.jpg", ".DS_Store", "LICENSE"):
            self.put(f"set/{name}", f"{name};".encode())
        for uri, classes in (("folder:set", ["cat", "dog"]), ("folder:set?labels=none", None), ("folder:set?index=saved", ["cat", "dog"]), ("set", ["cat", "dog"])):
            for _ in range(2):  # a saved index has the same notes
                self.assertEqual(self.ok("cat", uri, "--field", "image"), b"cat/a.jpg;dog/b.JPG;", uri)
                self.assertEqual(json.loads(self.ok("info", uri, "--json"))["classes"], classes)
                [note] = self.left_out(uri)
                self.assertIn("set: left out: 2 files of other kinds (LICENSE, cat/notes.txt), 5 hidden names (", note)
        self.fails(1, "info", "folder:set?extensions=gif", says="class cat, dog; .*; left out: ")

    def test_members_of_archives_follow_the_rule(self):
        members = [("__MACOSX/a.cls", b"x"), ("a.JPG", b"jpeg"), ("._a.JPG", b"fork"), ("./a.cls", b"1"), ("b/.cache/c.jpg", b"no"), ("b/c.jpg", b"second"),
                   ("b/._c.cls", b"fork"), ("b/c.cls", b"2")]
        members[3] = ("a.cls", b"1")
        self.write("x.tar", tar_of(members))
        self.assertEqual(self.ok("cat", "tar:x.tar", "--field", "image"), b"jpegsecond")
        self.assertEqual(self.ok("cat", "tar:x.tar", "--field", "label"), struct.pack("<2q", 1, 2))
        [note] = self.left_out("tar:x.tar")
        self.assertIn("x.tar: left out: 4 hidden names (__MACOSX/a.cls, ._a.JPG, b/.cache/c.jpg, ...)", note)
        self.write("two.tar", tar_of([("a.JPG", b"photo"), ("a.Seg.PNG", b"mask"), ("a.png", b"drawing")]))
        for image in ("JPG", "jpg"):
            self.assertEqual(self.ok("cat", f"tar:two.tar?image={image}", "--field", "image"), b"photo")
        self.write("only.tar", tar_of([("__MACOSX/a.jpg", b"x")]))
        self.fails(1, "info", "tar:only.tar", says=r"no samples.*1 hidden name \(__MACOSX/a\.jpg\)")
        self.write("x.npz", zip_of([("a.npy", npy_of(b"\x01")), ("B.NPY", npy_of(b"\x02")), ("__MACOSX/._a.npy", b"fork"), ("._a.npy", b"fork"),
                                    ("readme.txt", b"x")]))
        self.assertEqual([field["name"] for field in json.loads(self.ok("info", "npz:x.npz", "--json"))["fields"]], ["a", "B"])
        [note] = self.left_out("npz:x.npz")
        self.assertIn("x.npz: left out: 1 file of another kind (readme.txt), 2 hidden names (__MACOSX/._a.npy, ._a.npy)", note)

    def test_a_written_set_reports_nothing(self):
        self.put("d/a.csv", b"x\n1\n2\n")
        self.assertEqual(self.run_shell("convert", "csv:d", "arrow:set").status, 0)
        self.assertEqual(self.left_out("arrow:set"), [])


if __name__ == "__main__":
    shell.main()
