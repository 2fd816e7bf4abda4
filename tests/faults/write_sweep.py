"""A conversion whose system calls fail at call n, once and for ever, or that is killed there; and killed at any time.

  write_sweep.py SHELL SHIM [--seconds S | --all]

The oracle: the set is not there, or it is whole: the very bytes of an undisturbed run. The same command, given again, ends well and
leaves these bytes and nothing else. Everyday a random sample that fits into S seconds (the seed is printed, DATALINE_SEED repeats
it), with --all every call of every kind and errno, and a thousand kills at random times of one conversion.

SPDX-License-Identifier: Apache-2.0
"""

import errno
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SECONDS_A_RUN = 30  # longer: it hangs
ERRNOS = {
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR],
    "fsync": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "rename": [errno.EIO, errno.ENOSPC],
    "mkdir": [errno.EACCES, errno.ENOSPC],
    "ftruncate": [errno.EIO],
    "open": [errno.ENOSPC, errno.EMFILE, errno.EACCES],
    "unlink": [errno.EACCES],
    "pread": [errno.EIO],
}


def npy(rows, row):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {row}), }}"
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    data = bytes((i * 131 + (i >> 7)) % 251 for i in range(rows * row))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Sweep:
    def __init__(self, shell, shim, folder):
        self.shell, self.shim, self.folder = shell, shim, folder
        self.wrong, self.runs = [], 0
        (folder / "a.npy").write_bytes(npy(60, 100))

    def command(self, target):
        return [self.shell, "convert", "npy:a.npy", target, "--shard-bytes=1", "--batch-size=12", "--shuffle=full", "--seed=5",
                "--num-workers=1"]

    def run(self, target, fault="", count=None):
        environment = {**os.environ, "LD_PRELOAD": self.shim, "CALL_FAULTS": fault, "CALL_FAULTS_FROM": "open"}
        if count is not None:
            environment["CALL_FAULTS_COUNT"] = str(count)
        self.runs += 1
        try:
            return subprocess.run(self.command(target), env=environment, capture_output=True, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, timeout=SECONDS_A_RUN, check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(self.command(target), -1, b"", b"hangs")

    def files(self, name):
        folder = self.folder / name
        return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else None

    def clean(self, form):
        """The files of an undisturbed run, and how often each kind is called."""
        count = self.folder / "count"
        done = self.run(f"{form}:whole-{form}", count=count)
        if done.returncode != 0:
            sys.exit(f"{form}: without faults: exit {done.returncode}: {done.stderr.decode()}")
        lines = count.read_text(encoding="ascii").splitlines()
        return self.files(f"whole-{form}"), {line.split()[0]: int(line.split()[1]) for line in lines}

    def clear(self):
        for name in ("out", "out.partial"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def judge(self, form, truth, fault, half):
        """`half`: the fault meets a run that goes on with what another one left."""
        self.clear()
        target = f"{form}:out"
        if half:
            self.run(target, "fsync:12:0:kill")
        told = f"{form}{', gone on with' if half else ''}, {fault}"
        done = self.run(target, fault)
        there = self.files("out")
        if done.returncode not in (0, 1, -9):
            self.wrong.append(f"{told}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        elif there is not None and there != truth:
            self.wrong.append(f"{told}: a torn set: {sorted(there)}")
        elif done.returncode == 0 and there is None:
            self.wrong.append(f"{told}: exit 0 and no set")
        elif there is None:
            self.check_again(target, truth, told)

    def check_again(self, target, truth, told):
        done = self.run(target)
        if done.returncode != 0:
            self.wrong.append(f"{told}: again: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        elif self.files("out") != truth:
            self.wrong.append(f"{told}: again: other files")
        elif (self.folder / "out.partial").exists():
            self.wrong.append(f"{told}: again: out.partial is still there")

    def kill_at_random(self, truth, draw, seconds, kills):
        """One conversion after another, killed after a random time, until so many kills."""
        done = 0
        self.clear()
        while done < kills:
            self.runs += 1
            with subprocess.Popen(self.command("arrow:out"), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as process:
                try:
                    process.wait(draw.random() * seconds)
                except subprocess.TimeoutExpired:
                    process.kill()
                    done += 1
                text = process.stderr.read().decode(errors="replace")
            there = self.files("out")
            if there is not None and there != truth:
                self.wrong.append(f"kill {done}: a torn set: {sorted(there)}")
            if there is not None:
                self.clear()
            elif process.returncode not in (0, -9):
                self.wrong.append(f"kill {done}: exit {process.returncode}: {text}")


def main():
    shell, shim = (os.path.abspath(path) for path in sys.argv[1:3])
    everything = "--all" in sys.argv
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 20
    seed = int(os.environ.get("DATALINE_SEED", random.SystemRandom().randrange(1 << 32)))
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="dataline-writes-") as name:
        sweep = Sweep(shell, shim, pathlib.Path(name))
        todo, truths = [], {}
        for form in ("arrow", "npy", "parquet", "tfrecord"):
            truths[form], counts = sweep.clean(form)
            for kind, numbers in ERRNOS.items():
                modes = [f"{number}:{mode}" for number in numbers for mode in ("once", "ever")] + ["0:kill"]
                todo += [(form, f"{kind}:{n}:{mode}", half) for n in range(1, counts[kind] + 1) for mode in modes for half in (False, True)]
        draw.shuffle(todo)
        total, end = len(todo), time.monotonic() + seconds
        while todo and (everything or time.monotonic() < end):
            form, fault, half = todo.pop()
            sweep.judge(form, truths[form], fault, half)
        one = time.monotonic()
        sweep.clear()
        sweep.run("arrow:out")
        one = time.monotonic() - one
        sweep.kill_at_random(truths["arrow"], draw, one, 1000 if everything else 20)
        print(f"{total - len(todo)} of {total} faults, {sweep.runs} runs, seed {seed}")
        for line in sweep.wrong[:20]:
            print(line)
        sys.exit(1 if sweep.wrong else 0)


if __name__ == "__main__":
    main()
