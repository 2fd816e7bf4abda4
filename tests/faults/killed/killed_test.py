"""A job that saves its state after each step is killed (SIGKILL) at random moments and goes on from its last state, each
time with other workers, another depth and another world size. Joined, the job delivers each sample of each epoch once,
in the order of a job that nobody disturbed.

A trainer that is killed loses what it did since its checkpoint: a step that was delivered but not saved is done again. So
lines of the journal behind the state are dropped; there is one at most.

  killed_test.py JOB [KILLS]      DATALINE_SEED repeats the draws of a run

SPDX-License-Identifier: Apache-2.0
"""

import array
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

SAMPLES, GLOBAL_BATCH = 1000, 24
STEPS = -(-SAMPLES // GLOBAL_BATCH)
SECONDS = 60  # a job that takes longer hangs


class Job:
    def __init__(self, program, folder, draw):
        self.program, self.folder, self.draw = program, folder, draw
        self.state, self.journal = os.path.join(folder, "state"), os.path.join(folder, "journal")
        self.lines = []  # joined: what was delivered and saved
        self.kills, self.redone = 0, 0
        with open(os.path.join(folder, "samples"), "wb") as file:
            array.array("Q", range(SAMPLES)).tofile(file)

    def start(self, epochs, world, *settings):
        job = [f"global_batch_size={GLOBAL_BATCH}", "shuffle=full", "seed=5"]
        return subprocess.Popen([self.program, f"raw:{self.folder}/samples?dtype=u64", self.state, self.journal, str(epochs),
                                 str(world), *job, *settings], stderr=subprocess.PIPE)

    def run(self, epochs, kill):
        """One life of the job; returns whether it came to its end."""
        world, workers, depth = self.draw.choice([1, 1, 2, 3, 4]), self.draw.randint(0, 3), self.draw.choice([1, 2, 5])
        process = self.start(epochs, world, f"num_workers={workers}", f"prefetch_depth={depth}")
        if kill:
            time.sleep(self.draw.random() ** 2 * 0.03)  # when it is killed is what is drawn
            process.kill()
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode in ((0, -9) if kill else (0,)), (process.returncode, said)
        self.kills += process.returncode == -9
        self.take_in()
        return process.returncode == 0

    def take_in(self):
        """Joins what this life delivered up to its state; what lies behind it is lost, as it is to a trainer."""
        epoch, step = 0, 0
        if os.path.exists(self.state):
            text = open(self.state, encoding="utf-8").read()
            epoch, step = (int(re.search(rf"^{key}: (\d+)$", text, re.M).group(1)) for key in ("epoch", "step"))
        saved = epoch * (STEPS + 1) + step
        lived = open(self.journal, encoding="utf-8").read() if os.path.exists(self.journal) else ""
        whole = lived[:lived.rfind("\n") + 1].splitlines()
        assert saved >= len(self.lines), "the state went back"
        assert len(self.lines) + len(whole) - saved in (0, 1), (len(self.lines), len(whole), saved)
        self.redone += len(self.lines) + len(whole) - saved
        self.lines += whole[:saved - len(self.lines)]
        if os.path.exists(self.journal):
            os.remove(self.journal)


def expect_whole(lines, undisturbed):
    assert lines == undisturbed, next((i, a, b) for i, (a, b) in enumerate(zip(lines, undisturbed)) if a != b)
    for epoch in range(len(lines) // (STEPS + 1)):
        of_epoch = lines[epoch * (STEPS + 1):(epoch + 1) * (STEPS + 1)]
        assert of_epoch[-1] == f"{epoch} end", of_epoch[-1]
        samples = [int(index) for line in of_epoch[:-1] for index in line.split(":")[1].split()]
        assert sorted(samples) == list(range(SAMPLES)), f"epoch {epoch}: a sample is missing or came twice"


def main():
    program, kills = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(os.environ.get("DATALINE_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed} (DATALINE_SEED repeats it)", flush=True)
    folder = tempfile.mkdtemp(prefix="dataline-killed-")
    try:
        job = Job(program, folder, random.Random(seed))
        while job.kills < kills:
            job.run(epochs=10**6, kill=True)
        epochs = len(job.lines) // (STEPS + 1) + 1
        assert job.run(epochs, kill=False)
        disturbed = job.lines

        os.mkdir(os.path.join(folder, "again"))
        whole = Job(program, os.path.join(folder, "again"), random.Random(seed))
        process = whole.start(epochs, 1, "num_workers=0")
        assert process.wait(SECONDS * 10) == 0, process.stderr.read()
        process.stderr.close()
        whole.take_in()
        expect_whole(disturbed, whole.lines)
        print(f"{job.kills} kills in {len(disturbed)} steps of {epochs} epochs, {job.redone} steps done again")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
