"""LitData on rows in its own chunks, which `optimize` writes as its documentation has it, under its StreamingDataLoader with
persistent workers.
SPDX-License-Identifier: Apache-2.0
"""
import functools
from importlib.metadata import version

import numpy as np
import torch
from litdata import StreamingDataLoader, StreamingDataset, optimize

from contender import BATCH_SIZE, LABELS, Variant, check_labelled, main

torch.set_num_threads(1)
SIDE = 28  # an array of one dim would be stored as one of any length
# Chunks are of 4 MB, for of the usual 64 MB the set would be one, and two workers wait for each other.


def sample(rows, at):
    return {"image": rows[at].reshape(SIDE, SIDE), "label": at % LABELS}


def write(settings, path):
    rows = np.asarray(settings.rows("litdata"))
    optimize(functools.partial(sample, rows), list(range(len(rows))), output_dir=path, chunk_bytes="4MB", num_workers=1,
             start_method="fork")


def litdata(settings):
    rows, path = settings.rows("litdata"), settings.stored_path("litdata")

    def loader(workers):
        dataset = StreamingDataset(path, shuffle=True, drop_last=False)
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        return StreamingDataLoader(dataset, batch_size=BATCH_SIZE, num_workers=workers, **more)
    return [Variant(f"litdata w{workers}", lambda _, each=loader(workers): iter(each),
                    lambda batch: (np.asarray(batch["image"]), np.asarray(batch["label"])), check_labelled(rows))
            for workers in (0, 2)]


if __name__ == "__main__":
    main({"litdata": litdata}, {"litdata": version("litdata")}, {"litdata": write})
