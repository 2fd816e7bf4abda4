"""``python -m dataline`` and the command ``dataline``: the shell. It is a separate program that replaces this process, so
that pipes, signals and the exit status are its own.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent / "bin" / "dataline"


def main() -> NoReturn:
    # The program inherits ignored signals, and Python ignores these two by default.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # Ctrl-C before the program runs: no traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["dataline", *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"dataline: this build of the package does not include the shell ({PROGRAM})")
    except OSError as error:
        sys.exit(f"dataline: {PROGRAM}: {error.strerror}")


if __name__ == "__main__":
    main()
