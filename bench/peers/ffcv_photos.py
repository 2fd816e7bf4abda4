"""FFCV on photographs, written once into its own format: as JPEG (quality 95) and as raw pixels. RandomResizedCrop's
decoder, flip, normalised to f32, NCHW; read with OrderOption.RANDOM from the page cache.
SPDX-License-Identifier: Apache-2.0
"""
import os
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

from contender import main
from photos import BATCH_SIZE, DEVIATION, MEAN, SIDE, Check, Photos, variant

torch.set_num_threads(1)


class Pictures:
    def __init__(self, picture, labels):
        self.picture, self.labels = picture, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, at):
        return self.picture(at), int(self.labels[at])


def beton(path, pictures, **how):
    if not os.path.exists(path):
        writer = DatasetWriter(path + ".draft", {"image": RGBImageField(**how), "label": IntField()}, num_workers=1)
        writer.from_indexed_dataset(pictures, chunksize=50)
        os.rename(path + ".draft", path)
    return path


def loader_of(path, threads, batch_size, normalised=True):
    """Else bytes, NHWC."""
    mean, deviation = (255 * np.array(values, np.float32) for values in (MEAN, DEVIATION))
    image = [RandomResizedCropRGBImageDecoder((SIDE, SIDE), scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)), RandomHorizontalFlip()]
    if normalised:
        image += [NormalizeImage(mean, deviation, np.float32), ToTensor(), ToTorchImage(channels_last=False)]
    return Loader(path, batch_size=batch_size, num_workers=threads, os_cache=True, drop_last=False, batches_ahead=4,
                  order=OrderOption.RANDOM, seed=1, pipelines={"image": image,
                                                               "label": [IntDecoder(), ToTensor(), Squeeze()]})


def epochs(path, threads):
    loader = loader_of(path, threads, BATCH_SIZE)
    return lambda _: iter(loader)


def arrays(batch):
    return batch[0].numpy(), batch[1].numpy().reshape(-1)


def photos(settings):
    source = Photos(settings)
    pictures = Pictures(lambda at: Image.open(source.paths[at]).convert("RGB"), source.labels)
    path = beton(source.derived + "95.beton", pictures, write_mode="jpg", jpeg_quality=95)
    return [variant(f"ffcv jpeg {threads}", epochs(path, threads), arrays, source.check()) for threads in (1, 2)]


def raw_photos(settings):
    count = 64 if settings.small else 1000
    path = os.path.join(settings.data_dir, f"raw_{count}x256x256x3.npy")
    images = np.load(path, mmap_mode="r")
    pictures = Pictures(lambda at: np.ascontiguousarray(images[at]), range(count))
    made = beton(path.replace(".npy", ".beton"), pictures, write_mode="raw")
    check = Check(range(count), path + ".statistics")
    return [variant(f"ffcv raw {threads}", epochs(made, threads), arrays, check) for threads in (1, 2)]


if __name__ == "__main__":
    main({"photos": photos, "raw_photos": raw_photos}, {"ffcv": version("ffcv")})
