"""A part that is built fails when its build reads a file that is not declared for it; one that is not built there, when it opens one.

SPDX-License-Identifier: Apache-2.0
"""

import json

import isolate
from part import Part
from testing import TreeCase, write

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(tiny LANGUAGES C)
enable_testing()
add_executable(tests_tiny tiny.c)
target_include_directories(tests_tiny PRIVATE ${PROJECT_SOURCE_DIR})
add_test(NAME tiny COMMAND tests_tiny)
set_tests_properties(tiny PROPERTIES LABELS tiny)
"""
PRESETS = {
    "version": 3,
    "configurePresets": [{"name": "tiny", "generator": "Ninja", "binaryDir": "${sourceDir}/build/tiny"}],
    "buildPresets": [{"name": "tiny", "configurePreset": "tiny"}],
    "testPresets": [{"name": "tiny", "configurePreset": "tiny"}],
}


class Built(TreeCase):
    def setUp(self):
        super().setUp()
        write(self.root, {"CMakeLists.txt": PROJECT, "CMakePresets.json": json.dumps(PRESETS),
                          "tiny.c": '#include "near/near.h"\nint main(void) { return NEAR; }\n',
                          "near/near.h": "#define NEAR 0\n", "hidden/hidden.h": "#define HIDDEN 0\n"})
        self.part = Part("tiny/tests", inputs=("CMakeLists.txt", "CMakePresets.json", "tiny.c", "near"), preset="tiny", targets=("tests_tiny",),
                         labels=("tiny",), tools=())

    def run_it(self):
        made = self.runner()
        made.run([self.part])
        return made

    def test_a_hidden_include_fails_the_part_and_a_declared_one_runs_it_again(self):
        self.assertEqual(self.run_it().results[0].verdict, "passed", self.told)
        self.assertEqual(self.run_it().results, [])
        write(self.root, {"near/planted.h": "", "near/near.h": '#include "planted.h"\n#define NEAR 0\n'})
        self.assertEqual(self.run_it().results[0].verdict, "passed", self.told)
        write(self.root, {"near/near.h": '#include "hidden/hidden.h"\n#define NEAR HIDDEN\n'})
        result = self.run_it().results[0]
        self.assertEqual(result.failed, 1)
        self.assertIn("hidden/hidden.h", result.lines)
        self.assertEqual(len(self.run_it().results), 1)  # and is not stored

    def test_isolation_refuses_an_include_that_is_not_declared(self):
        self.assertTrue(isolate.passes(self.runner(), self.part), self.told)
        write(self.root, {"near/near.h": '#include "hidden/hidden.h"\n#define NEAR HIDDEN\n'})
        self.assertFalse(isolate.passes(self.runner(), self.part))


class Scripts(TreeCase):
    def test_isolation_refuses_a_data_file_that_is_not_declared(self):
        write(self.root, {"input": "1", "hidden": "1"})
        self.assertTrue(isolate.passes(self.runner(), self.script("cat input")))
        self.assertFalse(isolate.passes(self.runner(), self.script("cat input hidden")))
        self.assertTrue(isolate.passes(self.runner(), self.script("cat input hidden", assumes=("hidden",))))

    def test_isolation_has_the_data_that_is_declared_and_no_other(self):
        write(self.folder, {"data/mnist/images": "1", "data/text/words": "1"})
        part = self.script("cat ../shared/data/mnist/images && ! test -e ../shared/data/text", inputs=("data:mnist",))
        environment = {"DATALINE_SHARED_DATA": str(self.folder / "data")}
        self.assertTrue(isolate.passes(self.runner(environment=environment), part), self.told)
