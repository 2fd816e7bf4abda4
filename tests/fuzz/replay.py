"""Replays what a fuzz target must survive: its seeds, cuts and bit flips of them, and the stored finds.

  replay.py PROGRAM NAME          runs PROGRAM on them (a test of every preset)
  replay.py --seeds NAME FOLDER   writes the seeds only: what libFuzzer starts with

SPDX-License-Identifier: Apache-2.0
"""

import importlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
FLIPS_PER_SEED = 24
CUTS_PER_SEED = 8


def seeds_of(name):
    """{file name: bytes}, by the table's column `seeds`."""
    rows = (line.split() for line in (HERE / "targets.txt").read_text(encoding="ascii").splitlines() if not line.startswith("#"))
    module, *arguments = next(row[3] for row in rows if row[1] == name).split(":")
    return dict(importlib.import_module(f"{module}_seeds").seeds(*arguments))


def write(seeds, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def damaged(seeds):
    """The same damage in every run."""
    for name, data in sorted(seeds.items()):
        if not data:
            continue
        draw = random.Random(name)
        for n in range(FLIPS_PER_SEED):
            flipped = bytearray(data)
            for _ in range(draw.choice([1, 1, 2, 4])):
                # Headers are where the decisions are made.
                at = draw.randrange(min(len(data), draw.choice([64, 512, 4096, len(data)])))
                flipped[at] = draw.choice([flipped[at] ^ 1 << draw.randrange(8), 0, 255, 128, draw.randrange(256)])
            yield f"{name}.flip{n}", flipped
        for n in range(CUTS_PER_SEED):
            yield f"{name}.cut{n}", data[: draw.randrange(len(data))]


def main():
    if sys.argv[1] == "--seeds":
        seeds = seeds_of(sys.argv[2])
        write(seeds, pathlib.Path(sys.argv[3]))
        print(len(seeds), "seeds")
        return 0
    program, name = sys.argv[1:]
    seeds = seeds_of(name)
    with tempfile.TemporaryDirectory(prefix="dataline-fuzz-") as top:
        folders = [pathlib.Path(top, "seeds"), pathlib.Path(top, "damaged"), HERE / "corpus" / name]
        write(seeds, folders[0])
        write(dict(damaged(seeds)), folders[1])
        done = subprocess.run([program, *filter(pathlib.Path.is_dir, folders)], stdout=subprocess.PIPE, check=False,
                              env={**os.environ, "DATALINE_FUZZ_TARGET": name})
        lines = done.stdout.decode(errors="replace").splitlines()
        print(lines[-1] if lines else "nothing was said")
        if done.returncode != 0:
            print(f"{program} ended with {done.returncode} at the input above")
        return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
