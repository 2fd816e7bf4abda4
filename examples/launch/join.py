"""Joins what the ranks of examples/launch delivered, so that a job can go on with any number of ranks:

    join.py FOLDER

FOLDER/life is the prefix of the journals, FOLDER/life.size how many ranks there were. What every rank delivered is added
to FOLDER/stream, step by step, and FOLDER/state is the state behind it. What some delivered beyond comes again. Without
life.size there is nothing to join.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple


class Record(NamedTuple):
    epoch: int
    step: int
    samples: int
    data: bytes
    state: str


def records_of(path: Path) -> list[Record]:
    """The whole records of a journal: the last one of a rank that was killed may be cut."""
    if not path.exists():
        return []
    text, at, found = path.read_bytes(), 0, []
    while (end := text.find(b"\n", at)) >= 0:
        epoch, step, samples, data_bytes, state_bytes = map(int, text[at:end].split())
        data_end = end + 1 + data_bytes
        at = data_end + state_bytes
        if at > len(text):
            break
        found.append(Record(epoch, step, samples, text[end + 1 : data_end], text[data_end:at].decode()))
    return found


def agreed(journals: list[Path]) -> list[tuple[Record, ...]]:
    """The records of each step that all ranks delivered. Each of them saved the same state behind it."""
    steps = list(zip(*map(records_of, journals)))
    for parts in steps:
        if len({(part.epoch, part.step, part.state) for part in parts}) != 1:
            raise ValueError(f"ranks are not of one job: epoch {parts[0].epoch} step {parts[0].step}")
    return steps


def main(name: str) -> None:
    folder = Path(name)
    size = folder / "life.size"
    if not size.exists():
        return
    journals = [folder / f"life.{rank}" for rank in range(int(size.read_text()))]
    steps = agreed(journals)
    if steps:
        with open(folder / "stream", "ab") as stream:
            for parts in steps:
                stream.write(b"".join(part.data for part in parts))
        (folder / "state.part").write_text(steps[-1][0].state)
        (folder / "state.part").replace(folder / "state")
    size.unlink()
    for journal in journals:
        journal.unlink(missing_ok=True)
    print(f"{len(steps)} steps of {len(journals)} ranks")


if __name__ == "__main__":
    main(sys.argv[1])
