"""--plugin: what plug-ins add is known to every command, and its errors are the library's.

The plug-in is that of tests/extensions, which cases.txt there tests.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import subprocess
import unittest

import shell
from shell import ShellTest

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "extensions", "files")
PLUGGED = ("info", "cat", "bench", "preview", "options", "transforms", "formats", "version", "completion")


class Plugins(ShellTest):
    def setUp(self):
        super().setUp()
        self.plugin = shell.SAMPLES
        self.data = os.path.join(FILES, "a.dlrec")
        with open(self.data, "rb") as file:
            content = file.read()
        self.width = int.from_bytes(content[12:16], "little")
        self.rows = content[16:]

    def test_a_format_of_a_plugin_is_found_by_scheme_and_by_content(self):
        for uri in (f"dlrec:{self.data}", self.data):
            self.assertEqual(self.ok("cat", uri, "--plugin", self.plugin), self.rows)
            self.assertEqual(json.loads(self.ok("info", uri, "--json", f"--plugin={self.plugin}"))["format"], "dlrec")
        self.fails(2, "info", f"dlrec:{self.data}", says="unknown scheme")

    def test_operators_and_storages_of_a_plugin_work_in_cat_preview_and_bench(self):
        plain = self.ok("cat", f"raw:xor://{self.data}?shape={self.width}&dtype=u8&header=16", "--plugin", self.plugin)
        self.assertEqual(plain, bytes(byte ^ 0x5A for byte in self.rows))
        with_label = f"dlrec:{self.data}?labels=sum"
        words = ("--plugin", self.plugin, "--transform", "x: offset(1)")
        moved = self.ok("cat", with_label, "--field", "x", *words)
        self.assertEqual(len(moved), 4 * len(self.rows))
        bench = json.loads(self.ok("bench", with_label, "--seconds", "0.1", "--num_workers", "1", "--json", *words))
        self.assertGreater(bench["samples_per_s"], 0)
        plan = json.loads(self.ok("info", with_label, "--plan", "--json", *words))["plan"]
        self.assertTrue(any("offset(1)" in stage["text"] for stage in plan), plan)

    def test_an_error_in_a_transform_of_a_plugin_points_at_the_argument(self):
        ran = self.fails(2, "cat", f"dlrec:{self.data}", "--plugin", self.plugin, "--transform", "offset(1, noise=-1)",
                         says="expected 0 or more")
        mark = ran.err.splitlines()[2].index("^") - 2
        self.assertIn(mark, range("offset(1, noise=-1)".index("noise"), len("offset(1, noise=-1)")))

    def test_tables_have_what_plugins_add_at_the_end(self):
        for command in ("formats", "transforms"):
            ours = json.loads(self.ok(command, "--json"))
            with_plugin = json.loads(self.ok(command, "--json", "--plugin", self.plugin))
            if command == "formats":
                self.assertEqual(ours["storages"], [])
                self.assertEqual([storage["scheme"] for storage in with_plugin["storages"]], ["xor"])
                ours, with_plugin = ours["formats"], with_plugin["formats"]
            self.assertEqual(with_plugin[:-1], ours)
        self.assertEqual(with_plugin[-1]["name"], "offset")
        for words in (("formats",), ("help", "uris")):
            text = shell.one_line(self.ok(*words, "--plugin", self.plugin).decode())
            for part in ("dlrec: rows of bytes", "labels=none|sum sum: a field label", "(default none)", "xor:// files"):
                self.assertIn(part, text)
        self.assertIn("offset(value, noise=0)", self.ok("transforms", "--plugin", self.plugin).decode())

    def test_every_command_takes_plugins_and_says_when_one_cannot_be_loaded(self):
        for command in PLUGGED:
            self.assertRegex(self.ok(command, "--help").decode(), r"(?m)^  --plugin PLUGIN ")
            words = ["x"] if command in ("info", "cat", "bench", "preview") else ["bash"] if command == "completion" else []
            self.fails(1, command, *words, "--plugin", "/no/such.so", says="/no/such.so")
        self.fails(1, "formats", "--plugin", "surely_not_there", says="libdataline-surely_not_there.so")
        self.fails(2, "formats", "--plugin", says="--plugin needs a value")

    def test_the_linkers_words_name_the_library_once_and_ours_has_its_script(self):
        self.write("short.so", "abc")
        for name, plugin in (("libdataline-parquet.so", "parquet"), ("./short.so", "./short.so"), ("/no/such.so", "/no/such.so")):
            ran = self.fails(1, "formats", "--plugin", plugin, says=name)
            self.assertEqual(ran.err.count(name), 1, ran.err)
            self.assertEqual("plugins/parquet/build.sh builds it" in ran.err, plugin == "parquet", ran.err)

    def test_several_plugins_are_loaded_in_order_and_a_second_of_a_name_is_refused(self):
        self.fails(1, "formats", "--plugin", self.plugin, "--plugin", self.plugin, says="'dlrec' already exists")

    def test_a_name_is_looked_for_as_the_dynamic_linker_does(self):
        folder = os.path.dirname(self.plugin)
        env = {**os.environ, "LD_LIBRARY_PATH": folder}
        self.assertIn(b"dlrec: ", self.ok("formats", "--plugin", "samples", env=env))

    def test_a_plugin_that_was_cut_is_an_error_also_where_the_linker_finds_it(self):
        with open(self.plugin, "rb") as file:
            content = file.read()
        self.write("libdataline-cut.so", content[: len(content) // 2])
        self.fails(1, "formats", "--plugin", self.path("libdataline-cut.so"), says="the library is truncated")
        env = {**os.environ, "LD_LIBRARY_PATH": self.folder}
        self.fails(1, "formats", "--plugin", "cut", env=env, says="the library is truncated")

    def test_a_plugin_whose_end_was_never_written_is_an_error(self):
        with open(self.plugin, "rb") as file:
            content = file.read()
        half = len(content) // 2
        self.write("libdataline-zeros.so", content[:half] + bytes(len(content) - half))
        self.fails(1, "formats", "--plugin", self.path("libdataline-zeros.so"), says="libdataline-zeros.so: ends in zeros")

    def test_a_plugin_that_ends_a_call_unasked_is_named(self):
        words = ("--plugin", shell.ENDS_CALLS)
        for command in ("info", "cat", "verify"):
            self.fails(1, command, "cancels:x", *words,
                       says="format 'cancels': open returned DL_CANCELLED .4., but nothing was cancelled")
        for workers in ("0", "1"):
            self.fails(1, "cat", "interrupts:x", "--num_workers", workers, *words, says="returned DL_READER_INTERRUPTED")
        self.fails(1, "verify", "interrupts:x", *words, says="DL_READER_INTERRUPTED")

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_completion_offers_files_for_a_plugin(self):
        self.write("script", self.ok("completion", "bash"))
        self.write("mine.so", "")
        program = 'source ./script; COMP_WORDS=(dataline info --plugin mi); COMP_CWORD=3; _dataline; echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", program], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("mine.so\n", ""))


if __name__ == "__main__":
    shell.main()
