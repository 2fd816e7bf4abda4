"""The MNIST files, or random digits in their place, and PyTorch datasets over them.
SPDX-License-Identifier: Apache-2.0
"""
import gzip

import numpy as np
import torch
from torch.utils.data import Dataset

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


def random_digits(folder, train=60_000, test=10_000):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, count in (("train", train), ("t10k", test)):
        write_idx(folder / f"{name}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28), np.uint8))
        write_idx(folder / f"{name}-labels-idx1-ubyte", rng.integers(0, 10, count, np.uint8))
    return folder


def normalized(stored):
    """As ToTensor and Normalize give it."""
    return stored.to(torch.float32).div_(255).sub_(MEAN).div_(DEVIATION)


class Stored(Dataset):
    """One digit as it is stored; or a whole batch when asked with a list."""

    def __init__(self, images, labels):
        self.images, self.labels = torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Digits(Stored):
    """The same, normalised."""

    def __getitem__(self, index):
        return normalized(self.images[index]), self.labels[index]


class TutorialDigits(Stored):
    """As torchvision's MNIST and the tutorials have it: a picture of PIL's, ToTensor and Normalize for each digit."""

    def __init__(self, images, labels):
        from PIL import Image
        from torchvision import transforms
        super().__init__(images, labels)
        self.picture = Image.fromarray
        self.transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((MEAN,), (DEVIATION,))])

    def __getitem__(self, index):
        return self.transform(self.picture(self.images[index].numpy())), int(self.labels[index])


def open_split(folder, name, kind=Digits):
    return kind(read_idx(folder, f"{name}-images-idx3-ubyte"), read_idx(folder, f"{name}-labels-idx1-ubyte"))
