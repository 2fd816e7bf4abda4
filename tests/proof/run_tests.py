"""Runs the tests of the proof itself: *_test.py of this folder. The last line is `N passed, N failed, N skipped`.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent


def main():
    suite = unittest.defaultTestLoader.discover(str(FOLDER), pattern="*_test.py", top_level_dir=str(FOLDER))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed or not result.testsRun else 0


sys.exit(main())
