"""A part of a job, so that another program can go on where it stops:

    chain.py URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]

Loads STATE_IN, writes FIELD of the next BATCHES batches to standard output as raw bytes (-1: to the end of the job), and
saves the position to STATE_OUT.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import dataline


def main(uri: str, state_in: str, state_out: str, batches: str, field: str, *options: str) -> None:
    limit = int(batches)
    given: dict[str, Any] = dict(option.split("=", 1) for option in options)
    loader = dataline.Loader(uri, **given)
    if state_in != "-":
        loader.load_state(Path(state_in).read_text())
    done = 0
    while done != limit:
        try:
            batch = loader.next()
        except dataline.EndOfJob:
            break
        if batch is None:
            continue  # the end of an epoch
        sys.stdout.buffer.write(batch.tensor(field).tobytes())
        done += 1
    sys.stdout.buffer.flush()
    if state_out != "-":
        Path(state_out).write_text(loader.save_state())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except TypeError as error:
        unusable = not isinstance(error, dataline.Error)
        sys.exit(
            "usage: chain.py URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]" if unusable else f"chain: {error}"
        )
    except (dataline.Error, OSError, ValueError) as error:
        sys.exit(f"chain: {error}")
