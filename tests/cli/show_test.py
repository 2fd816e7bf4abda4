"""show: samples for people: values, texts, tokens, labels, pictures; nothing from data is a command to the terminal.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unittest

import shell
from shell import ShellTest

FIXED = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "NO_COLOR": "", "LC_ALL": "", "LC_CTYPE": ""}


class Show(ShellTest):
    def show(self, *words):
        return self.ok("show", *words).decode()

    def on_terminal(self, *words, columns=80, **environment):
        """What a terminal of that width shows on standard output."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start("show", *words, stdout=theirs, env={**os.environ, **FIXED, **environment})
        os.close(theirs)
        text = b""
        while select.select([ours], [], [], shell.SECONDS)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        self.assertEqual((process.wait(shell.SECONDS), process.stderr.read()), (0, b""), words)
        return text.replace(b"\r\n", b"\n")

    def test_small_arrays_are_shown_in_full_as_numpy_does(self):
        self.npy("a.npy", "<i4", (2, 2, 3), struct.pack("<12i", 1, 2, 3, -40, 5, 6, *range(6)))
        self.assertEqual(self.show("npy:a.npy"), "sample 0\n  data: i32 2x3\n    [[  1   2   3]\n     [-40   5   6]]\n"
                                                 "\nsample 1\n  data: i32 2x3\n    [[0 1 2]\n     [3 4 5]]\n")

    def test_values_of_every_dtype(self):
        for descr, data, text in (("|b1", b"\1\0", "[ True False]"), ("|i1", b"\xff\x7f", "[ -1 127]"),
                                  ("<u8", struct.pack("<2Q", 2**64 - 1, 0), "[18446744073709551615                    0]"),
                                  ("<i8", struct.pack("<2q", -2**63, 1), "[-9223372036854775808                    1]"),
                                  ("<f2", struct.pack("<2e", 0.1, float("inf")), "[0.099976      inf]"),
                                  ("<f4", struct.pack("<2f", 0.1, float("nan")), "[0.1 nan]"),
                                  ("<f8", struct.pack("<2d", 1 / 3, -1e300), "[0.33333333    -1e+300]"),
                                  ("<c8", struct.pack("<4f", 1, 2, 0, -0.5), "[  1+2j 0-0.5j]"),
                                  ("<c16", struct.pack("<4d", 1, 2, 0, -0.5), "[  1+2j 0-0.5j]")):
            self.npy("a.npy", descr, (1, 2), data)
            self.assertIn(f"\n    {text}\n", self.show("npy:a.npy"), descr)
            json.loads(self.ok("show", "npy:a.npy", "--json"))
        self.npy("a.npy", "|V2", (1, 2), struct.pack("<2H", 0x3F80, 0xC049))
        self.assertIn("bf16 2\n    [     1 -3.141]\n", self.show("npy:a.npy?dtype=bf16"))

    def test_large_arrays_are_summed_up(self):
        self.npy("a.npy", "<f4", (1, 1000), struct.pack("<1000f", *range(998), float("nan"), float("inf")))
        text = self.show("npy:a.npy")
        self.assertRegex(text, r"\n    min 0, max 997, mean 498.5, 1 nan, 1 infinite; first 0 1 2 3 .*\.\.\.\n$")
        self.assertLess(max(map(len, text.splitlines())), 101)

    def test_how_many_and_which(self):
        self.digits(50)
        numbers = re.findall(r"(?m)^sample (\d+)", self.show("idx:images"))
        self.assertEqual(numbers, ["0", "1", "2"])
        self.assertEqual(len(re.findall(r"(?m)^sample", self.show("idx:images", "-n", "200"))), 50)
        self.assertEqual(re.findall(r"(?m)^sample (\d+)", self.show("idx:images", "--sample", "7")), ["7"])
        for words in ("-n", "2"), ("-n2",), ("-n=2",), ("-qn2",), ("-qq", "-n2"), ("-q=false", "-n2"), ("--count=2",):
            self.assertEqual(re.findall(r"(?m)^sample (\d+)", self.show("idx:images", *words)), ["0", "1"], words)
        order = self.ok("cat", "idx:images", "--indices", "--shuffle", "full", "--seed", "3").split()
        shuffled = re.findall(r"(?m)^sample (\d+)", self.show("idx:images", "-n", "50", "--shuffle", "full", "--seed", "3"))
        self.assertEqual(shuffled, [number.decode() for number in order])
        self.fails(1, "show", "idx:images", "--sample", "50", says="has 50 samples, counted from 0")
        self.fails(2, "show", "idx:images", "--sample", "5", "-n", "2", says="--sample names one")
        self.fails(2, "show", "idx:images", "--field", "x", says="no field 'x'")
        self.fails(2, "show", "idx:images", "--device", "cuda:0", says="expected --device cpu")

    def test_transforms_are_shown(self):
        uri, _, _ = self.labelled(3)
        text = self.show(uri, "-n", "1", "--transform", "image: cast(f32), scale(0.5), flatten", "--field", "image")
        self.assertIn("image: f32 16\n    [  0 0.5   1 1.5", text)
        self.assertNotIn("label", text)

    def test_nothing_to_show(self):
        self.npy("a.npy", "|u1", (0, 4), b"")
        self.assertEqual(self.show("npy:a.npy"), "0 samples\n")
        self.assertEqual(json.loads(self.ok("show", "npy:a.npy", "--json")), {"samples": []})

    def test_labels_have_their_class(self):
        for name in ("cat", "do\x1bg"):
            os.makedirs(self.path(f"pets/{name}"))
            self.write(f"pets/{name}/1.jpg", "x")
        text = self.show("pets", "--field", "label", "--transform", "label: cast(i32)")
        self.assertIn("label: i32 0 (cat)\n", text)
        self.assertIn("label: i32 1 (do\\x1bg)\n", text)
        self.assertIn("label: f32 2 (cat)\n", self.show("pets", "--field", "label", "--transform", "label: one_hot(2)"))
        self.assertIn("image: u8 1\n", self.show("pets", "--transform", "label: cast(i32)"))

    def test_a_bad_sample_is_the_error_after_those_before_it(self):
        uri, _, _ = self.labelled(10)
        ran = self.fails(1, "show", uri, "-n", "9", "--transform", "label: one_hot(2)", says="sample 2", out=None)
        self.assertEqual(ran.out.count(b"sample"), 2)

    def test_json_has_all_of_it(self):
        self.npy("a.npy", "<f4", (2, 3), struct.pack("<6f", 1, 2, float("nan"), 4, 5, 6))
        first, second = json.loads(self.ok("show", "npy:a.npy", "--json"))["samples"]
        self.assertEqual((first["index"], first["epoch"], first["step"]), (0, 0, 0))
        self.assertEqual(first["fields"][0], {"name": "data", "dtype": "f32", "shape": [3], "axes": None, "class": None,
                                              "text": None, "min": 1, "max": 2, "mean": 1.5, "values": [1, 2, None]})
        self.assertEqual(second["fields"][0]["values"], [4, 5, 6])

    def tar(self, name, members):
        """A tar of {member: bytes}."""
        import io
        import tarfile
        with tarfile.open(self.path(name), "w") as tar:
            for member, data in members.items():
                info = tarfile.TarInfo(member)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return f"tar:{name}"

    def test_texts_are_texts_and_no_commands_to_the_terminal(self):
        hostile = "Grüße \x1b[31mred\x07\x9b\u202e\n".encode() + b"end"
        uri = self.tar("a.tar", {"0.txt": hostile, "0.bin": b"\xff\x00\x01", "0.png": b"\x89PNG\r\n\x1a\n123"})
        words = (uri, "--transform", "txt: cast(u8)")
        text = self.show(*words)
        self.assertIn('"Grüße \\x1b[31mred\\x07\\u009b\\u202e\\nend"', text)
        self.assertIn("\n    ff 00 01\n", text)
        self.assertIn(", PNG of 11 bytes\n", text)
        seen = self.on_terminal(*words, LANG="C")
        self.assertIn(b'"Gr\\u00fc\\u00dfe \\x1b[31mred', seen)
        self.assertFalse(set(seen) - set(range(32, 127)) - {10}, seen)

    def test_long_texts_are_wrapped_between_characters(self):
        uri = self.tar("a.tar", {"0.txt": "語".encode() * 3000})
        text = self.show(uri)
        self.assertNotIn("�", text)
        self.assertIn('" ...', text)
        for columns in (20, 40, 300):
            self.on_terminal(uri, columns=columns).decode()

    @staticmethod
    def pixels(seen):
        return re.findall(rb"\x1b\[38;2;(\d+);(\d+);(\d+)m(?:\x1b\[48;2;(\d+);(\d+);(\d+)m)?\xe2\x96\x80", seen)

    def test_pictures_where_the_terminal_can(self):
        self.npy("a.npy", "|u1", (1, 5, 8, 3), bytes(range(120)))
        words = ("npy:a.npy?axes=HWC",)
        seen = self.on_terminal(*words)
        pixels = self.pixels(seen)
        self.assertEqual(len(pixels), 3 * 8)
        self.assertEqual(pixels[0], (b"0", b"1", b"2", b"24", b"25", b"26"))
        self.assertEqual(pixels[-1], (b"117", b"118", b"119", b"", b"", b""))
        self.assertIn(b"\x1b[0m\n    min 0, max 119", seen)
        self.assertIn(b"\x1b[38;5;", self.on_terminal(*words, COLORTERM=""))
        for plain in ({"TERM": "dumb"}, {"COLORTERM": "", "TERM": "vt100"}, {"NO_COLOR": "1"}, {"LANG": "C"}):
            self.assertNotIn(b"\x1b", self.on_terminal(*words, **plain), plain)
        self.assertNotIn("\x1b", self.show(*words))

    def test_a_large_picture_is_reduced_to_the_terminal(self):
        self.npy("a.npy", "|u1", (1, 200, 300, 3), bytes(180_000))
        for columns, most in ((20, 16), (300, 64)):
            lines = [line for line in self.on_terminal("npy:a.npy?axes=HWC", columns=columns).split(b"\n") if b"\x1b" in line]
            self.assertLessEqual(len(lines), 24)
            self.assertLessEqual(max(line.count("▀".encode()) for line in lines), most)

    def test_normalised_pictures_show_their_pixels(self):
        self.npy("a.npy", "|u1", (1, 2, 2, 3), bytes(range(0, 240, 20)))
        seen = self.on_terminal("npy:a.npy?axes=HWC", "--transform", "normalize(imagenet), chw")
        self.assertEqual(self.pixels(seen)[0], (b"0", b"20", b"40", b"120", b"140", b"160"))


