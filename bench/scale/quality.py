"""How well batches are mixed: the entropy of a batch's labels on a set sorted by label, relative to a full shuffle.

  bench/scale/quality.py PATH_TO_DATALINE [--streaming FOLDER] [--small]

1,000 classes of 1,280 samples; files of 1,280 samples for the shuffles that know files. Dataline's orders come from the program. Beside it:

  py1e     the default of MosaicML Streaming, its own code: FOLDER is the unpacked wheel of mosaicml-streaming, of which
           only the module of the shuffle is loaded
  buffer   what WebDataset and tf.data do, written from their documentation: files in random order, then a buffer of k
           samples, of which each draw takes one at random

`held` is how many samples each has open, decoded or as bytes, at a time.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy as np

BATCHES = (32, 256, 512, 2048)


def dataline(program, samples, batch, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.raw"
        path.write_bytes(bytes(samples))
        said = subprocess.run([program, "cat", f"raw:{path}?dtype=u8", "--indices", "--seed", "1", "--batch_size", str(batch), *options],
                              capture_output=True, check=True).stdout
        return np.array(said.split(), dtype=np.int64)


def shuffled_files(samples, of_file, rng):
    files = rng.permutation(-(-samples // of_file))
    return np.concatenate([np.arange(f * of_file, min((f + 1) * of_file, samples)) for f in files])


def py1e(folder, samples, of_file, block):
    for name in ("streaming", "streaming.base", "streaming.base.shuffle"):  # without what their __init__ imports
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder, *name.split(".")))]
    module = importlib.import_module("streaming.base.shuffle.py1e")
    return module.get_shuffle_py1e(np.full(samples // of_file, of_file), num_canonical_nodes=1, seed=1, epoch=0, block_size=block)


def buffer(samples, of_file, size, rng):
    ids = shuffled_files(samples, of_file, rng)
    held, out = ids[:size].copy(), np.empty_like(ids)
    draws = rng.integers(0, size, samples - size)
    for i, (slot, following) in enumerate(zip(draws, ids[size:])):
        out[i] = held[slot]
        held[slot] = following
    out[samples - size:] = rng.permutation(held)
    return out


def entropy(order, batch, of_class, classes):
    labels = order[:len(order) // batch * batch].reshape(-1, batch) // of_class
    total = 0.0
    for row in labels:
        share = np.bincount(row, minlength=classes) / batch
        share = share[share > 0]
        total -= float((share * np.log2(share)).sum())
    return total / len(labels)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--streaming")
    arguments.add_argument("--small", action="store_true")
    given = arguments.parse_args()
    classes, of_class = (100, 128) if given.small else (1000, 1280)
    samples = classes * of_class
    rng = np.random.default_rng(1)

    def window(batch, of_block, blocks):
        return dataline(given.program, samples, batch, "--shuffle", "window", "--shuffle_block", str(of_block), "--shuffle_blocks", str(blocks))

    rows = [
        ("Dataline window, blocks of 76 samples (8 MiB of photographs), 512 open", 512 * 76, lambda batch: window(batch, 76, 512)),
        ("the same, 2048 open", 2048 * 76, lambda batch: window(batch, 76, 2048)),
        ("Dataline window, blocks of 1280 samples (a class each), 512 open", 512 * 1280, lambda batch: window(batch, 1280, 512)),
    ]
    fixed = [(f"a buffer of {size:,}", size, buffer(samples, of_class, size, rng)) for size in ((1000,) if given.small else (1000, 10_000, 512 * 76))]
    if given.streaming:
        fixed += [(f"MDS py1e, shuffle_block_size {block:,}", block, py1e(given.streaming, samples, of_class, block))
                  for block in ((2**10,) if given.small else (512 * 76, 2**18))]
    rows += [(name, held, lambda batch, order=order: order) for name, held, order in fixed]

    print("| shuffle | held |" + "".join(f" batch {batch} |" for batch in BATCHES) + "\n|---|---|" + "---|" * len(BATCHES))
    full = {batch: entropy(dataline(given.program, samples, batch, "--shuffle", "full"), batch, of_class, classes) for batch in BATCHES}
    for name, held, order_of in rows:
        figures = [entropy(order_of(batch), batch, of_class, classes) / full[batch] for batch in BATCHES]
        print(f"| {name} | {held:,} |" + "".join(f" {100 * figure:.1f} % |" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
