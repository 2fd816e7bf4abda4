"""Runs a kept program against a library: run.py PROGRAM LIBRARY_FOLDER [api.json]

With api.json the program has to call every stable function that it describes. Exit status 77: not for this machine.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import platform
import struct
import subprocess
import sys
import tempfile

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine in an ELF header
INLINE = {"dl_view_at", "dl_reader_cell_at"}  # in the header, not in the library


def machine_of(program):
    """The machine an ELF file is for."""
    with program.open("rb") as file:
        head = file.read(20)
    if head[:5] != b"\x7fELF\x02":
        sys.exit(f"{program} is no 64-bit ELF file")
    return MACHINES.get(struct.unpack_from("<H", head, 18)[0], "?")


def missing_calls(program, api):
    """Stable functions that the program does not call."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, check=True, text=True).stdout
    called = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    functions = json.loads(api.read_text(encoding="utf-8"))["functions"]
    return {f["name"] for f in functions if not f.get("unstable")} - called - INLINE


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if machine_of(program) != platform.machine():
        print(f"skipped: {program.name} is for {machine_of(program)}, this is {platform.machine()}")
        return 77
    if len(sys.argv) > 3 and (missing := missing_calls(program, pathlib.Path(sys.argv[3]))):
        print(f"{program.name} does not call {', '.join(sorted(missing))}")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "LD_BIND_NOW": "1"}
        return subprocess.run([program], cwd=scratch, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
