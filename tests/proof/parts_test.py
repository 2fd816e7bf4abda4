"""The table of parts: each pattern means something, and no room and no folder of tests is forgotten.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import unittest

import cpp_parts
import inputs
import parts

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = inputs.Tree(ROOT)


class Table(unittest.TestCase):
    def test_names_differ(self):
        names = [part.name for part in parts.PARTS]
        self.assertEqual(len(names), len(set(names)))

    def test_every_pattern_matches_a_file(self):
        for part in parts.PARTS:
            for text in part.inputs + part.assumes + part.runner:
                pattern = inputs.Pattern(text)
                if pattern.kind != "data" and not pattern.drops:
                    self.assertTrue(pattern.among(TREE.names), f"{part.name}: {text}")

    def test_every_part_but_those_always_run_has_inputs(self):
        for part in parts.PARTS:
            self.assertEqual(part.always, not part.inputs, part.name)

    def test_a_room_is_under_the_address_sanitizer_everyday(self):
        self.assertEqual(set(cpp_parts.ROOMS), set(cpp_parts.check_includes.ROOMS))
        self.assertLessEqual(set(cpp_parts.ROOMS), set(cpp_parts.EVERYDAY["asan"]))

    def test_long_runs_every_folder_in_release(self):
        text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
        named = re.search(r"foreach\(folder ([^)]*)\)", text).group(1).split()
        known = {folder.path or folder.name for name, folder in cpp_parts.FOLDERS.items()
                 if name in cpp_parts.EVERYDAY["release"] + cpp_parts.LONG["release"]}
        self.assertEqual(set(named) - known, {"windows"})  # tests/windows.sh

    def test_a_room_counts_in_the_parts_of_those_that_may_include_it(self):
        def counted(part, name):
            return TREE.chosen(part.inputs).get(name)

        by_name = {part.name: part for part in parts.PARTS}
        self.assertEqual(counted(by_name["asan/loader"], "core/source/uri.cpp"), "content")
        self.assertEqual(counted(by_name["tsan/loader"], "core/source/uri.cpp"), "names")
        self.assertEqual(counted(by_name["tsan/loader"], "core/source/source.h"), "content")
        self.assertIsNone(counted(by_name["asan/order"], "core/source/uri.cpp"))
        self.assertIsNone(counted(by_name["bindings/rust"], "core/source/uri.cpp"))
        self.assertEqual(counted(by_name["languages"], "core/source/uri.cpp"), "content")
        self.assertIsNone(counted(by_name["release/cli"], "docs/releasing.md"))
        for part in ("bare", "bench", "release/packaging"):
            self.assertEqual(counted(by_name[part], "core/cmake/dataline_compile.cmake"), "content", part)
            self.assertEqual(counted(by_name[part], "core/order/CMakeLists.txt"), "content", part)
            self.assertEqual(counted(by_name[part], "core/order/feistel_simd.cpp"), "names", part)

    def test_a_change_of_a_page_runs_the_docs_alone_of_what_is_slow(self):
        name = "docs/pages/limits.md"
        reached = {part.name for part in parts.PARTS if not part.long and TREE.chosen(part.inputs).get(name) == "content"}
        self.assertEqual(reached, {"docs/site", "docs/code"})

    def test_a_change_of_the_loader_runs_no_gate(self):
        name = "core/loader/delivery.cpp"
        reached = {part.name for part in parts.PARTS if not part.long and TREE.chosen(part.inputs).get(name) == "content"}
        self.assertLessEqual({"asan/loader", "tsan/loader", "interleave/loader", "release/cli", "languages", "launch"}, reached)
        gates = {"bindings/rust", "release/headers", "release/packaging", "release/examples", "examples", "docs/site", "docs/code", "bare", "bench"}
        self.assertFalse(reached & gates)
