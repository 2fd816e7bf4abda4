"""info, options, transforms, version, completion and help: what they say, and that it comes from the library's tables.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import shutil
import subprocess
import unittest

import shell
from shell import ShellTest

OPTION_KEYS = ["key", "type", "default", "min", "max", "unit", "scope", "doc", "since"]
COMMANDS = ["info", "show", "preview", "cat", "verify", "bench", "report", "doctor", "options", "transforms", "formats", "version", "completion"]


class Uris(ShellTest):
    def test_help_names_every_scheme_and_key_that_the_library_knows_and_no_other(self):
        text = self.ok("help", "uris").decode()
        refused = self.fails(2, "info", "nonsense:x", says="the schemes are").err
        schemes = refused.split("the schemes are ")[1].split(" (")[0].split()
        self.assertGreater(len(schemes), 8)
        shown = {}
        for block in text.split("\n\n")[2:]:
            head, *lines = block.splitlines()
            shown[head.split(":")[0]] = {line.split("=")[0].strip() for line in lines
                                         if line[:4] == "    " and line[4] != " "}
        self.assertEqual(sorted(shown), sorted(schemes))
        for scheme in schemes:
            line = self.fails(2, "info", f"{scheme}:x?zzzzzzzz=1", says="no key 'zzzzzzzz'").err.splitlines()[0]
            self.assertEqual(shown[scheme], set(line.split("(keys: ")[1].rstrip(")").split(", ")), scheme)

    def test_formats_end_with_the_fields_that_their_sets_have(self):
        docs = {row["name"]: row["doc"] for row in json.loads(self.ok("formats", "--json"))["formats"]}
        self.npy("a.npy", "|u1", (1,), b"\0")
        self.digits(1)
        self.write("t.bin", bytes(4000))
        os.makedirs(self.path("pets/cats"))
        self.write("pets/cats/1.jpg", "x")
        for uri, fields in {"npy:a.npy": "Field: data", "idx:images": "Field: data",
                            "raw:t.bin?dtype=u8": "Field: data, or the fields of the key `fields`",
                            "tokens:t.bin?length=10": "Fields: x, and y = x shifted by one",
                            "folder:pets": "Fields: image (encoded), label"}.items():
            self.assertRegex(docs[uri.split(":")[0]], rf"\. {re.escape(fields)}$")
            for field in json.loads(self.ok("info", uri, "--json"))["fields"]:
                self.assertIn(field["name"], re.findall(r"\w+", fields), uri)
        for scheme, fields in {"mnist": "image, label", "cifar10": "image, label", "cifar100": "image, label, coarse"}.items():
            self.assertRegex(docs[scheme], rf"\. Fields: {fields}$")
        self.assertIn(". Fields: one per extension ", docs["tar"])
        self.assertRegex(docs["megatron"], r"\. Field: tokens$")
        self.assertIn(". Fields: the values by name", docs["jsonl"])
        self.assertRegex(docs["arrow"], r"\. Fields: the columns, leaves of structs as struct/leaf$")
        self.assertRegex(docs["mds"], r"\. Fields: the columns$")
        self.assertRegex(docs["litdata"], r"\. Fields: the values of the items, or tokens$")
        self.assertRegex(docs["npz"], r"\. Fields: one per array$")
        self.assertRegex(docs["safetensors"], r"\. Fields: one per tensor$")
        self.assertRegex(docs["tfrecord"], r"\. Fields: the features of tf\.train\.Example records, or data$")

    def test_help_of_commands_and_wrong_uris_lead_there(self):
        self.assertIn(b"dataline help uris", self.ok("--help"))
        for command in ("info", "cat", "bench", "preview", "show"):
            self.assertIn(b"`dataline help uris`", self.ok(command, "--help"))


class Info(ShellTest):
    def info(self, *args):
        return json.loads(self.ok("info", *args, "--json"))

    def test_json_has_exactly_the_agreed_keys(self):
        self.digits(5)
        info = self.info("idx:images")
        self.assertEqual(list(info), ["format", "uri", "samples", "notes", "fields", "classes"])
        self.assertIsNone(info["classes"])
        self.assertEqual((info["format"], info["uri"], info["samples"], info["notes"]), ("idx", "idx:images", 5, []))
        self.assertEqual(info["fields"], [{"name": "data", "kind": "dense", "dtype": "u8", "shape": [4, 4], "bytes": 16,
                                           "axes": None}])

    def test_fields_of_one_sample_with_their_axes(self):
        uri, _, _ = self.labelled(3, size=2)
        label, image = self.info(uri)["fields"]
        self.assertEqual(label, {"name": "label", "kind": "dense", "dtype": "u8", "shape": [], "bytes": 1, "axes": None})
        self.assertEqual((image["shape"], image["bytes"]), ([2, 2], 4))
        self.npy("a.npy", "<f4", (3, 2, 2, 3), bytes(3 * 12 * 4))
        self.assertEqual(self.info("npy:a.npy?axes=HWC")["fields"][0]["axes"], "HWC")

    def test_an_assumption_is_a_note(self):
        self.write("t.bin", bytes(4000))
        notes = self.info("tokens:t.bin?length=10")["notes"]
        self.assertTrue(any("assumed" in note for note in notes), notes)

    def test_classes_are_counted_and_named(self):
        for at in range(10):
            os.makedirs(self.path(f"pets/c{at}\x1b"))
            self.write(f"pets/c{at}\x1b/1.jpg", "x")
        self.assertEqual(self.info("pets")["classes"], [f"c{at}\x1b" for at in range(10)])
        text = shell.one_line(self.ok("info", "folder:pets").decode())
        self.assertIn("classes 10: c0\\x1b, c1\\x1b, c2\\x1b, c3\\x1b, c4\\x1b, c5\\x1b, c6\\x1b, c7\\x1b, ...", text)
        self.assertIn("label dense i64 scalar - 8", text)

    def test_a_bare_path_is_detected_and_shown_as_given(self):
        self.digits(2)
        self.assertEqual(self.info("images")["format"], "idx")
        self.assertEqual(self.info("./images")["uri"], "./images")

    def test_a_path_that_is_not_utf8_gives_valid_json(self):
        name = b"a\xff\"\n.npy"
        os.rename(self.path(self.npy("a.npy", "|u1", (1,), b"\0")), os.path.join(self.folder.encode(), name))
        info = json.loads(self.ok("info", b"./" + name, "--json"))
        self.assertEqual(info["uri"], './a�"\n.npy')

    def test_the_table_for_people_names_every_field(self):
        uri, _, _ = self.labelled(1234, size=28)
        text = shell.one_line(self.ok("info", uri).decode())
        for part in ("format raw", "samples 1,234", "label dense u8 scalar - 1", "image dense u8 28x28 - 784"):
            self.assertIn(part, text)

    def test_options_of_datasets_are_taken_and_those_of_loaders_refused(self):
        self.digits(2)
        for io in ("mmap", "pread", "memory"):
            self.assertEqual(self.info("idx:images", "--io", io)["samples"], 2)
        self.fails(2, "info", "idx:images", "--batch_size", "4", says="info does not accept --batch-size.*loader")


class Tables(ShellTest):
    def options(self):
        return json.loads(self.ok("options", "--json"))

    def test_options_have_exactly_the_agreed_keys(self):
        for option in self.options():
            self.assertEqual(list(option), OPTION_KEYS)
            self.assertIn(option["scope"], ("dataset", "loader", "both"))
            self.assertTrue(option["type"] in ("bool", "int", "size", "text", "indices", "weights", "lengths") or "|" in option["type"])
            self.assertTrue(option["doc"] and option["since"], option)
            self.assertTrue(option["default"] is None or isinstance(option["default"], str), option)
            self.assertEqual(option["min"] is None, option["max"] is None)

    def test_the_defaults_are_those_of_the_surface(self):
        by_key = {option["key"]: option for option in self.options()}
        for key, default in {"batch_size": "32", "last_batch": "keep", "shuffle": "none", "seed": "0", "epochs": "0",
                             "num_workers": "auto", "prefetch_depth": "4", "max_leases": "4", "lease_overflow": "copy",
                             "memory_budget": "auto", "io": "auto", "on_error": "raise", "max_bad": "-1"}.items():
            self.assertEqual(by_key[key]["default"], default, key)
        self.assertEqual((by_key["seed"]["min"], by_key["seed"]["max"]), (0, 2**63 - 1))

    def test_no_option_has_a_name_of_the_shells_own_flags(self):
        reserved = ("json field indices batches seconds output save_state load_state plan images sample repeat count help "
                    "version plugin quiet verbose vocabulary man").split()
        self.assertFalse({option["key"] for option in self.options()} & set(reserved))

    def test_tables_for_people_have_every_row(self):
        text = self.ok("options").decode()
        for option in self.options():
            self.assertRegex(text, rf"(?m)^{option['key']} ")
        text = self.ok("transforms").decode()
        for transform in json.loads(self.ok("transforms", "--json")):
            self.assertRegex(text, rf"(?m)^{transform['name']}\b")

    def test_formats_have_exactly_the_agreed_keys(self):
        table = json.loads(self.ok("formats", "--json"))
        self.assertEqual(list(table), ["formats", "storages"])
        for row in table["formats"]:
            self.assertEqual(list(row), ["name", "doc", "keys"])
            for key in row["keys"]:
                self.assertEqual(list(key), ["name", "values", "default", "doc"])
        self.assertIn(self.ok("formats"), self.ok("help", "uris"))

    def test_transforms_have_exactly_the_agreed_keys(self):
        transforms = json.loads(self.ok("transforms", "--json"))
        for transform in transforms:
            self.assertEqual(list(transform), ["name", "arguments", "doc", "source", "since"])
            for argument in transform["arguments"]:
                self.assertEqual(list(argument), ["name", "type", "default"])
        names = {transform["name"] for transform in transforms}
        self.assertLessEqual({"cast", "scale", "normalize", "reshape", "chw", "hwc", "flatten", "pad_to", "one_hot",
                              "random_crop", "center_crop", "hflip"}, names)

    def test_version_has_exactly_the_agreed_keys(self):
        version = json.loads(self.ok("version", "--json"))
        self.assertEqual(list(version), ["version", "abi", "features", "cpu", "gpus", "cuda_driver", "kernels", "why_no_kernels"])
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(version["abi"], 2)
        self.assertGreaterEqual(version["cpu"]["cores"], version["cpu"]["usable_cores"])
        self.assertEqual(version["cpu"]["usable_cores"], len(os.sched_getaffinity(0)))
        self.assertIsInstance(version["gpus"], list)
        self.assertIn(version["version"], self.ok("--version").decode())
        self.assertEqual(self.ok("--version"), self.ok("version"))


class Help(ShellTest):
    def test_help_is_output_not_an_error(self):
        for words in (["--help"], ["-h"], ["help"]):
            text = self.ok(*words).decode()
            for command in COMMANDS:
                self.assertRegex(text, rf"(?m)^  {command}\b")
        for command in COMMANDS:
            text = self.ok(command, "--help")
            self.assertTrue(text.startswith(f"usage: dataline {command}".encode()))
            self.assertEqual(text, self.ok("help", command))
            self.assertEqual(text, self.ok(command, "-h"))

    def test_flags_of_a_command_are_the_library_options_of_its_scope(self):
        options = json.loads(self.ok("options", "--json"))
        for command, scopes in {"info": ("dataset", "both"), "cat": ("dataset", "loader", "both"),
                                "bench": ("dataset", "loader", "both")}.items():
            text = self.ok(command, "--help").decode()
            for option in options:
                wanted = self.assertRegex if option["scope"] in scopes else self.assertNotRegex
                wanted(text, rf"(?m)^  --{option['key'].replace('_', '-')}\b")

    def test_cat_says_its_own_default_of_epochs(self):
        self.assertRegex(shell.one_line(self.ok("cat", "--help").decode()), r"--epochs N [^-]*\(default 1\)")


class Completion(ShellTest):
    def complete(self, *words):
        """What bash offers for the last of `words`."""
        self.write("script", self.ok("completion", "bash"))
        program = ('source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dataline; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", program, "bash", "dataline", *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=shell.SECONDS, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash here")
    def test_bash_offers_commands_flags_and_choices(self):
        self.assertEqual(self.complete("tr"), ["transforms"])
        self.assertEqual(self.complete("cat", "x", "--batch-s"), ["--batch-size"])
        self.assertEqual(self.complete("cat", "x", "--last-batch", ""), ["keep", "drop", "pad"])
        self.assertEqual(self.complete("cat", "x", "--last-batch", "d"), ["drop"])
        self.assertEqual(self.complete("info", "--batch-s"), [])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])
        self.write("state.txt", "")
        self.assertEqual(self.complete("cat", "--load-state", "st"), ["state.txt"])

    def test_every_shell_gets_every_flag(self):
        options = [option["key"].replace("_", "-") for option in json.loads(self.ok("options", "--json"))]
        for name, flag in (("bash", "--{}"), ("zsh", "--{}"), ("fish", "-l {}")):
            script = self.ok("completion", name).decode()
            for key in options:
                self.assertIn(flag.format(key), script)
            self.write("script", script)
            if shutil.which(name):
                subprocess.run([name, "-n", "script"], cwd=self.folder, timeout=shell.SECONDS, check=True)
            else:
                print(f"skipped: {name} is not installed: its completion script was not parsed")

    def test_another_shell_is_refused(self):
        self.fails(2, "completion", "cmd.exe", says="bash, zsh or fish")


if __name__ == "__main__":
    shell.main()
