"""What the ranks of examples/launch wrote: records of delivered steps, each with the state behind it, joined over ranks and lives.

SPDX-License-Identifier: Apache-2.0
"""

import array
import collections
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DATALINE_BUILD", ROOT / "build" / "release"))
SAMPLES = 1000

sys.path.insert(0, str(ROOT / "examples" / "launch"))
from join import agreed, records_of  # noqa: E402


def skip(why):
    print(f"skipped: {why}")
    raise SystemExit(77)


def make_data(folder):
    """The URI of samples that are their own indices."""
    path = pathlib.Path(folder) / "samples.bin"
    path.write_bytes(array.array("q", range(SAMPLES)).tobytes())
    return f"raw:{path}?dtype=i64"


class Stream:
    """The joined job: the bytes of each step of which every rank's part was delivered, and the state behind the last one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.state = self.folder / "state"
        self.steps, self.redone = [], 0
        self._life = 0

    def begin(self):
        """The name of a new life's journals."""
        self._life += 1
        return self.folder / f"life{self._life}"

    def take_in(self, world_size):
        """Joins what a life of so many ranks delivered; returns the steps that all of them agree on. What a rank
        delivered beyond is dropped: it comes again, as after a restart from a checkpoint."""
        journals = [self.folder / f"life{self._life}.{rank}" for rank in range(world_size)]
        extra = set(self.folder.glob(f"life{self._life}.*")) - set(journals)
        assert not extra, f"ranks beyond the group: {extra}"
        delivered = sum(len(records_of(path)) for path in journals)
        steps = agreed(journals)
        for parts in steps:
            self.steps.append((parts[0].epoch, parts[0].step, b"".join(part.data for part in parts)))
        self.redone += delivered - len(steps) * world_size
        if steps:
            part = self.state.with_suffix(".part")
            part.write_text(steps[-1][0].state)
            part.rename(self.state)
        for path in journals:
            path.unlink(missing_ok=True)
        return len(steps)

    def expect_whole(self, uri, options):
        """The joined bytes are those of one undisturbed process, and each whole epoch has each sample once."""
        flags = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        command = [BUILD / "bin" / "dataline", "cat", uri, "--epochs", "1000000", "--batches", str(len(self.steps)), *flags]
        expected = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        at = 0
        for epoch, step, data in self.steps:
            assert data == expected[at:at + len(data)], f"epoch {epoch} step {step} differs from one process"
            at += len(data)
        assert at == len(expected), (at, len(expected))
        places = [(epoch, step) for epoch, step, _ in self.steps]
        assert places == sorted(set(places)), "a step came twice, or late"
        epochs = collections.defaultdict(bytes)
        for epoch, _, data in self.steps:
            epochs[epoch] += data
        for epoch in list(epochs)[:-1]:
            assert sorted(array.array("q", epochs[epoch])) == list(range(SAMPLES)), f"epoch {epoch}: lost or twice"
        return len(epochs) - 1
