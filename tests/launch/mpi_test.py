"""The ranks of examples/launch under mpirun: started for real, in C and in Python, joined and continued by another number of ranks; and
one that dies, which mpirun tells.

  mpi_test.py RANK PYTHON       the C program, and a Python that has dataline

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from job import ROOT, Stream, make_data, skip

JOB = {"global_batch_size": 24, "shuffle": "full", "seed": 9}
SECONDS = 120


def mpirun(size, *command):
    # As root and on fewer cores than ranks only when told; ssh is for other machines.
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", "/bin/false", "-np", str(size), *map(str, command)]


def main():
    rank, python = sys.argv[1:3]
    if shutil.which("mpirun") is None:
        skip("mpirun is not installed (openmpi-bin)")
    programs = ([rank], [python, ROOT / "examples" / "launch" / "rank.py"])
    settings = [f"{key}={value}" for key, value in JOB.items()]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dataline-mpi-") as folder:
        uri, stream = make_data(folder), Stream(folder)
        for size, program in ((4, 0), (3, 1), (1, 0), (2, 1)):
            command = mpirun(size, *programs[program], uri, stream.state, stream.begin(), 20, *settings)
            subprocess.run(command, check=True, timeout=SECONDS)
            assert stream.take_in(size) == 20

        # A rank is killed while the job runs: mpirun ends the others, and the job goes on from what all of them had.
        journal = stream.begin()
        job = subprocess.Popen(mpirun(3, rank, uri, stream.state, journal, -1, *settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        victim = None
        end = time.monotonic() + SECONDS
        while victim is None or not all(os.path.exists(f"{journal}.{r}") for r in range(3)):
            assert job.poll() is None and time.monotonic() < end, "the ranks do not start"
            children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
            victim = int(children[1]) if len(children) > 1 else None
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        assert job.wait(SECONDS) != 0, "mpirun does not tell that a rank died"
        stream.take_in(3)
        subprocess.run(mpirun(2, rank, uri, stream.state, stream.begin(), 5, *settings), check=True, timeout=SECONDS)
        assert stream.take_in(2) == 5
        epochs = stream.expect_whole(uri, JOB)
    print(f"mpirun: 4, 3, 1, 2 ranks, one killed of 3, then 2: {len(stream.steps)} steps, {epochs} whole epochs, the bytes of one process; "
          f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
