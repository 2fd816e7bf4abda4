"""Uses of dataline.torch that checkers have to find, as in wrong.py.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataline.torch import DataLoader, Sampler, tensors

DataLoader("mnist:data", batchsize=64)  # wrong: misspelt
DataLoader("mnist:data", transfrom="flatten")  # wrong: misspelt
DataLoader("mnist:data", shuffle="yes")  # wrong: no such word
DataLoader("mnist:data", num_workers="auto")  # wrong: a number or None
DataLoader("mnist:data", last_batch="cut")  # wrong: no such word
DataLoader(5)  # wrong: no dataset
Sampler(10, transform="flatten")  # wrong: no matter of the order
for batch in DataLoader("mnist:data"):
    print(batch.image)  # wrong: a dict
for sample in DataLoader("mnist:data", fields=("image", "label")):
    print(sample["image"])  # wrong: a list
tensors("mnist:data")  # wrong: no batch
DataLoader("mnist:data", fields=3)  # wrong: no names
