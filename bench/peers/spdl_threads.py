"""SPDL: a source of index batches, a stage that gathers with NumPy in threads, a thread-safe output queue.
SPDX-License-Identifier: Apache-2.0
"""
from importlib.metadata import version

import numpy as np
from spdl.pipeline import PipelineBuilder

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, FirstBatch, Variant, check_in_order,
                       check_normalized, check_rows, check_tokens, main, token_windows)


def normalize(rows):
    out = rows.astype(np.float32)
    out *= SCALE
    out += BIAS
    return out


def pipeline(count, batch_size, fetch, threads, shuffle=True):
    """One pipeline for all epochs: SPDL's advice is not to build a new one each time."""
    def index_batches():
        rng = np.random.default_rng(0)
        while True:
            order = rng.permutation(count) if shuffle else np.arange(count)
            yield from (order[at:at + batch_size] for at in range(0, count, batch_size))

    builder = PipelineBuilder().add_source(index_batches()).pipe(fetch, concurrency=threads, output_order="input")
    return builder.add_sink(8).build(num_threads=threads, use_thread_output_queue=True)


def epochs(count, batch_size, fetch, threads, shuffle=True):
    steps = -(-count // batch_size)
    opened = []

    def epoch(_):
        if not opened:
            opened.append(pipeline(count, batch_size, fetch, threads, shuffle))
            opened[0].start()
            opened.append(iter(opened[0].get_iterator()))
        for _ in range(steps):
            yield next(opened[1])
    return epoch


def rows_u8(row):
    def make(settings):
        rows = settings.rows(row)
        check = check_rows(rows)
        return [Variant(f"spdl {threads}", epochs(len(rows), BATCH_SIZE, lambda chosen: rows[chosen], threads),
                        check=check) for threads in (1, 2)]
    return make


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    check = check_normalized(rows)
    return [Variant(f"spdl {threads}", epochs(len(rows), BATCH_SIZE, lambda chosen: normalize(rows[chosen]), threads),
                    check=check, compute_s=compute_s) for threads in (1, 2)]


def tokens(settings):
    values = settings.tokens()
    windows = token_windows(values)

    def fetch(chosen):
        window = windows[chosen]
        return window[:, :-1], window[:, 1:]
    check = check_tokens(values)
    return [Variant(f"spdl {threads}", epochs(len(windows), TOKEN_BATCH_SIZE, fetch, threads), lambda batch: batch,
                    check) for threads in (1, 2)]


def overhead(settings):
    rows = settings.tiny_rows()
    return [Variant(f"spdl 1 b{size}", epochs(len(rows), size, lambda chosen: rows[chosen], 1, shuffle=False),
                    check=check_in_order(rows)) for size in (1, 256)]


def first_batch(settings):
    path = settings.sparse_path()

    def once():
        rows = np.load(path, mmap_mode="r")
        return next(iter(epochs(len(rows), BATCH_SIZE, lambda chosen: rows[chosen], 1)(0)))
    return [FirstBatch("spdl 1 1e7", path, once)]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"), "rows_f32": rows_f32,
          "tokens": tokens, "overhead": overhead, "first_batch": first_batch, "consumer_1ms": consumer_1ms},
         {"spdl": version("spdl")})
