"""MosaicML Streaming on rows in MDS shards, under PyTorch's DataLoader with persistent workers.
SPDX-License-Identifier: Apache-2.0
"""
from importlib.metadata import version

import torch
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

from contender import BATCH_SIZE, ROW_BYTES, Variant, check_labelled, labels_of, main

torch.set_num_threads(1)


def write(settings, path):
    rows = settings.rows("mds")
    with MDSWriter(out=path, columns={"image": f"ndarray:uint8:{ROW_BYTES}", "label": "int"}) as writer:
        for row, label in zip(rows, labels_of(rows)):
            writer.write({"image": row, "label": int(label)})


def mds(settings):
    rows, path = settings.rows("mds"), settings.stored_path("mds")

    def loader(workers):
        dataset = StreamingDataset(local=path, shuffle=True, batch_size=BATCH_SIZE, num_canonical_nodes=1)
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        return DataLoader(dataset, batch_size=BATCH_SIZE, num_workers=workers, **more)
    return [Variant(f"streaming w{workers}", lambda _, each=loader(workers): iter(each),
                    lambda batch: (batch["image"].numpy(), batch["label"].numpy()), check_labelled(rows))
            for workers in (0, 2)]


if __name__ == "__main__":
    main({"mds": mds}, {"mosaicml-streaming": version("mosaicml-streaming")}, {"mds": write})
