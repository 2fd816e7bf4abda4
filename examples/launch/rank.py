"""A rank of a job, under any launcher: what rank.c is, in Python.

    rank.py URI STATE JOURNAL STEPS [key=value...]

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import dataline


def main(uri: str, state: str, journal: str, steps: str, *settings: str) -> None:
    given: dict[str, Any] = dict(setting.split("=", 1) for setting in settings)
    loader = dataline.Loader(uri, rank="auto", world_size="auto", **given)
    if Path(state).exists():
        loader.load_state(Path(state).read_text())
    field = loader.fields[0].name
    out = os.open(f"{journal}.{dataline.launcher().rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    left = int(steps)
    while left != 0:
        try:
            batch = loader.next()
        except dataline.EndOfJob:
            break
        if batch is None:
            continue  # the end of an epoch
        about, data, saved = batch.info, batch.tensor(field).tobytes(), loader.save_state().encode()
        header = f"{about.epoch} {about.step} {about.samples} {len(data)} {len(saved)}\n".encode()
        os.write(out, header + data + saved)  # one record by one write
        left -= 1


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit("usage: rank.py URI STATE JOURNAL STEPS [key=value...]")
    try:
        main(*sys.argv[1:])
    except (dataline.Error, OSError, ValueError) as error:
        sys.exit(f"rank.py: {error}")
