"""The progress line of an example, seen as a terminal shows it, and that it ends with what scripts read.

    check_progress.py UNIT REMARK PROGRAM [ARGUMENT...]

REMARK is a pattern of what the program adds, such as loss=[0-9.]+; - if it adds nothing, and then prints a line an epoch too.

SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

WIDE, NARROW = 150, 48


def run(words, columns):
    """Standard output, and what a terminal of that width on standard error shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        out = process.stdout.read().decode()
    assert process.returncode == 0, (process.returncode, text)
    return out, text.decode()


def main(unit, remark, words):
    clock = r"(\d+:)?\d\d:\d\d"
    whole = (rf"epoch \d+/\d+, step \d+ of \d+: +\d+%\|[█▏▎▍▌▋▊▉ ]+\| "
             rf"\[{clock}<(\?|{clock}), [\d.]+( [kMG])? {unit}/s, waited [\d.]+ %{', ' + remark if remark else ''}\]")
    out, text = run(words, WIDE)
    lines = [line for line in re.split(r"[\r\n]+(?:\x1b\[K)?", text) if line]
    for line in lines:
        assert re.fullmatch(whole, line), line
        assert len(line) < WIDE, line
    assert any(": 100%|" in line for line in lines), lines[-3:]
    assert text.endswith("\n"), text[-80:]
    assert not remark or not re.search("^epoch ", out, re.MULTILINE), "an epoch is said twice: " + out

    _, text = run(words, NARROW)
    for line in re.split(r"[\r\n]+(?:\x1b\[K)?", text):
        assert len(line) < NARROW, line


if __name__ == "__main__":
    main(sys.argv[1], "" if sys.argv[2] == "-" else sys.argv[2], sys.argv[3:])
