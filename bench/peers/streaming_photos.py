"""MosaicML Streaming on photographs: the files' bytes in MDS shards, decoded by torchvision.io.decode_jpeg, v2 transforms;
PyTorch's DataLoader with persistent workers.
SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
from importlib.metadata import version

import torch
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

from contender import main
from photos import BATCH_SIZE, Photos, variant
from torch_photos import arrays, from_bytes

torch.set_num_threads(1)


class Decoded(StreamingDataset):
    def __getitem__(self, index):
        sample = super().__getitem__(index)
        return from_bytes(sample["image"]), sample["label"]


def shards(source):
    path = source.derived + "mds"
    if not os.path.exists(path):
        shutil.rmtree(path + ".draft", ignore_errors=True)
        with MDSWriter(out=path + ".draft", columns={"image": "bytes", "label": "int"}) as writer:
            for file, label in zip(source.paths, source.labels):
                with open(file, "rb") as opened:
                    writer.write({"image": opened.read(), "label": label})
        os.rename(path + ".draft", path)
    return path


def photos(settings):
    source = Photos(settings)
    made = []
    for threads in (1, 2):
        workers = 0 if threads == 1 else 2
        more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
        dataset = Decoded(local=shards(source), shuffle=True, batch_size=BATCH_SIZE, num_canonical_nodes=1)
        loader = DataLoader(dataset, batch_size=BATCH_SIZE, num_workers=workers, **more)
        made.append(variant(f"streaming {threads}", lambda _, each=loader: iter(each), arrays, source.check()))
    return made


if __name__ == "__main__":
    main({"photos": photos}, {"mosaicml-streaming": version("mosaicml-streaming")})
