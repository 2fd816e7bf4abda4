"""What the scripts that make golden vectors share: NAME.txt and NAME.bin beside this file, and how they are checked.

NAME.txt has a line a case: operator, its arguments, the input's name ("-" for an input itself), shape HxWxC, and numbers where
the case is no picture (its shape is 0x0x0); NAME.bin the pixels of all cases one after the other, interleaved. golden.h reads them.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INSTALLED = HERE.parents[2] / "build" / "peers" / "torch" / "bin" / "python"


def use_installed(missing):
    """Goes on under the Python of bench/peers/setup.sh, where torchvision and Pillow are; without it the check is skipped."""
    if INSTALLED.exists() and "DATALINE_TEST_PYTHON" not in os.environ:
        os.execve(INSTALLED, [str(INSTALLED), *sys.argv], {**os.environ, "DATALINE_TEST_PYTHON": "tried"})
    print(f"skipped: {missing} is not installed for any Python here (bench/peers/setup.sh torch)")
    sys.exit(77)


class Vectors:
    def __init__(self):
        self.lines, self.pixels = [], []

    def add(self, operator, arguments, name, image):
        shape = "x".join(str(side) for side in image.shape)
        self.lines.append(" ".join([operator, ",".join(str(a) for a in arguments) or "-", name, shape]))
        self.pixels.append(image.tobytes())

    def add_numbers(self, operator, arguments, values):
        self.lines.append(" ".join([operator, ",".join(str(a) for a in arguments), "-", "0x0x0",
                                    ",".join(float(value).hex() for value in values)]))

    def write(self, folder, name):
        (folder / f"{name}.txt").write_text("\n".join(self.lines) + "\n")
        (folder / f"{name}.bin").write_bytes(b"".join(self.pixels))


def check(name, make, tests):
    same = True
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        make(False).write(folder, name)
        for suffix in (".txt", ".bin"):
            same &= (folder / (name + suffix)).read_bytes() == (HERE / (name + suffix)).read_bytes()
        print(f"golden vectors {name}:", "as they are made here" if same else "DIFFERENT", flush=True)
        make(True).write(folder, name)
        for test in tests:
            same &= subprocess.run([test], env={**os.environ, "DATALINE_GOLDEN": text}, check=False).returncode == 0
    return 0 if same else 1


def main(name, make):
    """make(large) gives the Vectors; without arguments they are written beside this file, with --check TEST... compared."""
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(name, make, sys.argv[2:]))
    make(False).write(HERE, name)
