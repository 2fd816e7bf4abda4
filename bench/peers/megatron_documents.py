"""Documents in Megatron's indexed dataset, which its own builder writes, shuffled: as arrays of lengths and of all tokens of a batch. Its
IndexedDataset asked for one after another, and under PyTorch's DataLoader with persistent workers.
SPDX-License-Identifier: Apache-2.0
"""
import os
from importlib.metadata import version

import numpy as np
import torch
from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder
from torch.utils.data import DataLoader, Dataset

from contender import DOCUMENT_BATCH_SIZE, Variant, check_documents, joined, main

torch.set_num_threads(1)


def write(settings, path):
    os.makedirs(path)
    prefix = os.path.join(path, "tokens")
    builder = IndexedDatasetBuilder(f"{prefix}.bin", dtype=np.uint16)
    for document in settings.documents():
        builder.add_document(document, [len(document)])
    builder.finalize(f"{prefix}.idx")


class Documents(Dataset):
    def __init__(self, prefix):
        self.set = IndexedDataset(prefix)

    def __len__(self):
        return len(self.set)

    def __getitem__(self, at):
        return self.set[at]


def joined_tensors(documents):
    return tuple(map(torch.from_numpy, joined(documents)))


def megatron(settings):
    check, dataset = check_documents(settings), Documents(os.path.join(settings.stored_path("megatron"), "tokens"))
    rng = np.random.default_rng(0)

    def one_by_one(_):
        order = rng.permutation(len(dataset)).tolist()
        return (joined([dataset[at] for at in order[first:first + DOCUMENT_BATCH_SIZE]])
                for first in range(0, len(order), DOCUMENT_BATCH_SIZE))

    def loader(workers):
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        return DataLoader(dataset, batch_size=DOCUMENT_BATCH_SIZE, shuffle=True, num_workers=workers, collate_fn=joined_tensors, **more)
    return [Variant("megatron", one_by_one, lambda batch: batch, check),
            *(Variant(f"megatron torch w{workers}", lambda _, each=loader(workers): iter(each),
                      lambda batch: tuple(part.numpy() for part in batch), check) for workers in (0, 2))]


if __name__ == "__main__":
    main({"megatron": megatron}, {"megatron-core": version("megatron-core"), "torch": version("torch")}, {"megatron": write})
