"""Trains a small network on MNIST digits: ``train_mnist.py DIR [EPOCHS]``, with the four files in DIR, ``.gz`` or not.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

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


def main(directory: str, epochs: int = 5) -> None:
    torch.set_num_threads(1)  # the network is small, and the other cores load
    torch.manual_seed(1)
    data = dataline.escape(directory)
    train = DataLoader(
        f"mnist:{data}?split=train", 128, shuffle=True, seed=1, epochs=epochs, transform=TRANSFORM, fields=FIELDS
    )
    test = DataLoader(f"mnist:{data}?split=test", 128, transform=TRANSFORM, fields=FIELDS)

    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (len(train) * epochs))
    digest = Digest()
    count = len(train.loader.dataset)
    began = time.perf_counter()
    for epoch in range(epochs):
        total = torch.zeros(())
        for images, labels in train:
            if epoch == 0:
                digest.add(images.numpy())
                digest.add(labels.numpy())
            loss = cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            decay.step()
            total += loss.detach() * len(labels)
        print(f"epoch {epoch + 1}: loss {total / count:.4f}", flush=True)
    seconds = time.perf_counter() - began

    with torch.no_grad():
        right = sum(int((model(images).argmax(1) == labels).sum()) for images, labels in test)
    print(f"first epoch digest: {digest}")
    print(f"test accuracy: {100 * right / len(test.loader.dataset):.2f} %")
    print(f"waited for data: {train.loader.stats().wait_ns / 1e7 / seconds:.1f} %")
    print(f"training speed: {count * epochs / seconds:.0f} samples/s")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: train_mnist.py DIR [EPOCHS]")
    try:
        main(sys.argv[1], *map(int, sys.argv[2:]))
    except (dataline.Error, ValueError) as error:
        sys.exit(f"train_mnist: {error}")
