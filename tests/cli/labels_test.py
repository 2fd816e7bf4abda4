"""Labels that are text: numbers are numbers, and what is neither a number nor a name is an error with its line.

The expected numbers are those of Python's int() and float().

SPDX-License-Identifier: Apache-2.0
"""

import csv
import io
import json
import os
import struct

import shell
from names_test import tar_of
from shell import ShellTest

NUMBERS = ("0", "2", "10", " 2", "2 ", "+2", "2.0", "2.", "0.0", "2e0", "1E1", "100e-1", "0002", "007", "-0", "\t3", "\u00a04", "1.50e1", "9007199254740993",
           "9223372036854775807", "9223372036854775807.0", "0e999999999999")
REFUSED = ("0.5", "nan", "NaN", "-nan", "inf", "Infinity", "-1", "-2.0", "1e-1", "9223372036854775808", "1e19", "1e999999999999999999999", "0x10", "0b1", "1_000",
           "1,000", "1 000", "2,5", "\u0663", "\uff12", "", " ")
NAMES = ("cat", "1st", "n01440764", "-", "+", "e5", ".", "2e", "nano", "infant", "2024-01-05", "a1", "0xyz", "\u00e9", "x 2", "#1")


class Labels(ShellTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("set"))
        for name in "abc":
            self.write(f"set/{name}.jpg", name)

    def list_of(self, name, labels, **dialect):
        text = io.StringIO(newline="")
        writer = csv.writer(text, **dialect)
        writer.writerow(["path", "label"])
        writer.writerows([f"{letter}.jpg", label] for letter, label in zip("abc", labels))
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        return f"folder:set?labels={name}"

    def labels(self, uri):
        data = self.ok("cat", uri, "--field", "label")
        return list(struct.unpack(f"<{len(data) // 8}q", data))

    def info(self, uri):
        return json.loads(self.ok("info", uri, "--json"))

    @staticmethod
    def truth(text):
        try:
            return int(text)
        except ValueError:
            return int(text.split(".")[0]) if len(text) > 18 and "." in text else int(float(text))

    def test_numbers_of_a_csv_list_are_numbers(self):
        for text in NUMBERS:
            for name, dialect in (("l.csv", {}), ("quoted.CSV", {"quoting": csv.QUOTE_ALL}), ("lf.csv", {"lineterminator": "\n"})):
                uri = self.list_of(name, ["10", text, "1"], **dialect)
                self.assertEqual(self.labels(uri), [10, self.truth(text), 1], repr(text))
                self.assertIsNone(self.info(uri)["classes"])
        self.write("bom.csv", "\ufeffpath,label\r\na.jpg,2.0\r\nb.jpg,0.0\r\nc.jpg,10.0\r\n")
        self.assertEqual(self.labels("folder:set?labels=bom.csv"), [2, 0, 10])

    def test_what_is_no_label_is_an_error_with_its_line(self):
        for text in REFUSED:
            for labels in (["0", text, "1"], [text, "0", "1"], ["0", "1", text], [text] * 3):
                line = labels.index(text) + 2
                self.fails(1, "info", self.list_of("l.csv", labels), says=f"l.csv: line {line}: ")
            self.fails(1, "info", self.list_of("l.csv", ["cat", text, "dog"]), says="l.csv: line 3: ")
        self.fails(1, "info", self.list_of("l.csv", ["0", "256", "1"]) + "&label_dtype=u8", says="l.csv: line 3: .*'256'.*u8 holds 0 to 255")

    def test_names_are_names_and_do_not_mix_with_numbers(self):
        for text in NAMES:
            uri = self.list_of("l.csv", ["zebra", text, "zebra"])
            self.assertEqual(self.info(uri)["classes"], sorted(["zebra", text]))
            for number in ("2", "2.0", " 2", "+2"):
                self.fails(1, "info", self.list_of("l.csv", [text, number, text]), says="l.csv: line 3: .*expected a name")
                self.fails(1, "info", self.list_of("l.csv", [number, number, text]), says="l.csv: line 4: .*expected a number")
        self.fails(1, "info", self.list_of("l.csv", ["cat", "dog", " cat"]), says="l.csv: line 4: .*'cat'.*line 2.*differ only in spaces")

    def test_a_jsonl_list_has_numbers_and_names_by_its_types(self):
        def put(*labels):
            self.write("l.jsonl", "".join(f'{{"path": "{letter}.jpg", "label": {label}}}\n' for letter, label in zip("abc", labels)))
            return "folder:set?labels=l.jsonl"

        self.assertEqual(self.labels(put("10", "2.0", "1e0")), [10, 2, 1])
        for bad in ("0.5", "-1", "true", "null", "[2]", '{"a": 2}', "NaN", "1e19", '""', '" "', "02", "+2"):
            self.fails(1, "info", put("0", bad, "1"), says="l.jsonl: line 2: ")
        for bad in ('"2"', '"cat"'):
            self.fails(1, "info", put("0", bad, "1"), says="l.jsonl: line 2: .*expected a number")
        uri = put('"2"', '"10"', '"2"')  # in quotes: names, which is said
        self.assertEqual((self.labels(uri), self.info(uri)["classes"]), ([1, 0, 1], ["10", "2"]))
        self.assertTrue(any("quoted numbers" in note and "'2' is label 1" in note for note in self.info(uri)["notes"]))

    def test_class_folders_are_in_the_order_of_text_and_info_says_so(self):
        for name in ("1", "2", "10"):
            os.makedirs(self.path(f"numbered/{name}"))
            self.write(f"numbered/{name}/a.jpg", name)
        info = self.info("folder:numbered")
        self.assertEqual(info["classes"], sorted(["1", "2", "10"]))
        self.assertTrue(any("in the order of their names as text" in note for note in info["notes"]), info["notes"])
        os.rename(self.path("numbered/10"), self.path("numbered/0"))
        self.assertFalse(any("as text" in note for note in self.info("folder:numbered")["notes"]))

    def test_labels_of_tar_members_are_what_int_reads(self):
        good = {" 2\n": 2, "+2": 2, "-1": -1, "0002": 2, "9223372036854775807": 2**63 - 1}
        self.write("a.tar", tar_of([(f"{i}.cls", text.encode()) for i, text in enumerate(good)]))
        self.assertEqual(self.labels("tar:a.tar"), [int(text) for text in good])
        for bad in ("2.0", "1e0", "0x10", "9223372036854775808", "", "++2", "+-2", "two", "1 2"):
            self.write("b.tar", tar_of([("0.cls", bad.encode())]))
            self.fails(1, "cat", "tar:b.tar", "--field", "label", says="0.cls", out=None)

    def test_columns_of_numbers_are_numbers_or_errors(self):
        for text in ("2", " 2", "+2", "2 ", "002"):
            self.write("a.csv", f"label\n1\n{text}\n")
            self.assertEqual(self.labels("csv:a.csv?fields=label:i64"), [1, 2], repr(text))
        for bad in ("0.5", "nan", "x", "0x10", "1_0", "9223372036854775808", ""):
            self.write("a.csv", f'label,y\n1,0\n{bad},0\n')
            self.fails(1, "cat", "csv:a.csv?fields=label:i64", says="label", out=None)
        for bad in ("0.5", '"2"', "null", "true", "1e19"):
            self.write("a.jsonl", f'{{"label": 1}}\n{{"label": {bad}}}\n')
            self.fails(1, "cat", "jsonl:a.jsonl?fields=label:i64", says="label", out=None)


if __name__ == "__main__":
    shell.main()
