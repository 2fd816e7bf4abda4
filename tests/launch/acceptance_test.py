"""One job with a fixed global batch, whose ranks are C, Go and Python, is killed again and again and goes on with another number of
ranks: 4, 2, 3, 1, 4, ... Joined, what it delivered is byte for byte what one process delivers.

  acceptance_test.py [--kills N] LANGUAGE=COMMAND...     commands of examples/launch's rank programs; DATALINE_SEED repeats the draws

This is the part of a launcher that matters here: it starts ranks with the variables of a launcher (another one each time), kills
one by SIGKILL at a random moment, ends the others, and starts the next group from the last state behind a step that every
rank delivered. Ranks do not talk to each other, so some are far ahead when they die.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import random
import shlex
import signal
import subprocess
import tempfile
import time

from job import Stream, make_data

SIZES = (4, 2, 3, 1)
RECORD_BYTES = 280  # about: a state and a header
SECONDS = 120  # a life that takes longer hangs
JOB = {"global_batch_size": 24, "shuffle": "full", "seed": 5}
FAMILIES = {
    "torchrun": ("RANK", "WORLD_SIZE"),
    "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    "pmi": ("PMI_RANK", "PMI_SIZE"),
    "jax": ("JAX_PROCESS_ID", "JAX_NUM_PROCESSES"),
    "slurm": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
}


class Group:
    """The ranks of one life."""

    def __init__(self, languages, draw, uri, stream, size):
        self.draw, self.size, self.stream = draw, size, stream
        names = sorted(languages)
        # All languages in one job, as soon as there are ranks for them.
        chosen = draw.sample(names, min(size, len(names))) + draw.choices(names, k=max(0, size - len(names)))
        self.names = chosen
        family, self.journal = draw.choice(sorted(FAMILIES)), stream.begin()
        self.steps = draw.randint(1, 40)
        self.ranks = []
        for rank, name in enumerate(chosen):
            settings = {**JOB, "num_workers": draw.randint(0, 2), "prefetch_depth": draw.choice([1, 2, 5])}
            said = dict(zip(FAMILIES[family], (str(rank), str(size))))
            if family == "slurm":
                said["SLURM_STEP_ID"] = "0"
            command = [*languages[name], uri, stream.state, self.journal, str(self.steps), *(f"{k}={v}" for k, v in settings.items())]
            self.ranks.append(subprocess.Popen(command, env={**os.environ, **said}, stderr=subprocess.PIPE))

    def delivered_bytes(self):
        paths = (f"{self.journal}.{rank}" for rank in range(self.size))
        return sum(os.path.getsize(path) for path in paths if os.path.exists(path))

    def disturb(self):
        """Kills one rank when a drawn part of this life's bytes is there, and then the others, unless they get on first."""
        victim = self.draw.choice(self.ranks)
        moment = self.draw.random() * self.steps * (self.size * RECORD_BYTES + JOB["global_batch_size"] * 8)
        end = time.monotonic() + SECONDS
        while victim.poll() is None and self.delivered_bytes() < moment:
            assert time.monotonic() < end, "a rank hangs"
            time.sleep(0.001)  # when it is killed is what is drawn
        victim.send_signal(signal.SIGKILL)
        if self.draw.random() < 0.5:
            for rank in self.ranks:
                rank.kill()

    def end(self):
        """Waits for all; returns how many were killed."""
        killed = 0
        for rank, name in zip(self.ranks, self.names):
            _, said = rank.communicate(timeout=SECONDS)
            assert rank.returncode in (0, -signal.SIGKILL), f"{name}: {rank.returncode}: {said.decode(errors='replace')}"
            killed += rank.returncode == -signal.SIGKILL
        return killed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("languages", nargs="+", metavar="LANGUAGE=COMMAND")
    arguments = parser.parse_args()
    languages = {name: shlex.split(command) for name, _, command in (text.partition("=") for text in arguments.languages)}
    seed = int(os.environ.get("DATALINE_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed} (DATALINE_SEED repeats it)", flush=True)
    draw, began = random.Random(seed), time.monotonic()
    groups = killed_groups = killed_ranks = 0
    with tempfile.TemporaryDirectory(prefix="dataline-launch-") as folder:
        uri, stream = make_data(folder), Stream(folder)
        while killed_groups < arguments.kills or groups < len(SIZES):
            group = Group(languages, draw, uri, stream, SIZES[groups % len(SIZES)])
            group.disturb()
            killed = group.end()
            stream.take_in(group.size)
            groups, killed_groups, killed_ranks = groups + 1, killed_groups + (killed > 0), killed_ranks + killed
        # Undisturbed, so that the end is one that every rank reached.
        last = Group(languages, draw, uri, stream, max(SIZES))
        assert last.end() == 0 and stream.take_in(last.size) == last.steps, "a life that nobody disturbs delivers all its steps"
        epochs = stream.expect_whole(uri, JOB)
    print(f"{', '.join(sorted(languages))}: {killed_groups} groups killed ({killed_ranks} ranks) and {groups} resizes; {len(stream.steps)} "
          f"steps, {epochs} whole epochs, the bytes of one process; {stream.redone} parts of steps delivered again; "
          f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
