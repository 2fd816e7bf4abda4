"""What counts as a part's input.

SPDX-License-Identifier: Apache-2.0
"""

import shutil

from testing import TreeCase, write


class Digests(TreeCase):
    def setUp(self):
        super().setUp()
        write(self.root, {"core/a.cpp": "int a;\n", "core/b.h": "struct B { std::mutex m; };\n", "core/c.cpp": "std::atomic<int> c;\n",
                          "core/README.md": "text\n", "docs/page.md": "text\n"})

    def changes(self, patterns, files):
        """Whether writing the files changes the digest of the patterns."""
        before = self.tree().digest(patterns)
        write(self.root, files)
        return self.tree().digest(patterns) != before

    def test_a_planted_header_in_a_declared_folder_changes_the_digest(self):
        self.assertTrue(self.changes(["core"], {"core/hidden.h": "int hidden;\n"}))

    def test_a_file_outside_the_patterns_does_not_count(self):
        self.assertFalse(self.changes(["core"], {"docs/page.md": "other\n"}))

    def test_a_folder_is_not_a_prefix_of_a_name(self):
        self.assertFalse(self.changes(["core"], {"core2/a.cpp": "int b;\n"}))

    def test_the_last_pattern_that_matches_decides(self):
        self.assertFalse(self.changes(["core", "!core/*.md"], {"core/README.md": "other\n"}))
        self.assertTrue(self.changes(["!core/*.md", "core"], {"core/README.md": "another\n"}))

    def test_names_count_without_content(self):
        self.assertFalse(self.changes(["names:core"], {"core/a.cpp": "int other;\n"}))
        self.assertTrue(self.changes(["names:core"], {"core/new.cpp": ""}))

    def test_of_a_room_without_threads_headers_and_what_mentions_threads_count(self):
        self.assertFalse(self.changes(["threads:core"], {"core/a.cpp": "int other;\n"}))
        self.assertTrue(self.changes(["threads:core"], {"core/b.h": "struct B {};\n"}))
        self.assertTrue(self.changes(["threads:core"], {"core/c.cpp": "std::atomic<long> c;\n"}))
        self.assertTrue(self.changes(["threads:core"], {"core/a.cpp": "mutable int a;\n"}))
        self.assertTrue(self.changes(["threads:core"], {"core/d.cpp": ""}))

    def test_what_git_ignores_does_not_count(self):
        self.assertFalse(self.changes(["*"], {"build/made.h": "int made;\n"}))

    def test_the_right_to_execute_counts(self):
        before = self.tree().digest(["core"])
        (self.root / "core/a.cpp").chmod(0o755)
        self.assertNotEqual(self.tree().digest(["core"]), before)

    def test_the_place_of_the_checkout_does_not_count(self):
        other = self.folder / "elsewhere" / "clone"
        shutil.copytree(self.root, other)
        self.assertEqual(self.tree().digest(["*"]), self.tree(other).digest(["*"]))

    def test_a_tree_without_git_has_the_same_files(self):
        before = self.tree().digest(["*"])
        write(self.root, {"build/made.h": ""})
        shutil.rmtree(self.root / ".git")
        self.assertEqual(self.tree().digest(["*"]), before)

    def test_a_planted_file_of_data_changes_the_digest(self):
        before = self.tree().digest(["data:mnist"])
        write(self.folder, {"data/mnist/images": "bytes"})
        with_data = self.tree().digest(["data:mnist"])
        self.assertNotEqual(with_data, before)
        write(self.folder, {"data/mnist/hidden": "bytes"})
        self.assertNotEqual(self.tree().digest(["data:mnist"]), with_data)
