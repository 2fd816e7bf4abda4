"""JSON lines that Python wrote come out as Python reads them.

SPDX-License-Identifier: Apache-2.0
"""

import gzip
import json
import random
import struct

import shell
from shell import ShellTest, indices_of, zstd_of


def rows(count, seed):
    draw = random.Random(seed)
    letters = "ab \"\\/\n\t\r\x00\x1f\u007f\u00e9\u20ac\U0001f600"
    for _ in range(count):
        yield {
            "text": "".join(draw.choice(letters) for _ in range(draw.randrange(60))),
            "label": draw.randrange(-(2**63), 2**63),
            "score": draw.choice([0.0, -1.5, 1e300, 5e-324, 0.1, draw.random(), float(draw.randrange(10**15))]),
            "ids": [draw.randrange(2**40) for _ in range(draw.randrange(9))],
            "meta": {"ok": draw.random() < 0.5, "lang": draw.choice(["en", "de"]), "more": [None, {}, "x"]},
            "none": None,
        }


class JsonLines(ShellTest):
    def setUp(self):
        super().setUp()
        self.rows = list(rows(500, 7))
        self.rows[0]["ids"] = [1]  # an empty array would say nothing of its type
        self.rows[0]["score"] = 0.5

    def packed(self, rows):
        return {
            "text": b"".join(row["text"].encode() for row in rows),
            "label": b"".join(struct.pack("<q", row["label"]) for row in rows),
            "score": b"".join(struct.pack("<d", row["score"]) for row in rows),
            "ids": b"".join(struct.pack(f"<{len(row['ids'])}q", *row["ids"]) for row in rows),
            "meta/ok": b"".join(bytes([row["meta"]["ok"]]) for row in rows),
            "meta/lang": b"".join(row["meta"]["lang"].encode() for row in rows),
        }

    def test_as_python_wrote_them(self):
        for name, ascii_only in (("ascii.jsonl", True), ("utf8.jsonl", False)):
            self.write(name, "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in self.rows))
            for field, expected in self.packed(self.rows).items():
                self.assertEqual(self.ok("cat", name, "--field", field), expected, (name, field))

    def test_compressed_files_and_any_order(self):
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in self.rows)
        self.write("a.jsonl.gz", gzip.compress(text.encode()))
        self.write("a.jsonl.zst", zstd_of(text.encode()))
        for name in ("a.jsonl.gz", "a.jsonl.zst"):
            order = indices_of(self.ok("cat", name, "--indices", "--shuffle", "full", "--seed", 3))
            self.assertEqual(sorted(order), list(range(500)))
            for workers in (0, 2):
                got = self.ok("cat", name, "--field", "text", "--shuffle", "full", "--seed", 3, "--num-workers", workers)
                self.assertEqual(got, self.packed([self.rows[i] for i in order])["text"])

    def test_info_says_what_was_inferred(self):
        self.write("a.jsonl", json.dumps(self.rows[0]) + "\n")
        said = json.loads(self.ok("info", "a.jsonl", "--json"))
        self.assertEqual((said["format"], said["samples"]), ("jsonl", 1))
        self.assertEqual([field["name"] for field in said["fields"]], list(self.packed([])))
        self.assertIn("fields=text:text,label:i64,score:f64,ids:i64[],meta/ok:bool,meta/lang:text", said["notes"][0])
        self.assertIn("none (null)", said["notes"][1])

    def test_a_bad_line_is_told_by_number(self):
        self.write("a.jsonl", '{"a": 1}\n{"a": 2.5}\n{"a": 3}\n')
        self.fails(1, "cat", "a.jsonl", says=r"step 0: .*sample 1: a\.jsonl: line 2: byte \d+: field 'a': '2\.5', expected an integer", out=None)


if __name__ == "__main__":
    shell.main()
