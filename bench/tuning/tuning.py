#!/usr/bin/env python3
"""The table of the tuning guides, on the CPU: a feed-forward net on MNIST, 5 epochs, under PyTorch's DataLoader with its
knobs turned one by one, and under Dataline. Epoch seconds, seconds waited for data, CPU seconds; one intra-op thread.

Every variant trains an epoch in turn, five times over, so that a slow moment of the machine hits everybody. Run by
`bench/run.sh --tuning`; reads the MNIST files from --data (.gz or not), else makes random digits (the times are the same,
the accuracy means nothing).
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import datetime
import gzip
import json
import os
import pathlib
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "bench" / "peers")]

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

import machine
from contender import cpu_seconds, leave
from dataline_ctypes import Loader, load

BATCH_SIZE, HIDDEN, EPOCHS = 100, 500, 5
MEAN, DEVIATION = 0.1307, 0.3081


def read_idx(folder, name):
    for suffix, open_file in (("", open), (".gz", gzip.open)):
        path = folder / (name + suffix)
        if path.exists():
            with open_file(path, "rb") as file:
                data = file.read()
            dims = data[3]
            shape = [int.from_bytes(data[4 + 4 * dim:8 + 4 * dim], "big") for dim in range(dims)]
            return np.frombuffer(data, np.uint8, offset=4 + 4 * dims).reshape(shape)
    return None


def write_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    path.write_bytes(header + array.tobytes())


def random_digits(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, count in (("train", 60_000), ("t10k", 10_000)):
        write_idx(folder / f"{name}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28), np.uint8))
        write_idx(folder / f"{name}-labels-idx1-ubyte", rng.integers(0, 10, count, np.uint8))
    return folder


class Digits(Dataset):
    """One digit, normalised, as ToTensor and Normalize give it; or a whole batch when asked with a list."""

    def __init__(self, images, labels):
        self.images, self.labels = torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index].to(torch.float32).div(255).sub_(MEAN).div_(DEVIATION), self.labels[index]


class Training:
    """A net, its optimiser and its source of batches."""

    def __init__(self, name, batches):
        self.name, self.batches = name, batches
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(784, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.samples = {"epoch_s": [], "wait_s": [], "cpu_s": [], "accuracy_percent": []}

    def epoch(self):
        clock, waited, cpu = time.perf_counter, 0.0, cpu_seconds()
        begin = asked = clock()
        for images, labels in self.batches:
            waited += clock() - asked
            self.optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(self.net(images.view(len(labels), 784)), labels)
            loss.backward()
            self.optimizer.step()
            asked = clock()
        waited += clock() - asked
        self.samples["epoch_s"].append(clock() - begin)
        self.samples["wait_s"].append(waited)
        self.samples["cpu_s"].append(cpu_seconds() - cpu)

    @torch.no_grad()
    def test(self, images, labels):
        right = (self.net(images).argmax(1) == labels).sum().item()
        self.samples["accuracy_percent"].append(100 * right / len(labels))


def trainings(digits, folder, library):
    def pytorch(name, **options):
        return Training(f"pytorch {name}", DataLoader(digits, batch_size=BATCH_SIZE, shuffle=True, **options))

    def dataline(workers):
        loader = Loader(library, f"mnist:{folder}?split=train", batch_size=BATCH_SIZE, shuffle="full",
                        num_workers=workers, transform="image: normalize(mnist)")
        return Training(f"dataline w{workers}", loader)

    whole = BatchSampler(RandomSampler(digits), BATCH_SIZE, drop_last=False)
    return [
        pytorch("w0"), pytorch("w1", num_workers=1), pytorch("w2", num_workers=2),
        pytorch("w2 prefetch_factor=8", num_workers=2, prefetch_factor=8),
        pytorch("w2 persistent", num_workers=2, persistent_workers=True),
        pytorch("w2 persistent prefetch_factor=8", num_workers=2, persistent_workers=True, prefetch_factor=8),
        Training("pytorch batched w0", DataLoader(digits, sampler=whole, batch_size=None)),
        dataline(0), dataline(1),
    ]


def table(runs, epochs, data):
    out = [f"{f'{epochs} epochs of {data}':40} {'s/epoch':>8} {'waited':>8} {'CPU s':>8} {'accuracy':>9}"]
    for run in runs:
        middle = {key: float(np.median(values)) for key, values in run.samples.items()}
        out.append(f"{run.name:40} {middle['epoch_s']:8.2f} {100 * middle['wait_s'] / middle['epoch_s']:6.1f} % "
                   f"{middle['cpu_s']:8.2f} {run.samples['accuracy_percent'][-1]:7.2f} %")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=REPOSITORY.parent / "shared" / "data" / "mnist")
    parser.add_argument("--library", default=str(REPOSITORY / "build" / "release" / "lib" / "libdataline.so"))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--only", default="", help="variants whose name has this in it")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folder, data = asked.data, "MNIST"
    if read_idx(folder, "train-images-idx3-ubyte") is None:
        print(f"tuning: no MNIST files in {folder}: random digits instead", file=sys.stderr)
        data = "random digits"
        folder = random_digits(REPOSITORY / "build" / "bench-data" / "digits")
    digits = Digits(read_idx(folder, "train-images-idx3-ubyte"), read_idx(folder, "train-labels-idx1-ubyte"))
    tests = Digits(read_idx(folder, "t10k-images-idx3-ubyte"), read_idx(folder, "t10k-labels-idx1-ubyte"))
    test_images, test_labels = tests[list(range(len(tests)))]
    test_images = test_images.view(-1, 784)

    load_before, ticks_before = os.getloadavg()[0], machine.cpu_ticks()
    runs = [run for run in trainings(digits, folder, load(asked.library)) if asked.only in run.name]
    for number in range(asked.epochs):
        for run in runs if number % 2 == 0 else runs[::-1]:
            print(f"tuning: epoch {number + 1} of {asked.epochs}, {run.name}", file=sys.stderr, flush=True)
            run.epoch()
            run.test(test_images, test_labels)
    print(table(runs, asked.epochs, data))

    out = asked.out or (REPOSITORY / "bench" / "results" / f"{datetime.date.today()}-{machine.slug()}.json")
    results = json.loads(out.read_text()) if out.exists() else {"rows": {}, "machine": machine.facts()}
    ticks, stolen = (after - before for after, before in zip(machine.cpu_ticks(), ticks_before))
    commit, changed = machine.commit(REPOSITORY)
    results["rows"]["tuning"] = {
        "command": f"bench/run.sh --tuning --epochs {asked.epochs}", "data": data, "commit": commit, "changed": changed,
        "time": datetime.datetime.now().isoformat(timespec="seconds"), "seconds": 0, "rounds": asked.epochs,
        "load_before": load_before, "load_after": os.getloadavg()[0],
        "stolen_percent": 100 * stolen / max(ticks, 1), "versions": {"torch": torch.__version__},
        "failed": {}, "notes": {}, "samples": {run.name: run.samples for run in runs}}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=1) + "\n")
    sys.stdout.flush()
    leave()


if __name__ == "__main__":
    main()
