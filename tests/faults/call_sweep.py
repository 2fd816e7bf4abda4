"""System calls and malloc that fail at call n, once and for ever, under a host of the C API and under the shell.

  call_sweep.py FAULT_JOB SHELL SHIM [--seconds S | --all]

The oracle: the same bytes as without faults, or an error of the machine, and what was written before it is a prefix of
the same bytes. Never a bad sample, never a signal, never a hang. Everyday a random sample of the sweep that fits into S
seconds (the seed is printed, DATALINE_SEED repeats it), with --all every call of every kind and errno.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import errno
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

SECONDS_A_RUN = 20  # longer: it hangs
ERRNOS = {
    "open": [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR],
    "read": [errno.EIO, errno.EINTR],
    "pread": [errno.EIO, errno.ENOMEM, errno.EINTR, errno.EAGAIN],
    "mmap": [errno.ENOMEM, errno.EAGAIN],
    "madvise": [errno.ENOMEM, errno.EINVAL],
    "fstat": [errno.EIO, errno.ENOMEM],
    "pthread_create": [errno.EAGAIN],
    "eventfd": [errno.EMFILE, errno.ENOMEM],
    "write": [errno.EIO, errno.ENOSPC, errno.EINTR],
    "malloc": [errno.ENOMEM],
}
MACHINE, BAD = 1, 3  # how fault_job ends


def pattern(count, seed):
    return bytes((i * 131 + seed * 17 + (i >> 7)) % 251 for i in range(count))


def npy(shape, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def tar(members):
    out = b""
    for name, data in members:
        head = bytearray(512)
        head[0:len(name)] = name.encode()
        for at, text in [(100, b"0000644\0"), (108, b"0001000\0"), (116, b"0001000\0"), (124, b"%011o\0" % len(data)),
                         (136, b"%011o\0" % 1_700_000_000), (148, b"        "), (156, b"0"), (257, b"ustar\00000")]:
            head[at:at + len(text)] = text
        head[148:156] = b"%06o\0 " % sum(head)
        out += bytes(head) + data + bytes(-len(data) % 512)
    return out + bytes(1024)


class Case:
    """A set, and how a job reads it."""

    def __init__(self, name, uri, workers, transform="-", *options):
        self.name, self.uri, self.workers, self.transform, self.options = name, uri, workers, transform, options


def make_cases(folder):
    write = lambda name, data: ((folder / name).parent.mkdir(parents=True, exist_ok=True), (folder / name).write_bytes(data))
    write("a.npy", npy("(30, 100)", pattern(3000, 1)))
    for i in range(5):
        write(f"shards/{i}.bin", pattern(6 * 64, i))
    write("a.tar", tar([(f"{i}.bin", pattern(300 + i, i)) for i in range(12)]))
    for i in range(14):
        write(f"images/{'ab'[i % 2]}/{i}.jpg", pattern(500 + i, i))
    return [
        Case("npy, mapped", f"npy:{folder}/a.npy", 1, "-", "io=mmap"),
        Case("npy, guarded", f"npy:{folder}/a.npy", 0, "cast(f32)", "io=mmap", "fault_guard=true"),
        Case("npy, pread", f"npy:{folder}/a.npy", 2, "-", "io=pread"),
        Case("npy, in memory", f"npy:{folder}/a.npy", 1, "-", "io=memory"),
        Case("shards", f"raw:{folder}/shards?dtype=u8&shape=64", 1),
        Case("tar", f"tar:{folder}/a.tar", 1),
        Case("folder", f"folder:{folder}/images", 1),
        Case("folder, in memory", f"folder:{folder}/images", 0, "-", "io=memory"),
    ]


class Sweep:
    def __init__(self, job, shell, shim, folder):
        self.job, self.shell, self.shim, self.folder = job, shell, shim, folder
        self.wrong = []
        self.runs = 0

    def command(self, case, by_shell):
        if not by_shell:
            return [self.job, case.uri, str(case.workers), case.transform, *case.options]
        words = ["--" + option.replace("_", "-") for option in case.options]
        if case.transform != "-":
            words += ["--transform", case.transform]
        field = ["--field", "image"] if case.uri.startswith("folder:") else ["--field", "bin"] if case.uri.startswith("tar:") else []
        return [self.shell, "cat", case.uri, "--batch-size=4", "--epochs=2", "--shuffle=full", "--seed=5",
                "--on-error=replace", f"--num-workers={case.workers}", *field, *words]

    def run(self, case, by_shell, fault="", count=None):
        # The shell's own beginnings are not of this library; the job's are not either.
        environment = {**os.environ, "LD_PRELOAD": self.shim, "CALL_FAULTS": fault, "CALL_FAULTS_FROM": "open"}
        if count is not None:
            environment["CALL_FAULTS_COUNT"] = str(count)
        try:
            return subprocess.run(self.command(case, by_shell), env=environment, capture_output=True, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, timeout=SECONDS_A_RUN, check=False)
        except subprocess.TimeoutExpired:
            return None

    def clean(self, case, by_shell):
        """The bytes without faults, and how often each kind is called."""
        count = self.folder / "count"
        done = self.run(case, by_shell, count=count)
        if done.returncode != 0 or not done.stdout:
            sys.exit(f"{case.name}: without faults: exit {done.returncode}: {done.stderr.decode()}")
        lines = count.read_text(encoding="ascii").splitlines()
        return done.stdout, {line.split()[0]: int(line.split()[1]) for line in lines}

    def judge(self, case, by_shell, truth, fault):
        done = self.run(case, by_shell, fault)
        self.runs += 1
        kind, _, number, mode = fault.split(":")
        if done is None:
            why = "hangs"
        elif done.returncode == 0:
            why = "" if done.stdout == truth else "other bytes, exit 0"
        elif done.returncode == MACHINE:
            text = done.stderr.decode(errors="replace")
            bad = " bad" in text or "replaced" in text or "left out" in text
            why = f"told as bad: {text}" if bad else "" if truth.startswith(done.stdout) else "other bytes before the error"
            # A pipe's writer counts what it wrote, so a write that failed may have cut a batch in the middle: a prefix too.
        elif by_shell and kind == "malloc" and done.returncode == -6:
            why = ""  # the shell's own handler in bindings/cli/main.cpp allocates: to be strict once it no longer does
        else:
            why = f"exit {done.returncode}: {done.stderr.decode(errors='replace')}"
        if why:
            self.wrong.append(f"{case.name}, {'shell' if by_shell else 'C'}, {fault} ({errno.errorcode[int(number)]}, {mode}): {why}")


def main():
    job, shell, shim = (os.path.abspath(path) for path in sys.argv[1:4])
    everything = "--all" in sys.argv
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 40
    seed = int(os.environ.get("DATALINE_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed} (DATALINE_SEED repeats it)", flush=True)
    draws = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="dataline-sweep-") as name:
        sweep = Sweep(job, shell, shim, pathlib.Path(name))
        faults = []
        for case in make_cases(sweep.folder):
            for by_shell in (False, True):
                truth, counts = sweep.clean(case, by_shell)
                for kind, errnos in ERRNOS.items():
                    for n in range(1, counts[kind] + 1):
                        faults += [(case, by_shell, truth, f"{kind}:{n}:{number}:{mode}")
                                   for number in errnos for mode in ("once", "ever")
                                   if (number, mode) != (errno.EINTR, "ever")]  # libstdc++'s own files wait for ever
        # Every kind alike, though malloc is called a hundred times as often as pread: each gets its turn.
        draws.shuffle(faults)
        places = {}
        order = []
        for fault in faults:
            kind = (fault[0].name, fault[1], fault[3].split(":")[0])
            places[kind] = places.get(kind, 0) + 1
            order.append((places[kind], len(order), fault))
        order.sort(key=lambda entry: entry[:2])
        end = time.monotonic() + seconds
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            def one(fault):
                if everything or time.monotonic() < end:
                    sweep.judge(*fault)
            list(pool.map(one, (entry[2] for entry in order)))
        print(f"{sweep.runs} of {len(faults)} faults, {len(sweep.wrong)} wrong")
        for line in sweep.wrong[:30]:
            print("  " + line.strip().replace("\n", " | "))
        sys.exit(1 if sweep.wrong or sweep.runs == 0 else 0)


if __name__ == "__main__":
    main()
