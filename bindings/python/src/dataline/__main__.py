"""``python -m dataline`` and the command ``dataline``: the shell. It is a program of its own, which takes the place of
this process, so that pipes, signals and the exit status are its own too.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent / "bin" / "dataline"


def main() -> NoReturn:
    # What this process ignores or not, the program inherits: Python ignores these two by itself.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # Ctrl-C before the program runs: no traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["dataline", *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"dataline: this build of the package is without the shell ({PROGRAM})")
    except OSError as error:
        sys.exit(f"dataline: {PROGRAM}: {error.strerror}")


if __name__ == "__main__":
    main()
