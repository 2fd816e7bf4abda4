"""Trains a small network on MNIST digits: ``train_mnist.py DIR [EPOCHS] [--device cuda]``, with the four files in DIR,
``.gz`` or not.

On a GPU the batches come as CUDA tensors: the pixels cross the bus as they are stored, are normalised there, and lie in the
loader's own device memory. Nothing is copied out of it, but for the digest of the first epoch. PyTorch's current stream
waits for each batch by itself, and the loader for the work on it; there is nothing to synchronise here.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import dataline
from dataline.torch import DataLoader
from digest import Digest

# u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
TRANSFORM = "image: normalize(mnist), flatten"
FIELDS = ("image", "label")


def main(directory: str, epochs: int, device: str) -> None:
    torch.set_num_threads(1)  # the network is small, and the other cores load
    torch.manual_seed(1)
    data = dataline.escape(directory)
    train = DataLoader(
        f"mnist:{data}?split=train",
        128,
        shuffle=True,
        seed=1,
        epochs=epochs,
        transform=TRANSFORM,
        fields=FIELDS,
        device=device,
    )
    test = DataLoader(f"mnist:{data}?split=test", 128, transform=TRANSFORM, fields=FIELDS, device=device)

    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(train.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (len(train) * epochs))
    digest = Digest()
    count = len(train.loader.dataset)
    began = time.perf_counter()
    for epoch in range(epochs):
        total = torch.zeros((), device=train.device)
        for images, labels in dataline.progress(train, "train"):
            if epoch == 0:
                digest.add(images.cpu().numpy())
                digest.add(labels.cpu().numpy())
            loss = cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            decay.step()
            total += loss.detach() * len(labels)
        print(f"epoch {epoch + 1}: loss {total / count:.4f}", flush=True)  # the GPU is waited for here, once an epoch
    seconds = time.perf_counter() - began

    with torch.no_grad():
        right = sum((model(images).argmax(1) == labels).sum() for images, labels in test)
    print(f"first epoch digest: {digest}")
    print(f"test accuracy: {100 * int(right) / len(test.loader.dataset):.2f} %")
    print(f"waited for data: {train.loader.stats().wait_ns / 1e7 / seconds:.1f} %")
    print(f"training speed: {count * epochs / seconds:.0f} samples/s")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Trains a small network on MNIST digits.")
    arguments.add_argument("directory", help="the folder of the four files")
    arguments.add_argument("epochs", type=int, nargs="?", default=5)
    arguments.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    given = arguments.parse_args()
    try:
        main(given.directory, given.epochs, given.device)
    except (dataline.Error, ValueError, RuntimeError) as error:
        sys.exit(f"train_mnist: {error}")
