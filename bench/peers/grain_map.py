"""Grain: a shuffled range, batched as indices, gathered with NumPy in a map; read by threads or worker processes.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
from importlib.metadata import version

import grain.python as grain
import numpy as np

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, FirstBatch, Variant, check_in_order,
                       check_normalized, check_rows, check_tokens, main, token_windows)


def normalize(rows):
    out = rows.astype(np.float32)
    out *= SCALE
    out += BIAS
    return out


def dataset(count, batch_size, fetch, how, shuffle=True):
    """All epochs, one after another: shuffle before repeat gives each its own order."""
    order = grain.MapDataset.range(count)
    if shuffle:
        order = order.shuffle(seed=1)
    batches = order.batch(batch_size, batch_fn=lambda indices: fetch(np.array(indices))).repeat()
    if how == "in process":
        return batches.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))
    if how == "2 threads":
        return batches.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=8))
    return batches.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=4)).mp_prefetch(
        grain.MultiprocessingOptions(num_workers=2, per_worker_buffer_size=4))


HOW = ("in process", "2 threads", "2 processes")


def epochs(count, batch_size, fetch, how, shuffle=True):
    opened = []

    def epoch(_):
        if not opened:
            opened.append(iter(dataset(count, batch_size, fetch, how, shuffle)))
        return itertools.islice(opened[0], -(-count // batch_size))
    return epoch


def rows_u8(row):
    def make(settings):
        rows = settings.rows(row)
        check = check_rows(rows)
        return [Variant(f"grain {how}", epochs(len(rows), BATCH_SIZE, lambda chosen: rows[chosen], how), check=check)
                for how in (HOW if rows.nbytes < 1 << 28 else HOW[:2])]
    return make


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    check = check_normalized(rows)
    return [Variant(f"grain {how}", epochs(len(rows), BATCH_SIZE, lambda chosen: normalize(rows[chosen]), how),
                    check=check, compute_s=compute_s) for how in HOW]


def tokens(settings):
    values = settings.tokens()
    windows = token_windows(values)

    def fetch(chosen):
        window = windows[chosen]
        return window[:, :-1], window[:, 1:]
    check = check_tokens(values)
    return [Variant(f"grain {how}", epochs(len(windows), TOKEN_BATCH_SIZE, fetch, how), lambda batch: batch, check)
            for how in HOW[:2]]


def overhead(settings):
    rows = settings.tiny_rows()
    return [Variant(f"grain in process b{size}",
                    epochs(len(rows), size, lambda chosen: rows[chosen], HOW[0], shuffle=False),
                    check=check_in_order(rows)) for size in (1, 256)]


def first_batch(settings):
    path = settings.sparse_path()

    def once():
        rows = np.load(path, mmap_mode="r")
        return next(iter(dataset(len(rows), BATCH_SIZE, lambda chosen: rows[chosen], HOW[0])))
    return [FirstBatch("grain in process 1e7", path, once)]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"), "rows_f32": rows_f32,
          "tokens": tokens, "overhead": overhead, "first_batch": first_batch, "consumer_1ms": consumer_1ms},
         {"grain": version("grain")})
