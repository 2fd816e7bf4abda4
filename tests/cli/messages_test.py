"""What goes to standard error: errors as JSON, --quiet and --verbose; and `dataline` alone.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import subprocess

import shell
from shell import ShellTest

ERROR_KEYS = ["message", "code", "exit", "os_error", "option", "text", "column", "sample", "epoch", "step"]


class Alone(ShellTest):
    def test_it_is_the_help_on_standard_error_and_2(self):
        ran = self.run_shell()
        self.assertEqual((ran.status, ran.out), (2, b""))
        self.assertEqual(ran.err, self.ok("--help").decode())


class Json(ShellTest):
    def error(self, status, *words, **keywords):
        ran = self.run_shell(*words, "--json", **keywords)
        self.assertEqual((ran.status, ran.out), (status, b""), ran.args)
        self.assertEqual(len(ran.err.splitlines()), 1, ran.err)
        error = json.loads(ran.err)["error"]
        self.assertEqual(list(error), ERROR_KEYS)
        self.assertEqual(error["exit"], status)
        return {key: value for key, value in error.items() if value is not None and key not in ("message", "exit")}

    def test_errors_are_one_object_on_standard_error(self):
        self.digits(5)
        self.assertEqual(self.error(2, "infoo"), {"code": "usage"})
        self.assertEqual(self.error(2, "info"), {"code": "usage"})
        self.assertEqual(self.error(1, "info", "nowhere.npy"), {"code": "DL_ERR_NOT_FOUND", "os_error": 2})
        self.assertEqual(self.error(1, "cat", "idx:images", "--load-state", "nowhere"), {"code": "system", "os_error": 2})
        self.assertEqual(self.error(2, "bench", "idx:images", "--batch-size", "0"),
                         {"code": "DL_ERR_BAD_OPTION", "option": "batch_size"})
        self.assertEqual(self.error(2, "cat", "idx:images", "--transform", "cast(f33)"),
                         {"code": "DL_ERR_BAD_TRANSFORM", "text": "cast(f33)", "column": 6})
        self.assertEqual(self.error(2, "options", "lenght"), {"code": "usage"})

    def test_a_bad_sample_has_its_place(self):
        uri, _, _ = self.labelled(10)
        found = self.error(1, "cat", uri, "--field", "label", "--batch-size", "1", "-o", "out", "--transform", "label: one_hot(2)")
        self.assertEqual(found, {"code": "DL_ERR_BAD_SAMPLE", "sample": 2, "epoch": 0, "step": 2})

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            ran = self.run_shell("options", "--json", stdout=full)
        self.assertEqual((ran.status, json.loads(ran.err)["error"]["os_error"]), (1, 28))

    def test_names_that_are_no_utf8_give_valid_json(self):
        ran = self.run_shell("info", b"./a\xff\n", "--json")
        self.assertIn("no such file", json.loads(ran.err)["error"]["message"])

    def test_notes_are_lines_of_json_too(self):
        self.digits(5)
        ran = self.run_shell("info", "idx:images", "--json", "--verbose")
        json.loads(ran.out)
        self.assertIn("format idx, 5 samples", json.loads(ran.err.splitlines()[0])["message"])


class QuietAndVerbose(ShellTest):
    def test_verbose_says_what_was_decided(self):
        self.write("t.bin", bytes(4000))
        ran = self.run_shell("cat", "tokens:t.bin?length=10", "--field", "x", "-v", "-o", "out", "--transform", "x: cast(i64)")
        self.assertEqual(ran.status, 0)
        for part in ("dataline: tokens:t.bin?length=10: format tokens, 199 samples\n", "note: ", "assumed",
                     "loader: 7 steps per epoch, num_workers ", "device cpu", "plan: x on cpu: cast(i64)"):
            self.assertIn(part, ran.err)

    def test_quiet_leaves_errors_alone(self):
        uri, _, _ = self.labelled(10)
        words = ("cat", uri, "--field", "image", "-o", "out", "--on-error", "replace", "--transform", "label: one_hot(9)")
        self.assertIn("1 bad sample", self.run_shell(*words).err)
        self.ok(*words, "--quiet")
        self.fails(1, "info", "nowhere.npy", "-q", says="no such file")

    def test_both_are_of_every_command(self):
        self.digits(3)
        for words in (["info", "idx:images"], ["show", "idx:images"], ["cat", "idx:images"], ["bench", "idx:images", "--seconds", "0.05"],
                      ["preview", "idx:images", "-o", "a.png"], ["options"], ["transforms"], ["formats"], ["version"],
                      ["completion", "bash"]):
            self.ok(*words, "--quiet")
            self.assertEqual(self.run_shell(*words, "--verbose").status, 0)
            self.fails(2, *words, "-q", "-v", says="--quiet and --verbose contradict each other")


class OneName(ShellTest):
    def test_every_option_is_explained(self):
        for row in json.loads(self.ok("options", "--json")):
            self.assertEqual(json.loads(self.ok("options", row["key"], "--json")), row)
            text = self.ok("options", row["key"].replace("_", "-")).decode()
            for part in (row["key"], "default", row["since"], f"--{row['key'].replace('_', '-')}"):
                self.assertIn(part, text)

    def test_the_examples_of_operators_are_right(self):
        self.npy("a.npy", "|u1", (2, 256, 256, 3), bytes(2 * 256 * 256 * 3))
        for row in json.loads(self.ok("transforms", "--json")):
            self.assertEqual(json.loads(self.ok("transforms", row["name"], "--json")), row)
            text = self.ok("transforms", row["name"]).decode()
            example = text.split("--transform '")[1].split("'\n")[0]
            self.assertTrue(example.startswith(row["name"]))
            ran = self.run_shell("info", "npy:a.npy?axes=HWC", "--plan", "--transform", example)
            if row["name"] not in ("decode", "mixup", "cutmix", "one_hot", "pad_to", "reshape"):  # of other fields
                self.assertEqual((ran.status, ran.err), (0, ""))
            self.assertNotIn("expected a value", ran.err)

    def test_formats_and_unknown_names(self):
        rows = json.loads(self.ok("formats", "--json"))["formats"]
        for row in rows:
            self.assertEqual(json.loads(self.ok("formats", row["name"], "--json")), row)
            self.assertIn("dataline info", self.ok("formats", row["name"]).decode())
        for words, says in ((["options", "batch_sise"], "no option 'batch_sise', did you mean 'batch_size'"),
                            (["transforms", "resise"], "no operator 'resise', did you mean 'resize'"),
                            (["transforms", "v2.Resize"], "no operator 'v2.Resize', did you mean 'resize'"),
                            (["transforms", "RandomHorizontalFlip"], "did you mean 'hflip'"),
                            (["formats", "tokes"], "no format 'tokes', did you mean 'tokens'")):
            self.fails(2, *words, says=says)
        self.fails(2, "options", "seed", "epochs", says="'epochs' is one word too many")


class Manual(ShellTest):
    def pages(self):
        names = ["", *(line.split()[0] for line in self.ok("--help").decode().splitlines() if line.startswith("  "))]
        return {name: self.ok("help", "--man", *([name] if name else [])) for name in names}

    def test_every_command_has_a_page_that_renders_without_a_warning(self):
        for name, page in self.pages().items():
            self.assertTrue(page.startswith(b".TH DATALINE"))
            try:
                done = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, check=True,
                                      env={**os.environ, "GROFF_NO_SGR": "1"})
            except FileNotFoundError:
                self.skipTest("no groff here")
            self.assertEqual(done.stderr, b"", name)
            self.assertIn(f"dataline {name}".encode().strip(), done.stdout)

    def test_a_page_has_every_flag_of_the_help(self):
        for name in ("cat", "show", "info"):
            page = self.ok("help", "--man", name).decode().replace("\\-", "-")
            for line in self.ok(name, "--help").decode().splitlines():
                if line.lstrip().startswith("-") and line.startswith("  -"):
                    self.assertIn(line.split("--")[1].split()[0], page)

    def test_pages_and_completions_are_installed_where_they_are_looked_for(self):
        build = os.path.dirname(os.path.dirname(shell.PROGRAM))
        if not shutil.which("cmake") or not os.path.exists(f"{build}/bindings/cli/cmake_install.cmake"):
            self.skipTest("no cmake or no build folder here")
        shutil.rmtree(f"{build}/bindings/cli/share", ignore_errors=True)  # as where only the program was built
        subprocess.run(["cmake", "--install", build, "--component", "tools", "--prefix", self.path("i")], check=True, capture_output=True)
        self.assertEqual(self.read("i/share/man/man1/dataline-cat.1"), self.ok("help", "--man", "cat"))
        self.assertEqual(sorted(os.listdir(self.path("i/share/man/man1"))),
                         sorted(f"dataline{'-' if name else ''}{name}.1" for name in self.pages()))
        for name, file in (("bash", "bash-completion/completions/dataline"), ("zsh", "zsh/site-functions/_dataline"),
                           ("fish", "fish/vendor_completions.d/dataline.fish")):
            self.assertEqual(self.read(f"i/share/{file}"), self.ok("completion", name))

    def test_help_of_what_is_no_command(self):
        self.fails(2, "help", "--man", "cta", says="did you mean 'cat'")


if __name__ == "__main__":
    shell.main()
