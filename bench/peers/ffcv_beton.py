"""FFCV: the rows written once into its own format, read with OrderOption.RANDOM from the page cache.
SPDX-License-Identifier: Apache-2.0
"""
import os
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")

import numpy as np
import torch
from ffcv.fields import NDArrayField
from ffcv.fields.decoders import NDArrayDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.pipeline.allocation_query import AllocationQuery
from ffcv.pipeline.compiler import Compiler
from ffcv.pipeline.operation import Operation
from ffcv.transforms import ToTensor
from ffcv.writer import DatasetWriter
from dataclasses import replace

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, Variant, check_in_order, check_normalized,
                       check_rows, check_tokens, main, token_windows)

torch.set_num_threads(1)


class Indexed:
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return (self.rows[index],)


class Normalize(Operation):
    """u8 to f32 as a compiled operation of FFCV's pipeline."""

    def generate_code(self):
        scale, bias, parallel = SCALE, BIAS, Compiler.get_iterator()

        def normalize(rows, out):
            for i in parallel(rows.shape[0]):
                for k in range(rows.shape[1]):
                    out[i, k] = np.float32(rows[i, k]) * scale + bias
            return out[:rows.shape[0]]
        normalize.is_parallel = True
        return normalize

    def declare_state_and_memory(self, previous):
        return (replace(previous, dtype=np.dtype("float32"), jit_mode=True),
                AllocationQuery(previous.shape, np.dtype("float32")))


def beton(settings, name, rows):
    path = os.path.join(settings.data_dir, f"{name}_{len(rows)}x{rows.shape[1]}.beton")
    if not os.path.exists(path):
        field = NDArrayField(rows.dtype, (rows.shape[1],))
        DatasetWriter(path + ".draft", {"x": field}, num_workers=1).from_indexed_dataset(Indexed(rows), chunksize=1000)
        os.rename(path + ".draft", path)
    return path


def epochs(path, batch_size, threads, shuffle=True, convert=()):
    loader = Loader(path, batch_size=batch_size, num_workers=threads, os_cache=True, drop_last=False,
                    order=OrderOption.RANDOM if shuffle else OrderOption.SEQUENTIAL, batches_ahead=4, seed=1,
                    pipelines={"x": [NDArrayDecoder(), *convert, ToTensor()]})
    return lambda _: iter(loader)


def as_array(batch):
    return (batch[0].numpy(),)


def rows_u8(row):
    def make(settings):
        rows = settings.rows(row)
        path = beton(settings, "rows", rows)
        check = check_rows(rows)
        return [Variant(f"ffcv {threads}", epochs(path, BATCH_SIZE, threads), as_array, check) for threads in (1, 2)]
    return make


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    path = beton(settings, "rows", rows)
    return [Variant(f"ffcv {threads}", epochs(path, BATCH_SIZE, threads, convert=[Normalize()]), as_array,
                    check_normalized(rows), compute_s) for threads in (1, 2)]


def tokens(settings):
    values = settings.tokens()
    path = beton(settings, "tokens", token_windows(values).view(np.int16))

    def both(batch):
        window = batch[0].numpy().view(np.uint16)
        return window[:, :-1], window[:, 1:]
    return [Variant(f"ffcv {threads}", epochs(path, TOKEN_BATCH_SIZE, threads), both, check_tokens(values))
            for threads in (1, 2)]


def overhead(settings):
    rows = settings.tiny_rows()
    path = beton(settings, "rows", rows)
    return [Variant(f"ffcv 1 b{size}", epochs(path, size, 1, shuffle=False), as_array, check_in_order(rows))
            for size in (1, 256)]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"), "rows_f32": rows_f32, "tokens": tokens, "overhead": overhead,
          "consumer_1ms": consumer_1ms}, {"ffcv": version("ffcv")})
