#!/usr/bin/env python3
"""What an epoch's order and a resume cost at 10^8 samples, beside other loaders: which sample comes next is decided, none is read.

  bench/scale/plans.py PATH_TO_DATALINE [--python VENV/bin/python] [--streaming FOLDER] [--samples N] [--rounds N] [--only mds,grain]

Each way runs in a process of its own, which says the seconds until the first sample of a shuffled epoch is known, the same from
a state in the middle of it, and how far its memory grew. Importing is not counted; of Dataline it is the whole program,
started anew, which opens a sparse file of as many bytes and delivers a batch.

  mds        MosaicML Streaming's default, py1e, its own code, as quality.py loads it. Each epoch makes the order of all samples,
             and so does a resume
  torchdata  StatefulDataLoader over a RandomSampler: a permutation as a list of Python's; a resume makes it anew and skips
  lancedb    a Permutation: row numbers of a table in a random order, which are a table too; of a table with a byte a row. A resume
             makes it anew, and skips. Version 0.40 gives its sorter 100 MB: 10^7 rows are refused
  grain      MapDataset.shuffle and its iterator's set_state: an index is computed when it is asked for
--python: environments that have them; each way runs in the first that can. One that no environment has is left out, and said.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SHARD = 1000  # samples of a file, where files matter


def measured(work):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def mds(samples, folder):
    import importlib
    import types

    import numpy as np

    for name in ("streaming", "streaming.base", "streaming.base.shuffle"):
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder) / name.replace(".", "/"))]
    order = importlib.import_module("streaming.base.shuffle.py1e").get_shuffle_py1e
    sizes = np.full(samples // SHARD, SHARD)
    # One canonical node, seed 9176, epoch 0 and the block size of its documentation.
    seconds, mib = measured(lambda: order(sizes, 1, 9176, 0, 1 << 18))
    return seconds, seconds, mib  # a resume makes the same order, and takes what is left of it


def torchdata(samples, _):
    from torch.utils.data import RandomSampler
    from torchdata.stateful_dataloader import StatefulDataLoader

    def loader():
        return StatefulDataLoader(range(samples), batch_size=None, sampler=RandomSampler(range(samples)))

    whole = loader()
    seconds, mib = measured(lambda: next(iter(whole)))
    state = whole.state_dict()
    state["_sampler_iter_yielded"] = samples // 2
    resumed = loader()
    resumed.load_state_dict(state)
    again, _ = measured(lambda: next(iter(resumed)))
    return seconds, again, mib


def lancedb(samples, _):
    import lancedb as package
    import numpy as np
    import pyarrow
    from lancedb.permutation import Permutation, permutation_builder

    with tempfile.TemporaryDirectory() as folder:
        rows = pyarrow.table({"x": pyarrow.array(np.zeros(samples, np.uint8))})
        table = package.connect(folder).create_table("set", rows)
        del rows

        def first(skipped):
            order = permutation_builder(table).shuffle(seed=1).execute()
            return Permutation.from_tables(table, order).with_skip(skipped)[0]

        seconds, mib = measured(lambda: first(0))
        return seconds, measured(lambda: first(samples // 2))[0], mib


def grain(samples, _):
    import grain as package

    dataset = package.MapDataset.range(samples).shuffle(seed=1)
    seconds, mib = measured(lambda: dataset[0])
    iterator = iter(dataset.to_iter_dataset(package.ReadOptions(num_threads=0, prefetch_buffer_size=0)))
    next(iterator)
    state = dict(iterator.get_state())
    state["next_index"] = samples // 2
    again, _ = measured(lambda: (iterator.set_state(state), next(iterator)))
    return seconds, again, mib


def dataline(samples, program):
    with tempfile.TemporaryDirectory() as folder:
        data, state = pathlib.Path(folder) / "set.raw", pathlib.Path(folder) / "state"
        with data.open("wb") as file:
            file.truncate(samples)
        job = [program, "cat", f"raw:{data}?dtype=u8", "--indices", "--shuffle", "full", "--batch_size", "64", "--batches", "1"]

        def run(*more):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            begin = time.perf_counter()
            subprocess.run([*job, *more], stdout=subprocess.DEVNULL, check=True)
            return time.perf_counter() - begin, max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024

        run("--start_step", str(samples // 128), "--save-state", str(state))
        seconds, mib = run()
        return seconds, run("--load-state", str(state))[0], mib


WAYS = {"dataline": dataline, "mds": mds, "torchdata": torchdata, "lancedb": lancedb, "grain": grain}


def shown(seconds):
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.2g} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--streaming", help="the unpacked wheel of mosaicml-streaming")
    parser.add_argument("--samples", type=int, default=10**8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="the ways to measure: dataline,grain", default=",".join(WAYS))
    parser.add_argument("--way", help=argparse.SUPPRESS)  # in the process of one
    asked = parser.parse_args()
    if asked.way:
        print(json.dumps(WAYS[asked.way](asked.samples, asked.streaming if asked.way == "mds" else asked.program)))
        return
    print("| | an epoch's first sample | a resume's | memory |\n|---|---|---|---|")
    for way in asked.only.split(","):
        if way == "mds" and not asked.streaming:
            continue
        job = [__file__, asked.program, "--way", way, "--samples", str(asked.samples)]
        job += ["--streaming", asked.streaming] if asked.streaming else []
        rounds, why = [], []
        for python in asked.python:
            while len(rounds) < asked.rounds:
                ran = subprocess.run([python, *job], capture_output=True, text=True)
                if ran.returncode != 0:
                    why.append((ran.stderr.strip().splitlines() or [f"it ended with {ran.returncode}"])[-1])
                    break
                rounds.append(json.loads(ran.stdout.splitlines()[-1]))
        if not rounds:
            print(f"left out: {way}: {'; '.join(why)}", file=sys.stderr)
        if rounds:
            first, again, mib = (statistics.median(column) for column in zip(*rounds))
            print(f"| {way} | {shown(first)} | {shown(again)} | {mib:.0f} MiB |", flush=True)


main()
