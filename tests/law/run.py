"""The laws that read the tree alone, each after the self-test that proves that it can fail.

  run.py [CHECK...]      all of them, or those named: includes, words, ...

The last line is `N passed, N failed, N skipped`. The laws about objects, headers and symbols need a build: CMakeLists.txt.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

CHECKS = ("includes", "words", "english", "names", "format", "versions", "contributing", "edits")
FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]


def ran(check, argument):
    return subprocess.run([sys.executable, "-B", FOLDER / f"check_{check}.py", argument], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def main():
    jobs = [(check, argument) for check in sys.argv[1:] or CHECKS for argument in ("--self-test", str(ROOT))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda job: ran(*job), jobs))
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for (check, argument), job in zip(jobs, done):
        verdict = {0: "passed", 77: "skipped"}.get(job.returncode, "failed")
        counts[verdict] += 1
        print(f"{verdict}: law_{check}{'_can_fail' if argument == '--self-test' else ''}")
        if verdict != "passed":
            print("\n".join(f"  {line}" for line in job.stdout.splitlines()[-40:]))
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(1 if counts["failed"] else 0)


main()
