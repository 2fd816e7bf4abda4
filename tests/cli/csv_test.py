"""CSV that Python wrote comes out as Python reads it.

SPDX-License-Identifier: Apache-2.0
"""

import csv
import gzip
import io
import json
import random
import struct

import shell
from shell import ShellTest, indices_of, zstd_of

COLUMNS = ("text", "label", "score", "more", "ok")


def rows(count, seed):
    draw = random.Random(seed)
    letters = "ab \",;\t\n\r'\u00e9\u20ac\U0001f600"
    word = lambda: "".join(draw.choice(letters) for _ in range(draw.randrange(12)))
    for _ in range(count):
        score = draw.choice([0.0, -1.5, 1e300, 5e-324, 0.1, draw.random(), float(draw.randrange(10**15))])
        yield {"text": word(), "label": draw.randrange(-(2**63), 2**63), "score": score, "more": word(), "ok": draw.random() < 0.5}


class Csv(ShellTest):
    def setUp(self):
        super().setUp()
        self.rows = list(rows(500, 7))
        self.rows[0]["text"] = self.rows[0]["more"] = "words"

    def written(self, **dialect):
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS, **dialect)
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def packed(self, rows):
        return {
            "text": b"".join(row["text"].encode() for row in rows),
            "label": b"".join(struct.pack("<q", row["label"]) for row in rows),
            "score": b"".join(struct.pack("<d", row["score"]) for row in rows),
            "more": b"".join(row["more"].encode() for row in rows),
            "ok": b"".join(bytes([row["ok"]]) for row in rows),
        }

    def put(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text.encode())

    def test_as_python_wrote_it(self):
        for name, keys, dialect in (("a.csv", "", {}), ("all.csv", "", {"quoting": csv.QUOTE_ALL}), ("b.tsv", "", {"delimiter": "\t"}),
                                    ("lf.csv", "?delimiter=semicolon", {"delimiter": ";", "lineterminator": "\n"})):
            self.put(name, self.written(**dialect))
            for field, expected in self.packed(self.rows).items():
                self.assertEqual(self.ok("cat", f"csv:{name}{keys}", "--field", field), expected, (name, field))

    def test_cells_are_cut_where_python_cuts_them(self):
        draw = random.Random(3)
        tried = 0
        while tried < 100:
            text = "a,b\nq,q\n" + "".join(draw.choice('x,"\n ') for _ in range(draw.randrange(1, 40))) + "\n"
            self.put("random.csv", text)
            ran = self.run_shell("verify", "csv:random.csv?fields=a:text,b:text", "--json")
            if "quote" in ran.err + ran.out.decode():
                continue  # what RFC 4180 does not allow, and Python takes
            rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
            blank = [row for row in rows if len(row) == 1 and not row[0].strip()]
            if blank and '"' in text[8:]:
                continue  # Python does not tell whether the blanks were in quotes
            tried += 1
            rows = [row for row in rows if row not in blank]  # lines of blanks are skipped, as by pandas
            for field, column in (("a", 0), ("b", 1)):
                got = self.run_shell("cat", "csv:random.csv?fields=a:text,b:text", "--field", field, "--on_error", "replace", "--batch_size", 1)
                if all(len(row) == 2 for row in rows):
                    self.assertEqual((got.status, got.out), (0, b"".join(row[column].encode() for row in rows)), text)
                else:
                    self.assertNotEqual(ran.status, 0, text)

    def test_compressed_files_and_any_order(self):
        self.write("a.csv.gz", gzip.compress(self.written().encode()))
        self.write("a.csv.zst", zstd_of(self.written().encode()))
        for name in ("a.csv.gz", "a.csv.zst"):
            order = indices_of(self.ok("cat", name, "--indices", "--shuffle", "full", "--seed", 3))
            self.assertEqual(sorted(order), list(range(500)))
            for workers in (0, 2):
                got = self.ok("cat", name, "--field", "text", "--shuffle", "full", "--seed", 3, "--num-workers", workers)
                self.assertEqual(got, self.packed([self.rows[i] for i in order])["text"])

    def test_info_says_what_was_inferred(self):
        self.put("a.csv", self.written())
        said = json.loads(self.ok("info", "a.csv", "--json"))
        self.assertEqual((said["format"], said["samples"]), ("csv", 500))
        self.assertEqual(said["notes"], ["fields inferred from the first 500 records: fields=text:text,label:i64,score:f64,more:text,ok:bool"])

    def test_columns_in_a_row_are_one_array(self):
        self.put("digits.csv", "label," + ",".join(f"pixel{i}" for i in range(784)) + "\n" +
                 "".join(f"{n}," + ",".join(str((n * i) % 256) for i in range(784)) + "\n" for n in range(5)))
        uri = "csv:digits.csv?fields=pixel0:u8[28x28],label:i64"
        self.assertEqual(self.ok("cat", uri, "--field", "pixel0"), bytes((n * i) % 256 for n in range(5) for i in range(784)))
        self.assertIn("u8     28x28", self.ok("info", uri).decode())

    def test_a_bad_record_is_told_by_number(self):
        self.put("a.csv", "a\n1\n2.5\n3\n")
        self.fails(1, "cat", "csv:a.csv?fields=a:i64", out=None,
                   says=r"step 0: .*sample 1: a\.csv: record 1, offset 4: column 'a': '2\.5', expected an integer")


if __name__ == "__main__":
    shell.main()
