"""DALI on the CPU: external_source with a batch source that gathers with NumPy, then DALI's own cast and normalise.
SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, FirstBatch, Variant, check_in_order,
                       check_normalized, check_rows, check_tokens, main, token_windows)


class Source:
    """Whole batches, one array each; the last, shorter one too."""

    def __init__(self, rows, batch_size, shuffle=True):
        self.rows, self.batch_size, self.shuffle, self.rng = rows, batch_size, shuffle, np.random.default_rng(0)

    def __iter__(self):
        self.order = self.rng.permutation(len(self.rows)) if self.shuffle else np.arange(len(self.rows))
        self.at = 0
        return self

    def __next__(self):
        chosen = self.order[self.at:self.at + self.batch_size]
        if len(chosen) == 0:
            self.__iter__()
            raise StopIteration
        self.at += self.batch_size
        return self.rows[chosen]


def graph(source, batch_size, threads, normalize):
    @pipeline_def(batch_size=batch_size, num_threads=threads, device_id=None, prefetch_queue_depth=4,
                  exec_async=True, exec_pipelined=True)
    def build():
        rows = fn.external_source(source=source, cycle="raise", no_copy=True)
        return fn.cast(rows, dtype=types.FLOAT) * float(SCALE) + float(BIAS) if normalize else rows
    made = build()
    made.build()
    return made


def epochs(rows, batch_size, threads, shuffle=True, normalize=False):
    made = []

    def epoch(_):
        if not made:
            made.append(graph(Source(rows, batch_size, shuffle), batch_size, threads, normalize))
        while True:
            try:
                (out,) = made[0].run()
            except StopIteration:
                made[0].reset()
                return
            yield np.asarray(out.as_tensor())
    return epoch


def rows_u8(row):
    def make(settings):
        rows = settings.rows(row)
        check = check_rows(rows)
        return [Variant(f"dali {threads}", epochs(rows, BATCH_SIZE, threads), check=check) for threads in (1, 2)]
    return make


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    check = check_normalized(rows)
    return [Variant(f"dali {threads}", epochs(rows, BATCH_SIZE, threads, normalize=True), check=check,
                    compute_s=compute_s) for threads in (1, 2)]


def tokens(settings):
    values = settings.tokens()
    windows = token_windows(values)
    return [Variant(f"dali {threads}", epochs(windows, TOKEN_BATCH_SIZE, threads),
                    lambda window: (window[:, :-1], window[:, 1:]), check_tokens(values)) for threads in (1, 2)]


def overhead(settings):
    rows = settings.tiny_rows()
    return [Variant(f"dali 1 b{size}", epochs(rows, size, 1, shuffle=False), check=check_in_order(rows))
            for size in (1, 256)]


def first_batch(settings):
    path = settings.sparse_path()
    return [FirstBatch("dali 1 1e7", path,
                       lambda: next(epochs(np.load(path, mmap_mode="r"), BATCH_SIZE, 1)(0)))]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"), "rows_f32": rows_f32,
          "tokens": tokens, "overhead": overhead, "first_batch": first_batch, "consumer_1ms": consumer_1ms},
         {"dali": dali.__version__})
