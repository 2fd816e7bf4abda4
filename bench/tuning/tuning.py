#!/usr/bin/env python3
"""The table of the tuning guides: a feed-forward net on MNIST, 5 epochs, under PyTorch's DataLoader with its knobs turned
one by one, and under Dataline. Seconds of an epoch: waited for data, copied to the device, computed; CPU seconds; one
intra-op thread. draw.py makes the page docs/pages/tuning-experiment.md of the results.

(a) PyTorch as it comes, (b) with workers, (c) pinned and non_blocking, (d) with the side-stream prefetcher that projects
write by hand, only on a GPU, (e) the whole set on the device beforehand: the floor, (f) Dataline, (g) with io=device, or
io=memory on a CPU. Then num_workers of both loaders, and the other knobs.

With --device cuda also how long the GPU was idle: between the steps, by CUDA events; and in one profiled epoch, not among
those timed, where no kernel ran, how much of the copies was hidden behind kernels, and a piece of the timeline.

Every variant trains an epoch in turn, five times over, so that a slow moment of the machine hits everybody, and each time
in another order, so that it hits other neighbours. Run by
`bench/run.sh --tuning`; reads the MNIST files from --data (.gz or not), else makes random digits (the times are the same,
the accuracy means nothing).
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import pathlib
import random
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "bench" / "peers")]

import numpy as np
import torch

import kept
import machine
from contender import leave
from dataline_ctypes import load
from digits import open_split, random_digits, read_idx
from training import Training
from variants import variants

EPOCHS, WORKERS_ON_A_GPU = 5, 8

COLUMNS = (("s/epoch", "epoch_s", "{:8.3f}"), ("waited s", "wait_s", "{:8.3f}"), ("copied s", "copy_s", "{:8.3f}"),
           ("CPU s", "cpu_s", "{:8.2f}"),
           ("idle between steps", "between_steps_percent", "{:7.2f} %"), ("no kernel", "device_idle_percent", "{:7.2f} %"),
           ("copies hidden", "upload_hidden_percent", "{:7.1f} %"), ("accuracy", "accuracy_percent", "{:6.2f} %"))


def table(runs, epochs, data):
    shown = [column for column in COLUMNS if any(run.samples.get(column[1]) for run in runs)]
    widths = [max(len(title), 9) for title, _, _ in shown]
    out = [f"{f'{epochs} epochs of {data}':40}" + "".join(f" {title:>{width}}" for (title, _, _), width in zip(shown, widths))]
    for run in runs:
        cells = [form.format(float(np.median(run.samples[metric]))) if run.samples.get(metric) else "-"
                 for _, metric, form in shown]
        out.append(f"{run.name:40}" + "".join(f" {cell:>{width}}" for cell, width in zip(cells, widths)))
    return "\n".join(out)


def show_timelines(runs):
    for run in runs:
        if run.timeline is not None and run.name.startswith("dataline"):
            print(f"\n{run.name}: the device in the middle of a profiled epoch")
            print("\n".join(run.timeline.lines(40)))


def keep(runs, failed, made, asked, data, begun):
    """Adds the row to a results file."""
    on_gpu = asked.device != "cpu"  # there beside the accelerator path's rows
    out = asked.out or machine.results_path(REPOSITORY, on_gpu, "" if on_gpu else "-tuning")
    results = kept.read(out)
    name = "tuning_cuda" if on_gpu else "tuning"
    results["rows"][name] = begun.entry(
        f"bench/run.sh --tuning --epochs {asked.epochs}" + ("" if name == "tuning" else f" --device {asked.device}"), asked.epochs, 0,
        {run.name: run.samples for run in runs}, data=data, versions={"torch": torch.__version__},
        gpu=machine.gpu() if on_gpu else None, failed=failed,
        tuned={run.name: run.batches.tuned() for run in runs if run.name.endswith("tune=on")},
        workers=asked.workers, settings=made.settings, sweeps=made.sweeps, knobs=made.knobs)
    kept.write(out, results)


def make_runs(made, asked):
    runs, failed = [], {}
    for name, make in made.makers.items():
        if asked.only not in name or (asked.short and name not in made.settings.values()):
            continue
        try:
            runs.append(Training(name, make(), torch.device(asked.device)))
        except RuntimeError as error:  # a library without kernels has no io=device
            failed[name] = f"{name}: {error}"
            print(f"tuning: left out: {failed[name]}", file=sys.stderr, flush=True)
    return runs, failed


def train(runs, asked, folder):
    tests = open_split(folder, "t10k")
    images, labels = tests[list(range(len(tests)))]
    for number in range(asked.epochs):
        for run in random.Random(number).sample(runs, len(runs)):
            print(f"tuning: epoch {number + 1} of {asked.epochs}, {run.name}", file=sys.stderr, flush=True)
            run.epoch()
            run.test(images.view(-1, 784), labels)
    for run in runs if asked.device != "cpu" else []:
        print(f"tuning: a profiled epoch, {run.name}", file=sys.stderr, flush=True)
        run.profile()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=REPOSITORY.parent / "shared" / "data" / "mnist")
    parser.add_argument("--library", default=str(REPOSITORY / "build" / "release" / "lib" / "libdataline.so"))
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--workers", type=int, help="of PyTorch's loader in (b) and (c); as many as CPUs, 8 on a GPU")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--only", default="", help="variants whose name has this in it")
    parser.add_argument("--short", action="store_true", help="(a) to (g) alone")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--smoke", action="store_true", help="little data, no results: does each variant run")
    asked = parser.parse_args()
    if asked.device == "cuda":
        asked.device = f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_available() else asked.device
    if asked.device != "cpu" and not torch.cuda.is_available():
        sys.exit(f"tuning: --device {asked.device}: PyTorch {torch.__version__} finds no CUDA device")
    asked.workers = asked.workers or (len(os.sched_getaffinity(0)) if asked.device == "cpu" else WORKERS_ON_A_GPU)
    torch.set_num_threads(1)
    folder, data = asked.data, "MNIST"
    if asked.smoke:
        asked.epochs, asked.workers, data = 1, 2, "few random digits"
        folder = random_digits(REPOSITORY / "build" / "bench-data" / "few-digits", 1010, 100)
    elif read_idx(folder, "train-images-idx3-ubyte") is None:
        print(f"tuning: no MNIST files in {folder}: random digits instead", file=sys.stderr)
        data = "random digits"
        folder = random_digits(REPOSITORY / "build" / "bench-data" / "digits")

    begun = kept.Begun(REPOSITORY)
    made = variants(folder, load(asked.library), torch.device(asked.device), asked.workers)
    runs, failed = make_runs(made, asked)
    train(runs, asked, folder)
    if asked.smoke:
        short = [run.name for run in runs if run.seen != 1010]
        short += list(failed) if asked.device == "cpu" else []
        print("tuning: sane" if not short else f"tuning: not the whole set in an epoch: {short}", flush=True)
        sys.stdout.flush()
        leave(1 if short else 0)
    print(table(runs, asked.epochs, data))
    show_timelines(runs)
    keep(runs, failed, made, asked, data, begun)
    sys.stdout.flush()
    leave()


if __name__ == "__main__":
    main()
