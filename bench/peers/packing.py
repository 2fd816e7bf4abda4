"""How much padding packing leaves: ours, as `dataline info` tells it, beside the packers of TRL and torchtune, and the least
that any packer can leave.

  packing.py DATALINE [--text FILE] [--documents N]

TRL's `strategy="bfd"` is best fit decreasing inside each batch of 1,000 documents (the batch size of `datasets.map`); torchtune's
PackedDataset puts documents into a row in their order and begins a new one when the next does not fit. Both are written here
from their descriptions; longer documents are cut to pieces of a row's length first, as ours are, so that all pack the same
tokens. The bound is ceil(tokens / length) rows. Documents: a text's paragraphs, a byte a token, and lognormal lengths (median
400, sigma 1.2), which web text has.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import bisect
import json
import pathlib
import random
import re
import subprocess
import tempfile
import time


def pieces_of(lengths, room):
    for length in lengths:
        while length > room:
            yield room
            length -= room
        yield length


def trl_rows(lengths, room, batch=1000):
    rows = 0
    for first in range(0, len(lengths), batch):
        spaces = []  # of the open rows, ascending
        for piece in sorted(pieces_of(lengths[first : first + batch], room), reverse=True):
            at = bisect.bisect_left(spaces, piece)
            if at == len(spaces):
                rows += 1
                bisect.insort(spaces, room - piece)
            else:
                bisect.insort(spaces, spaces.pop(at) - piece)
    return rows


def torchtune_rows(lengths, room):
    rows, space = 0, 0
    for piece in pieces_of(lengths, room):
        if piece > space:
            rows, space = rows + 1, room
        space -= piece
    return rows


def our_rows(program, lengths, room, keys):
    """Through a file: a token 1 for each but a document's last, which is 0."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "documents.bin")
        with path.open("wb") as file:
            for length in lengths:
                file.write(b"\1" * (length - 1) + b"\0")
        begin = time.perf_counter()
        uri = f"tokens:{path}?dtype=u8&documents=eot:0&pack_length={room}&{keys}"
        told = json.loads(subprocess.run([program, "info", "--json", uri], capture_output=True, check=True).stdout)
        return told["samples"], time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dataline")
    parser.add_argument("--text")
    parser.add_argument("--documents", type=int, default=200_000)
    args = parser.parse_args()
    chance = random.Random(1)
    sets = {"lognormal": [1 + int(chance.lognormvariate(5.99, 1.2)) for _ in range(args.documents)]}
    if args.text:
        paragraphs = re.split(rb"\n\n+", pathlib.Path(args.text).read_bytes())
        sets["paragraphs"] = [len(paragraph) + 1 for paragraph in paragraphs if paragraph]
    print("| documents | row | bound | best_fit, 4,096 | best_fit, 65,536 | TRL bfd, 1,000 | torchtune | open, s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, lengths in sets.items():
        tokens = sum(lengths)
        for room in (1024, 2048, 8192):
            share = lambda rows: f"{100 * (1 - tokens / (rows * room)):.2f} %"
            ours, seconds = our_rows(args.dataline, lengths, room, "pack_method=best_fit")
            wide, _ = our_rows(args.dataline, lengths, room, "pack_method=best_fit&pack_window=65536")
            print(f"| {name}, {len(lengths):,} | {room:,} | {share(-(-tokens // room))} | {share(ours)} | {share(wide)} | "
                  f"{share(trl_rows(lengths, room))} | {share(torchtune_rows(lengths, room))} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
