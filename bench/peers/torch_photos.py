"""PyTorch on photographs: ImageFolder and DataLoader with Pillow, and with torchvision.io.decode_jpeg and v2 transforms on
u8 tensors; torchdata.nodes with threads; WebDataset on a tar of the same files in two shards. Persistent workers, one
intra-op thread. decode_jpeg and nodes give back the GIL while they decode.
SPDX-License-Identifier: Apache-2.0
"""
import io
import os
import tarfile

import torch
import torchdata.nodes as nodes
import torchvision
import webdataset
from torch.utils.data import DataLoader, RandomSampler, default_collate
from torchvision.datasets import ImageFolder
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

from contender import main
from photo_tensors import CROP, FROM_TENSOR, NORMALIZE, from_bytes
from photos import BATCH_SIZE, Photos, variant

torch.set_num_threads(1)

FROM_PIL = v2.Compose([*CROP, v2.PILToTensor(), *NORMALIZE])


def decoded(path):
    return decode_jpeg(read_file(path), mode=ImageReadMode.RGB)


def loader(dataset, workers):
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    return DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, num_workers=workers, **more)


def node_loader(dataset, threads):
    mapped = nodes.ParallelMapper(nodes.SamplerWrapper(RandomSampler(dataset)), map_fn=dataset.__getitem__,
                                  num_workers=threads, method="thread")
    batches = nodes.Mapper(nodes.Batcher(mapped, BATCH_SIZE, drop_last=False), default_collate)
    return nodes.Loader(nodes.Prefetcher(batches, prefetch_factor=4))


def shards(photos):
    """Two, for each worker one."""
    paths = [f"{photos.derived}{shard}.tar" for shard in range(2)]
    for shard, path in enumerate(paths):
        if os.path.exists(path):
            continue
        with tarfile.open(path + ".draft", "w") as archive:
            for at in range(shard, len(photos), 2):
                name, label = f"{at:06d}", str(photos.labels[at]).encode()
                archive.add(os.path.realpath(photos.paths[at]), f"{name}.jpg")
                info = tarfile.TarInfo(f"{name}.cls")
                info.size = len(label)
                archive.addfile(info, io.BytesIO(label))
        os.rename(path + ".draft", path)
    return paths


def as_number(data):
    return int(data)


def web_loader(photos, workers):
    dataset = (webdataset.WebDataset(shards(photos), shardshuffle=False, nodesplitter=None).shuffle(len(photos))
               .to_tuple("jpg", "cls").map_tuple(from_bytes, as_number).batched(BATCH_SIZE))
    more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    return webdataset.WebLoader(dataset, batch_size=None, num_workers=workers, **more)


def arrays(batch):
    return torch.as_tensor(batch[0]).numpy(), torch.as_tensor(batch[1]).numpy()


def photos(settings):
    source = Photos(settings)
    check = source.check()
    pillow = ImageFolder(source.folder, transform=FROM_PIL)
    tensors = ImageFolder(source.folder, loader=decoded, transform=FROM_TENSOR)
    made = []
    for threads in (1, 2):
        workers = 0 if threads == 1 else 2
        made += [(f"pytorch PIL {threads}", loader(pillow, workers)),
                 (f"pytorch decode_jpeg {threads}", loader(tensors, workers)),
                 (f"torchdata.nodes {threads}", node_loader(tensors, threads)),
                 (f"webdataset {threads}", web_loader(source, workers))]
    return [variant(name, lambda _, each=each: iter(each), arrays, check) for name, each in made]


if __name__ == "__main__":
    main({"photos": photos}, {"torch": torch.__version__, "torchvision": torchvision.__version__,
                              "webdataset": webdataset.__version__})
