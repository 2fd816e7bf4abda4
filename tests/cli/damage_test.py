"""recover on damaged files: what is whole is saved, what is lost is listed.

The oracles: what was written before the damage, csv and json.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io
import json
import os
import shutil
import struct
import zipfile

import shell
from damaged import Damage, record


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


if __name__ == "__main__":
    shell.main()
