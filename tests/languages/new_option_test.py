"""A new option of the library reaches each language with no edit there.

  new_option_test.py LIBRARY_FOLDER NAME=COMMAND...

The new option is an old one under another name: a copy of libdataline.so in which the key `prefetch_depth` is spelt
`novel_settings`. A program that knew keys by itself would refuse the new word or take the old one. The commands are the chain
programs (examples/README.md), their words apart by spaces; they find the copy by LD_LIBRARY_PATH and DATALINE_LIB_DIR, or
have it loaded already (LD_PRELOAD): a Python wheel looks for no other library than its own.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

OLD, NEW = b"prefetch_depth", b"novel_settings"
NPY = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }".ljust(117) + b"\n" + bytes(4)


def respelt(library, folder):
    """`library` with the other word, under all names it is looked for by; returns the one that programs are linked to."""
    code = library.read_bytes()
    if code.count(OLD + b"\0") == 0:
        raise SystemExit(f"{library}: has no key {OLD.decode()}")
    copy = folder / library.resolve().name
    copy.write_bytes(code.replace(OLD + b"\0", NEW + b"\0"))
    soname = next(path.name for path in sorted(library.parent.glob("libdataline.so.*")) if path.name.count(".") == 2)
    for name in ("libdataline.so", soname):
        if name != copy.name:
            (folder / name).symlink_to(copy.name)
    return folder / soname


def run(command, folder, library, setting):
    words = [*command, f"npy:{folder / 'data.npy'}", "-", "-", "1", "data", setting]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "DATALINE_LIB_DIR": str(folder),
                   "LD_PRELOAD": str(library)}
    return subprocess.run(words, capture_output=True, env=environment, check=False)


def check(command, folder, library):
    """What is wrong, or nothing."""
    new = run(command, folder, library, f"{NEW.decode()}=3")
    if new.returncode or new.stdout != bytes(4):
        return f"refuses the new option: {new.stderr.decode(errors='replace')}"
    unfit = run(command, folder, library, f"{NEW.decode()}=many").stderr.decode(errors="replace")
    if NEW.decode() not in unfit:
        return f"does not say what is wrong with the new option: {unfit}"
    old = run(command, folder, library, f"{OLD.decode()}=3")
    if not old.returncode or OLD.decode() not in old.stderr.decode(errors="replace"):
        return f"still knows the old word: {old.stderr.decode(errors='replace')}"
    return ""


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library = respelt(pathlib.Path(sys.argv[1]) / "libdataline.so", folder)
        (folder / "data.npy").write_bytes(NPY)
        for argument in sys.argv[2:]:
            language, _, command = argument.partition("=")
            wrong = check(shlex.split(command), folder, library)
            failed += bool(wrong)
            print(f"{'FAILED' if wrong else 'ok'}: {language}: {wrong or 'takes the new option and refuses the old word'}")
    print(f"{len(sys.argv) - 2 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
