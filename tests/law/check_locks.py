"""The lock rules of core/base/thread_mutex.h, as clang checks them: the rooms that have any compile without a
warning of -Wthread-safety.

  check_locks.py ROOT CLANG              checks core/base, core/batch and core/loader
  check_locks.py --self-test ROOT CLANG  proves that broken rules are found

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import tree

ROOMS = ("core/base", "core/batch", "core/loader")
FLAGS = ("-std=gnu++20", "-fsyntax-only", "-Wthread-safety", "-Wthread-safety-beta")

PRELUDE = """#include "core/base/thread_mutex.h"
struct Counter {
  dataline::ThreadMutex mutex;
  int count DL_GUARDED_BY(mutex) = 0;
  void add() DL_REQUIRES(mutex) { ++count; }
  void add_locked() DL_EXCLUDES(mutex) { dataline::ThreadLock lock(mutex); add(); }
};
"""
BROKEN = {
    "nothing": ("void use(Counter& c) { c.add_locked(); }", 0),
    "a member read without its lock": ("int use(Counter& c) { return c.count; }", 1),
    "a function called without its lock": ("void use(Counter& c) { c.add(); }", 1),
    "a lock taken twice": ("void use(Counter& c) { dataline::ThreadLock lock(c.mutex); c.add_locked(); }", 1),
    "a lock kept": ("void use(Counter& c) { c.mutex.lock(); c.add(); }", 1),
    "given back too early": ("void use(Counter& c) { dataline::ThreadLock lock(c.mutex); lock.unlock(); c.add(); }", 1),
}


def warnings(root, clang, path):
    made = subprocess.run([clang, *FLAGS, f"-I{root}", path], capture_output=True, text=True, check=False)
    lines = [line for line in made.stderr.splitlines() if "-Wthread-safety" in line or " error: " in line]
    return lines or ([made.stderr.strip()] if made.returncode else [])


def check(root, clang):
    # Those of Windows need its headers; they hold no lock of ours.
    sources = [pathlib.Path(root, path) for path in tree.files(root, {".cpp"}, ROOMS) if not path.stem.endswith("_windows")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(lambda path: warnings(root, clang, path), sources) for line in lines]
    print(f"{len(sources)} sources")
    return found


def self_test(root, clang):
    with tempfile.TemporaryDirectory() as folder:
        for name, (code, expected) in BROKEN.items():
            path = pathlib.Path(folder, "case.cpp")
            path.write_text(PRELUDE + code + "\n", encoding="utf-8")
            found = warnings(root, clang, path)
            if bool(found) != bool(expected):
                sys.exit(f"{name}: expected {'a warning' if expected else 'none'}, got {found}")
    print(f"{len(BROKEN)} cases")
    sys.exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test(sys.argv[2], sys.argv[3])
    tree.report(check(sys.argv[1], sys.argv[2]), "lock rules")
