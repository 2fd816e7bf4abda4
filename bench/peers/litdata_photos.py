"""LitData on photographs: the files' bytes in its chunks, decoded by torchvision.io.decode_jpeg, v2 transforms; its
StreamingDataLoader with persistent workers.
SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
from importlib.metadata import version

import torch
from litdata import StreamingDataLoader, StreamingDataset, optimize

from contender import main
from photos import BATCH_SIZE, Photos, variant
from torch_photos import arrays, from_bytes

torch.set_num_threads(1)


class Decoded(StreamingDataset):
    def __getitem__(self, index):
        sample = super().__getitem__(index)
        return from_bytes(sample["image"]), sample["label"]


def sample(one):
    file, label = one
    with open(file, "rb") as opened:
        return {"image": opened.read(), "label": label}


def chunks(source):
    path = source.derived + "litdata"
    if not os.path.exists(path):
        shutil.rmtree(path + ".draft", ignore_errors=True)
        optimize(sample, list(zip(source.paths, source.labels)), output_dir=path + ".draft", chunk_bytes="64MB", num_workers=1,
                 start_method="fork")
        os.rename(path + ".draft", path)
    return path


def photos(settings):
    source = Photos(settings)
    made = []
    for threads in (1, 2):
        workers = 0 if threads == 1 else 2
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        dataset = Decoded(chunks(source), shuffle=True, drop_last=False)
        loader = StreamingDataLoader(dataset, batch_size=BATCH_SIZE, num_workers=workers, **more)
        made.append(variant(f"litdata {threads}", lambda _, each=loader: iter(each), arrays, source.check()))
    return made


if __name__ == "__main__":
    main({"photos": photos}, {"litdata": version("litdata")})
