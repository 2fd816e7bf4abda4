"""A job is handed from one language to the next by its saved state, and the joined stream is what `dataline cat` writes.

  chain_test.py DATALINE NAME=COMMAND...

Each command is that language's chain program (examples/README.md), its words apart by spaces. Every job is run twice: in the
order given and in the opposite one, so that each program reads states of both its neighbours.

SPDX-License-Identifier: Apache-2.0
"""

import array
import pathlib
import shlex
import subprocess
import sys
import tempfile

SAMPLES = 1003

# Jobs in which a position is more than a count of bytes.
JOBS = {
    "rows, shuffled": ("rows", "data", {"shuffle": "full", "seed": 7, "batch_size": 16, "epochs": 2}),
    "converted": ("rows", "data", {"transform": "data: cast(f32), scale(0.25)", "batch_size": 33, "last_batch": "pad", "epochs": 2}),
    "one rank of three": ("rows", "data", {"shuffle": "full", "seed": 3, "batch_size": 8, "world_size": 3, "rank": 1, "epochs": 3}),
    "token windows": ("tokens", "x", {"shuffle": "full", "seed": 1, "batch_size": 4, "epochs": 4, "last_batch": "drop"}),
}


def make_data(folder):
    """URIs of an .npy file of u16 rows and of a file of tokens."""
    values = array.array("H", range(SAMPLES * 3))
    if sys.byteorder == "big":
        values.byteswap()
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({SAMPLES}, 3), }}"
    header = header.ljust(128 - 10 - 1) + "\n"
    rows = folder / "rows.npy"
    rows.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())
    tokens = folder / "tokens.bin"
    tokens.write_bytes(values.tobytes())
    return {"rows": f"npy:{rows}", "tokens": f"tokens:{tokens}?length=16"}


def cat(program, uri, field, options):
    flags = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    return subprocess.run([program, "cat", uri, "--field", field, *flags], stdout=subprocess.PIPE, check=True).stdout


def chain(links, folder, uri, field, options):
    """The joined output: each link delivers a few batches, so that epochs end inside of one; the last one all the rest."""
    settings = [f"{key}={value}" for key, value in options.items()]
    state = "-"
    joined = b""
    for number, (name, command) in enumerate(links):
        last = number + 1 == len(links)
        saved = "-" if last else str(folder / f"{number}.state")
        batches = -1 if last else 5 + 2 * number
        done = subprocess.run([*command, uri, state, saved, str(batches), field, *settings], capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(f"{name} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        joined += done.stdout
        state = saved
    return joined


def main():
    program = sys.argv[1]
    links = []
    for argument in sys.argv[2:]:
        name, _, command = argument.partition("=")
        links.append((name, shlex.split(command)))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        uris = make_data(folder)
        for title, (source, field, options) in JOBS.items():
            expected = cat(program, uris[source], field, options)
            for order in (links, links[::-1]):
                names = " -> ".join(name for name, _ in order)
                try:
                    got = chain(order, folder, uris[source], field, options)
                    good = got == expected and len(expected) > 0
                    told = f"{len(got)} bytes, expected {len(expected)}"
                except AssertionError as error:
                    good, told = False, str(error)
                failed += not good
                print(f"{'ok' if good else 'FAILED'}: {title}: {names}: {told}")
    print(f"{2 * len(JOBS) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
