"""examples/launch/train_torchrun.py under torchrun, elastic: an agent is killed with its process while the job runs, the other
goes on alone, the agent comes back, and at the end each sample was seen as often as any other.

  torchrun_test.py PYTHON       one that has dataline and PyTorch

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from job import ROOT, make_data, skip

PROGRAM = ROOT / "examples" / "launch" / "train_torchrun.py"
SECONDS = 240  # a wait that takes longer hangs; agents that meet again may take a minute


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Job:
    def __init__(self, python, folder):
        self.python, self.folder, self.port = python, pathlib.Path(folder), free_port()
        self.checkpoint = self.folder / "job.checkpoint"
        self.command = [str(PROGRAM), make_data(folder), str(self.checkpoint), "1000000"]
        self.agents = {}

    def start(self, name):
        launcher = [self.python, "-m", "torch.distributed.run", "--nnodes=1:2", "--nproc_per_node=1", "--max_restarts=100",
                    "--rdzv_backend=c10d", f"--rdzv_endpoint=127.0.0.1:{self.port}", "--rdzv_id=job", "--monitor_interval=1",
                    f"--rdzv_conf=is_host={int(name == 'a')},last_call_timeout=2,keep_alive_interval=1,join_timeout=120"]
        # Debian's PyTorch under Python 3.11 does not start without these two: it takes their default for none.
        launcher += ["--redirects=9:1", "--tee=9:1"]
        said = open(self.folder / f"{name}.log", "ab")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        self.agents[name] = subprocess.Popen([*launcher, *self.command], stdout=said, stderr=said, env=environment, start_new_session=True)
        said.close()

    def log(self, name="a"):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait_for(self, what, after=0, names=("a", "b")):
        """Until an agent's log has the pattern `what`; returns the lengths of the logs then."""
        end = time.monotonic() + SECONDS
        while not any(re.search(what, self.log(name)[after:]) for name in names if name in self.agents):
            assert time.monotonic() < end, f"no {what!r}: {self.log()[-3000:]}"
            assert self.agents["a"].poll() is None, self.log()[-3000:]
            time.sleep(0.1)  # others work meanwhile

    def kill(self, name):
        """The agent and what it started; a machine that is gone."""
        workers = self.workers(name)  # newer agents start them in sessions of their own
        os.killpg(self.agents[name].pid, signal.SIGKILL)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        self.agents.pop(name).wait()

    def workers(self, name):
        children = pathlib.Path(f"/proc/{self.agents[name].pid}/task/{self.agents[name].pid}/children")
        return [int(pid) for pid in children.read_text().split()] if children.exists() else []

    def end(self):
        for name in list(self.agents):
            if self.agents[name].poll() is None:
                self.kill(name)


def main():
    python = sys.argv[1]
    if subprocess.run([python, "-c", "import torch.distributed.run, dataline.torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("there is no PyTorch here")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dataline-torchrun-") as folder:
        job = Job(python, folder)
        try:
            job.start("a")
            job.start("b")
            job.wait_for("step .* on 2 ranks")
            job.kill("b")
            told = len(job.log())
            job.wait_for("step .* on 1 ranks", told, ["a"])
            told = len(job.log())
            job.start("b")
            job.wait_for("step .* on 2 ranks", told, ["a"])
            job.checkpoint.with_suffix(".stop").touch()
            job.agents["a"].wait(SECONDS)
            job.agents["b"].wait(SECONDS)
            said = job.log("a") + job.log("b")
        finally:
            job.end()
        end = re.search(r"(\d+) steps; each sample was seen (\d+) times; y = 3\.00 x \+ 1\.00", said)
        assert end, said[-3000:]
        assert int(end[1]) == int(end[2]) * 42, end[0]
    print(f"torchrun: 2 -> 1 -> 2 processes, {end[0]}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
