"""Replays what a fuzz target must survive: the seeds its script writes, cuts and bit flips of them, and the stored finds.

  replay.py PROGRAM NAME          runs PROGRAM on them (a test of every preset)
  replay.py --seeds NAME FOLDER   writes the seeds only: what libFuzzer begins with

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLIPS_PER_SEED = 24
CUTS_PER_SEED = 8


def write_seeds(name, folder):
    """The seeds of NAME_seeds.py in `folder`; their number."""
    folder.mkdir(parents=True, exist_ok=True)
    script = HERE / f"{name}_seeds.py"
    if script.is_file():
        subprocess.run([sys.executable, script, folder], check=True)
    return len(list(folder.iterdir()))


def write_damaged(seeds, folder):
    """The same damage in every run."""
    folder.mkdir()
    for seed in sorted(seeds.iterdir()):
        data = seed.read_bytes()
        if not data:
            continue
        draw = random.Random(seed.name)
        for n in range(FLIPS_PER_SEED):
            flipped = bytearray(data)
            for _ in range(draw.choice([1, 1, 2, 4])):
                # Headers are where the decisions are made.
                at = draw.randrange(min(len(data), draw.choice([64, 512, 4096, len(data)])))
                flipped[at] = draw.choice([flipped[at] ^ 1 << draw.randrange(8), 0, 255, 128, draw.randrange(256)])
            (folder / f"{seed.name}.flip{n}").write_bytes(flipped)
        for n in range(CUTS_PER_SEED):
            (folder / f"{seed.name}.cut{n}").write_bytes(data[: draw.randrange(len(data))])


def main():
    if sys.argv[1] == "--seeds":
        print(write_seeds(sys.argv[2], pathlib.Path(sys.argv[3])), "seeds")
        return 0
    program, name = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="dataline-fuzz-") as top:
        seeds, damaged, stored = pathlib.Path(top, "seeds"), pathlib.Path(top, "damaged"), HERE / "corpus" / name
        write_seeds(name, seeds)
        write_damaged(seeds, damaged)
        folders = [folder for folder in (seeds, damaged, stored) if folder.is_dir()]
        done = subprocess.run([program, *folders], stdout=subprocess.PIPE, check=False)
        lines = done.stdout.decode(errors="replace").splitlines()
        print(lines[-1] if lines else "nothing was said")
        if done.returncode != 0:
            print(f"{program} ended with {done.returncode} at the input above")
        return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
