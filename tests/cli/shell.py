"""What the tests of the shell share: running the program, writing small datasets, and the plain truth about them.

A test script is run as  python3 NAME_test.py PATH_TO_DATALINE SHARED_DATA_DIR [unittest arguments].

SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
SHARED_DATA = ""
SAMPLES = ""  # the plug-in of tests/extensions
ENDS_CALLS = ""  # one whose callbacks end calls that nobody asked to end
FAKE_DRIVER = ""  # a CUDA driver that needs no GPU, or ""
SECONDS = 60  # a command that takes longer hangs

# The background jobs of a script begin with Ctrl-C ignored, and the program keeps to that: here it begins as at a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)


def python_with(group, *modules):
    """A Python that has the modules: of bench/peers/setup.sh, the group, or this one. Without one the script is skipped."""
    installed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "peers", group, "bin", "python")
    look = "import importlib.util as u, sys; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"
    for python in (installed, sys.executable):
        if os.path.exists(python) and subprocess.run([python, "-c", look, *modules], check=False, capture_output=True).returncode == 0:
            return python
    print(f"skipped: no Python here has {', '.join(modules)} (bench/peers/setup.sh {group})")
    return sys.exit(77)


def read_terminal(ours, seen=lambda text: None):
    """All that is written to the terminal whose end is `ours`, up to its closing; `seen` is called with it at each piece."""
    text = b""
    deadline = time.monotonic() + SECONDS
    while select.select([ours], [], [], max(0, deadline - time.monotonic()))[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
        seen(text)
    os.close(ours)
    return text


class Ran:
    def __init__(self, args, done):
        self.args = args
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode("utf-8", "replace")


class ShellTest(unittest.TestCase):
    """Each test has an empty folder of its own, which is the working folder of the commands."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dataline-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_shell(self, *args, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        keywords.setdefault("stderr", subprocess.PIPE)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        words = [arg if isinstance(arg, bytes) else str(arg) for arg in args]
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, timeout=SECONDS, check=False, **keywords)
        return Ran(words, done)

    def start(self, *args, **keywords):
        keywords.setdefault("stdout", subprocess.PIPE)
        keywords.setdefault("stderr", subprocess.PIPE)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([PROGRAM, *map(str, args)], cwd=self.folder, **keywords)

        def stop():
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(stop)
        return process

    def ok(self, *args, **keywords):
        """Runs a command that must succeed without a word on stderr; returns its output."""
        ran = self.run_shell(*args, **keywords)
        self.assertEqual((ran.status, ran.err), (0, ""), ran.args)
        return ran.out

    def fails(self, status, *args, says="", out=b"", **keywords):
        """Runs a command that must end with `status` and one `dataline: ...` line that matches `says`."""
        ran = self.run_shell(*args, **keywords)
        self.assertEqual(ran.status, status, (ran.args, ran.err))
        if out is not None:
            self.assertEqual(ran.out, out, ran.args)
        lines = ran.err.splitlines()
        self.assertTrue(lines and lines[0].startswith("dataline: "), (ran.args, ran.err))
        self.assertRegex(lines[0], says, ran.args)
        if status == 1:  # nothing follows, where the text of a wrong command line may
            self.assertEqual(len(lines), 1, (ran.args, ran.err))
        return ran

    def idx(self, name, rows, shape=(), kind=0x08):
        """An IDX file of `rows`, each packed bytes."""
        dims = (len(rows), *shape)
        header = bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims)
        return self.write(name, header + b"".join(rows))

    def digits(self, count, size=4, name="images"):
        """`count` u8 images of size x size, no two alike; returns the rows."""
        rows = [bytes((i * 7 + k * 3 + i // 256) % 256 for k in range(size * size - 4)) + struct.pack("<I", i)
                for i in range(count)]
        self.idx(name, rows, (size, size))
        return rows

    def npy(self, name, descr, shape, data, fortran=False, version=1):
        shape_text = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
        header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape_text}, }}"
        prefix = 10 if version == 1 else 12
        header += " " * (-(len(header) + 1 + prefix) % 64) + "\n"
        length = struct.pack("<H" if version == 1 else "<I", len(header))
        return self.write(name, b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data)

    def labelled(self, count, label=lambda i: i % 10, size=4):
        """raw: records of a u8 label and an image; returns (uri, labels, images)."""
        labels = [label(i) for i in range(count)]
        images = [bytes((i + k) % 256 for k in range(size * size)) for i in range(count)]
        self.write("records", b"".join(bytes([l]) + image for l, image in zip(labels, images)))
        return f"raw:records?fields=label:u8,image:u8[{size}x{size}]", labels, images


def zstd_of(data):
    """A frame of Zstandard of blocks that are stored, without its size, as a stream is compressed."""
    blocks = [data[at : at + 131072] for at in range(0, len(data), 131072)] or [b""]
    heads = [struct.pack("<I", (i == len(blocks) - 1) | len(block) << 3)[:3] for i, block in enumerate(blocks)]
    return b"\x28\xb5\x2f\xfd\x00\x68" + b"".join(head + block for head, block in zip(heads, blocks))


def indices_of(output):
    return [int(line) for line in output.split()]


def one_line(text):
    return re.sub(r"\s+", " ", text)


def main():
    global PROGRAM, SHARED_DATA, FAKE_DRIVER, SAMPLES, ENDS_CALLS
    if len(sys.argv) < 3:
        sys.exit("usage: NAME_test.py PATH_TO_DATALINE SHARED_DATA_DIR [unittest arguments]")
    PROGRAM, SHARED_DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    libraries = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "lib")
    SAMPLES = os.path.join(libraries, "libdataline-samples.so")
    ENDS_CALLS = os.path.join(libraries, "libdataline-ends_calls.so")
    beside = os.path.join(libraries, "libfake_cuda.so")
    FAKE_DRIVER = beside if os.path.exists(beside) else ""
    result = unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)
