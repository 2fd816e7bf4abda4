"""Photographs by hand-written threads with OpenCV and simplejpeg; by SPDL, whose threads decode, crop and scale with
FFmpeg; by MLX Data, whose operators do so in C++.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import concurrent.futures
import random
from importlib.metadata import version

import mlx.data as dx
import numpy as np
import simplejpeg
import spdl.io
from spdl.pipeline import PipelineBuilder

from contender import main
from opencv_photos import finish, read
from photos import BATCH_SIZE, BIAS, SCALE, SIDE, Photos, draw_crop, variant


def shuffled_batches(count):
    order = list(range(count))
    random.shuffle(order)
    return [order[at:at + BATCH_SIZE] for at in range(0, count, BATCH_SIZE)]


# ---- OpenCV and simplejpeg ----

def by_hand(source, threads):
    """Each thread fills whole batches; four are ahead."""
    def fill(chosen):
        images = np.empty((len(chosen), 3, SIDE, SIDE), np.float32)
        for out, at in zip(images, chosen):
            finish(simplejpeg.decode_jpeg(read(source.paths[at]), "RGB"), out)
        return images, np.array([source.labels[at] for at in chosen])

    pool = concurrent.futures.ThreadPoolExecutor(threads)

    def epoch(_):
        if threads == 1:
            yield from map(fill, shuffled_batches(len(source)))
            return
        ahead = collections.deque()
        for chosen in shuffled_batches(len(source)):
            ahead.append(pool.submit(fill, chosen))
            if len(ahead) > 4:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    return epoch


# ---- SPDL ----

def normalized(images):
    out = np.empty((len(images), 3, SIDE, SIDE), np.float32)
    for channel in range(3):
        np.multiply(images[..., channel], SCALE[channel], out=out[:, channel])
        out[:, channel] += BIAS[channel]
    return out


def by_spdl(source, threads):
    """One pipeline for all epochs: SPDL's advice is not to build a new one each time."""
    def load(at):
        packets = spdl.io.demux_image(source.paths[at])
        x, y, w, h = draw_crop(packets.width, packets.height)
        flip = "hflip," if random.random() < 0.5 else ""
        filters = f"crop={w}:{h}:{x}:{y}:exact=1,{flip}scale={SIDE}:{SIDE}:flags=bilinear,format=rgb24"
        return spdl.io.decode_packets(packets, filter_desc=filters), source.labels[at]

    def collate(samples):
        frames = spdl.io.convert_frames([frame for frame, _ in samples])
        return normalized(spdl.io.to_numpy(frames)), np.array([label for _, label in samples])

    def indices():
        while True:
            yield from shuffled_batches(len(source))

    opened, steps = [], -(-len(source) // BATCH_SIZE)

    def epoch(_):
        if not opened:
            builder = PipelineBuilder().add_source(indices()).disaggregate().pipe(load, concurrency=threads,
                                                                                  output_order="input")
            made = builder.aggregate(BATCH_SIZE).pipe(collate).add_sink(4).build(num_threads=threads)
            made.start()
            opened.extend([made, iter(made.get_iterator())])
        for _ in range(steps):
            yield next(opened[1])
    return epoch


# ---- MLX Data ----

def by_mlx(source, threads):
    buffer = dx.buffer_from_vector([{"file": path.encode(), "label": label}
                                    for path, label in zip(source.paths, source.labels)])

    def epoch(_):
        made = (buffer.shuffle().load_image("file", output_key="image")
                .image_random_area_crop("image", (0.08, 1.0), (3 / 4, 4 / 3), 10)
                .image_resize("image", SIDE, SIDE).image_random_h_flip("image", 0.5).batch(BATCH_SIZE)
                .key_transform("image", normalized))
        return made.ordered_prefetch(4, threads) if threads > 1 else made
    return epoch


def mlx_arrays(batch):
    return np.asarray(batch["image"]), np.asarray(batch["label"])


def photos(settings):
    source = Photos(settings)
    check = source.check()
    same = lambda batch: batch
    made = []
    for threads in (1, 2):
        made += [(f"simplejpeg and OpenCV {threads}", by_hand(source, threads), same),
                 (f"spdl {threads}", by_spdl(source, threads), same), (f"mlx {threads}", by_mlx(source, threads), mlx_arrays)]
    return [variant(name, epoch, arrays, check) for name, epoch, arrays in made]


if __name__ == "__main__":
    main({"photos": photos}, {"spdl": version("spdl"), "mlx-data": version("mlx-data"), "simplejpeg": version("simplejpeg"),
                              "opencv": version("opencv-python-headless")})
