"""examples/launch/job.sbatch on a Slurm of its own: two nodes, which are this machine twice. The job is requeued while it runs, goes
on, and its stream is the one of an undisturbed process; then again with one node less.

  slurm_test.py RANK       the C program. Needs root, munged, slurmctld and slurmd (Debian: munge slurmctld slurmd slurm-client)

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

from job import BUILD, ROOT, make_data, skip
from torchrun_test import free_port

LAUNCH = ROOT / "examples" / "launch"
SECONDS = 120
CONF = """ClusterName=dataline
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=1
MpiDefault=none
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={port1} CPUs={cpus} State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={port2} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def wait_until(what, ready):
    end = time.monotonic() + SECONDS
    while not ready():
        assert time.monotonic() < end, f"{what}: not in {SECONDS} s"
        time.sleep(0.1)  # others work meanwhile


class Cluster:
    def __init__(self, folder):
        self.folder, self.daemons = pathlib.Path(folder), []
        numbers = {"port": free_port(), "port1": free_port(), "port2": free_port(), "cpus": os.cpu_count()}
        (self.folder / "slurm.conf").write_text(CONF.format(folder=folder, **numbers))
        (self.folder / "state").mkdir()
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self.start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}",
                   f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed", f"--log-file={folder}/munged.log")
        wait_until("munged", (self.folder / "munge.socket").exists)
        self.start("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node)
        wait_until("two idle nodes", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])

    def start(self, *command):
        log = open(self.folder / f"{'-'.join(command[:1] + command[2:4])[:20].replace('/', '')}.out", "wb")
        self.daemons.append(subprocess.Popen(command, stdout=log, stderr=log))
        log.close()

    def ask(self, *command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout

    def state_of(self, job):
        return self.ask("squeue", "-h", "-j", job, "-o", "%T").strip()

    def submit(self, *words):
        environment = {**os.environ, "DATALINE_LAUNCH": str(LAUNCH)}
        command = ["sbatch", "--parsable", "-o", str(self.folder / "job.log"), *map(str, words)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.strip()

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def main():
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            skip(f"{program} is not installed")
    if os.getuid() != 0:
        skip("Slurm's daemons are started as root")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    began, rank = time.monotonic(), sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="dataline-slurm-") as name:
        folder = pathlib.Path(name)
        cluster = Cluster(name)
        try:
            uri, work = make_data(folder), folder / "work"
            work.mkdir()
            # Endless, until it is requeued: what runs then ends after some steps.
            job = cluster.submit("-N2", "-n4", LAUNCH / "job.sbatch", uri, work, -1, rank)
            wait_until("journals of four ranks", lambda: all((work / f"life.{r}").exists() and (work / f"life.{r}").stat().st_size for r in range(4)))
            subprocess.run(["scontrol", "requeue", job], check=True)
            wait_until("the end of the first life", lambda: cluster.state_of(job) == "PENDING")
            # Slurm would wait two minutes for a broken node to be mended.
            subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)
            log = folder / "job.log"
            wait_until("the second life", lambda: "restart 1: 4 tasks on 2 nodes" in log.read_text())
            wait_until("its journals", lambda: (work / "life.0").exists() and (work / "life.0").stat().st_size)
            subprocess.run(["scancel", job], check=True)
            wait_until("the end of the second life", lambda: cluster.state_of(job) == "")
            for tasks, nodes in ((3, 1), (2, 2)):
                done = cluster.submit("--wait", f"-N{nodes}", f"-n{tasks}", "-O", LAUNCH / "job.sbatch", uri, work, 30, rank)
                assert f"30 steps of {tasks} ranks" in log.read_text(), (done, log.read_text())
        finally:
            cluster.stop()
        stream = (work / "stream").read_bytes()
        told = log.read_text()
        command = [BUILD / "bin" / "dataline", "cat", uri, "--global-batch-size", "24", "--shuffle", "full", "--seed", "9", "--output", "-"]
        one = subprocess.Popen([*command, "--epochs", "1000000"], stdout=subprocess.PIPE)
        assert one.stdout.read(len(stream)) == stream, "the stream is not that of one process"
        one.kill()
        one.communicate()
    lives = "; ".join(line for line in told.splitlines() if line.endswith("ranks"))
    print(f"Slurm: requeued, cancelled, then on other tasks: {lives}; the bytes of one process; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
