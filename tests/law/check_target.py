"""What the code assumes of a target (core/base/target.cpp) stops a build that breaks it, by name. The compiler at hand is told that
it compiles for another machine: for each assumption, its own words must be in the error.

  check_target.py ROOT COMPILER [FLAG...]     the compiler may be several words: "ccache c++"

SPDX-License-Identifier: Apache-2.0
"""

import subprocess
import sys

import tree


def redefined(name, value):
    return [f"-U{name}", f"-D{name}={value}"]


# (what the machine is, how the compiler is told, what the error names; "" for a target that compiles)
TARGETS = [
    ("this machine", [], ""),
    ("big-endian", redefined("__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__"), "a little-endian target is needed"),
    ("32-bit", redefined("__SIZEOF_POINTER__", "4"), "a 64-bit target is needed"),
    ("bytes of 16 bits", redefined("__CHAR_BIT__", "16"), "bytes of 8 bits are needed"),
    ("no 64-bit atomics", redefined("__GCC_ATOMIC_LLONG_LOCK_FREE", "1"), "lock-free 64-bit atomics are needed"),
    ("another compiler", ["-U__GNUC__"], "gcc or clang is needed"),
]
# The conditions alone: the standard headers of a machine that is not there cannot be read.
CONDITIONS_ALONE = ["-E", "-P"]


def check(root, command):
    found = []
    for machine, flags, words in TARGETS:
        mode = ["-fsyntax-only"] if not words else CONDITIONS_ALONE
        made = subprocess.run([*command, *mode, *flags, "-w", f"-I{root}", "-x", "c++", "-"], input='#include "core/base/target.cpp"\n',
                              capture_output=True, text=True, check=False)
        errors = [line for line in made.stderr.splitlines() if " error: " in line]
        ours = [line for line in errors if "Dataline: " in line]
        if words and not any(words in line for line in ours):
            found.append(f"{machine}: expected '{words}', got {errors or 'no error'}")
        if words and len(ours) > 1:
            found.append(f"{machine}: {len(ours)} assumptions are named, expected one: {ours}")
        if not words and made.returncode:
            found.append(f"{machine}: {made.stderr.strip()}")
    print(f"{len(TARGETS)} targets")
    return found


if __name__ == "__main__":
    tree.report(check(sys.argv[1], sys.argv[2:]), "targets")