class Vocabulary(ShellTest):
    def setUp(self):
        super().setUp()
        self.write("t.bin", struct.pack("<4H", 1, 0, 2, 9))

    def text(self, *words):
        ran = self.ok("show", "tokens:t.bin?length=3", "--vocabulary", "v", *words, "--json")
        return json.loads(ran)["samples"][0]["fields"][0]["text"]

    def test_one_token_a_line(self):
        self.write("v", "zero\none\r\ntwo\n")
        self.assertEqual(self.text(), "onezerotwo")
        self.assertIn('    "zerotwo<9>"\n', self.ok("show", "tokens:t.bin?length=3", "--vocabulary", "v").decode())

    def test_json_as_gpt2s_is_turned_into_bytes(self):
        self.write("v", '{"\\u0120w\\u00c3\\u00b6rld": 0,\n "Hello": 1, "\\u010a": 2, "<|x y|>": 3}')
        self.assertEqual(self.text(), "Hello wörld\n")
        self.write("v", json.dumps({"Ġ\U0001f600": 0, "Hello": 1, "\U0001f600": 2}))  # not GPT-2's characters: as they are
        self.assertEqual(self.text(), "HelloĠ\U0001f600\U0001f600")
        self.write("v", json.dumps({"é": 0, "Hello": 1, "\U0001f600": 2}, ensure_ascii=True))
        self.assertEqual(self.text(), "Helloé\U0001f600")

    def test_ranks_in_base64(self):
        tokens = [" wörld".encode(), b"Hello", "é".encode()]
        self.write("v", "".join(f"{base64.b64encode(token).decode()} {i}\n" for i, token in enumerate(tokens)))
        self.assertEqual(self.text(), "Hello wörldé")

    def test_what_is_no_vocabulary_is_named_with_its_line(self):
        for says, content in (("v: line 1: .*empty", b""), ("v: line 2: expected '\"'", b'{"a": 1,\n b: 2}'),
                              ("v: line 2: expected a whole number of at least 0", b'{"a":\n "b"}'),
                              ("v: line 3: expected '}'", b'{"a": 1\n\n"b": 2}'), ("v: line 1: expected a closing", b'{"a": 1, "b\n": 2}'),
                              ("v: line 2: expected the end of the file", b'{"a": 1}\n{'),
                              ("v: line 2: id 1 appears twice", b'{"a": 1,\n"b": 1}'),
                              ("v: line 2: expected a token in base64", b"aGk= 0\nx\n"), ("v: line 2: id 0 appears twice", b"aGk= 0\naGk= 0\n")):
            self.write("v", content)
            self.fails(1, "show", "tokens:t.bin?length=3", "--vocabulary", "v", says=says)
        self.fails(1, "show", "tokens:t.bin?length=3", "--vocabulary", "nowhere", says="^dataline: nowhere: No such file")


class StrangeSurroundings(ShellTest):
    def test_names_of_files_that_are_no_text(self):
        name = b"a\xff\n\x1b[31m.npy"
        os.rename(self.path(self.npy("a.npy", "|u1", (1, 2), b"\1\2")), os.path.join(self.folder.encode(), name))
        self.assertIn(b"[1 2]", self.ok("show", b"./" + name))
        for command in ("info", "show"):
            ran = self.run_shell(command, b"./" + name, "--verbose")
            self.assertNotIn("\x1b", ran.out.decode("utf-8", "replace") + ran.err)

    def test_a_huge_sample_is_an_error_that_names_the_option(self):
        with open(self.path("big"), "wb") as file:
            file.truncate(65 << 20)
        self.ok("show", f"raw:big?dtype=u8&shape={65 << 20}")

    def test_a_reader_that_has_enough(self):
        self.digits(3000)
        done = subprocess.run(["sh", "-c", '"$0" show idx:images -n 3000 | head -n 1', shell.PROGRAM], cwd=self.folder,
                              capture_output=True, timeout=shell.SECONDS, check=False)
        self.assertEqual((done.stdout, done.stderr), (b"sample 0\n", b""))


if __name__ == "__main__":
    shell.main()
