"""The rows with their labels in a safetensors file and in an archive of NumPy. Both are read whole into memory by their own libraries,
as their users do: NumPy's `take` of a batch's rows (a limit, not a loader), and PyTorch's DataLoader, whole batches asked for by
arrays of indices. And safetensors' slices, which read a row when it is wanted, under the DataLoader.
SPDX-License-Identifier: Apache-2.0
"""
from importlib.metadata import version

import numpy as np
import safetensors.numpy
import torch
from safetensors import safe_open
from torch.utils.data import DataLoader, Dataset

from contender import BATCH_SIZE, Variant, check_labelled, labels_of, main
from pytorch import ArraySampler

torch.set_num_threads(1)


def arrays_of(settings, row):
    rows = settings.rows(row)
    return {"image": np.ascontiguousarray(rows), "label": labels_of(rows)}


def write_safetensors(settings, path):
    safetensors.numpy.save_file(arrays_of(settings, "safetensors"), path)


def write_npz(settings, path):
    with open(path, "wb") as file:  # by name, NumPy would add an ending
        np.savez(file, **arrays_of(settings, "npz"))


class Batches(Dataset):
    """Samples are batches: of arrays in memory, by an array of indices. NumPy gathers faster than PyTorch (pytorch.py)."""

    def __init__(self, arrays):
        self.arrays = arrays

    def __len__(self):
        return len(self.arrays["label"])

    def __getitem__(self, chosen):
        return {name: torch.from_numpy(array[chosen]) for name, array in self.arrays.items()}


class Slices(Dataset):
    """A file is opened once in each process."""

    def __init__(self, path, count):
        self.path, self.count, self.slices = path, count, None

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        if self.slices is None:
            file = safe_open(self.path, framework="pt")
            self.slices = {name: file.get_slice(name) for name in ("image", "label")}
        return {"image": self.slices["image"][at], "label": self.slices["label"][at:at + 1][0]}


def by_batch(arrays, workers, check):
    dataset = Batches(arrays)
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    loader = DataLoader(dataset, sampler=ArraySampler(len(dataset), BATCH_SIZE), batch_size=None, num_workers=workers, **more)
    return Variant(f"torch in memory w{workers}", lambda _: iter(loader), numpy_of, check)


def by_sample(name, dataset, workers, check):
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, num_workers=workers, **more)
    return Variant(f"{name} w{workers}", lambda _: iter(loader), numpy_of, check)


def numpy_of(batch):
    return batch["image"].numpy(), batch["label"].numpy()


def taken(arrays, check):
    rng = np.random.default_rng(0)

    def epoch(_):
        order = rng.permutation(len(arrays["label"]))
        parts = (order[at:at + BATCH_SIZE] for at in range(0, len(order), BATCH_SIZE))
        return ((arrays["image"][part], arrays["label"][part]) for part in parts)
    return Variant("numpy take", epoch, lambda batch: batch, check)


def from_safetensors(settings):
    rows, path = settings.rows("safetensors"), settings.stored_path("safetensors")
    check, arrays = check_labelled(rows), safetensors.numpy.load_file(path)
    return [taken(arrays, check), *(by_batch(arrays, workers, check) for workers in (0, 2)),
            *(by_sample("safetensors slices", Slices(path, len(rows)), workers, check) for workers in (0, 2))]


def from_npz(settings):
    rows, path = settings.rows("npz"), settings.stored_path("npz")
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in ("image", "label")}
    check = check_labelled(rows)
    return [taken(arrays, check), *(by_batch(arrays, workers, check) for workers in (0, 2))]


if __name__ == "__main__":
    main({"safetensors": from_safetensors, "npz": from_npz},
         {"safetensors": version("safetensors"), "numpy": version("numpy"), "torch": version("torch")},
         {"safetensors": write_safetensors, "npz": write_npz})
