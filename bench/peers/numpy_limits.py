"""Bare NumPy: take into one buffer, in an order made beforehand. A limit, not a loader.
SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, Variant, check_in_order, check_normalized,
                       check_rows, check_tokens, main, token_windows)


def take(rows, batch_size):
    order = np.random.default_rng(0).permutation(len(rows))
    buffer = np.empty((batch_size,) + rows.shape[1:], rows.dtype)

    def epoch(_):
        for at in range(0, len(order), batch_size):
            chosen = order[at:at + batch_size]
            # mode: the default `raise` goes through a buffer of its own.
            yield np.take(rows, chosen, axis=0, out=buffer[:len(chosen)], mode="clip")
    return epoch


def rows_u8(row):
    def make(settings):
        rows = settings.rows(row)
        return [Variant("numpy take", take(rows, BATCH_SIZE), check=check_rows(rows))]
    return make


def rows_f32(settings):
    rows = settings.rows("rows_f32")
    gather = take(rows, BATCH_SIZE)
    buffer = np.empty((BATCH_SIZE, rows.shape[1]), np.float32)

    def epoch(number):
        for batch in gather(number):
            out = np.multiply(batch, SCALE, out=buffer[:len(batch)])
            yield np.add(out, BIAS, out=out)
    return [Variant("numpy take", epoch, check=check_normalized(rows))]


def tokens(settings):
    values = settings.tokens()
    windows = token_windows(values)
    order = np.random.default_rng(0).permutation(len(windows))

    def epoch(_):
        for at in range(0, len(order), TOKEN_BATCH_SIZE):
            window = windows[order[at:at + TOKEN_BATCH_SIZE]]
            yield window[:, :-1], window[:, 1:]
    return [Variant("numpy gather", epoch, arrays=lambda batch: batch, check=check_tokens(values))]


def overhead(settings):
    rows = settings.tiny_rows()

    def epoch(batch_size):
        buffer = np.empty((batch_size, rows.shape[1]), rows.dtype)

        def run(_):
            indices = np.arange(len(rows))
            for at in range(0, len(rows), batch_size):
                chosen = indices[at:at + batch_size]
                yield np.take(rows, chosen, axis=0, out=buffer[:len(chosen)], mode="clip")
        return run
    return [Variant(f"numpy take b{size}", epoch(size), check=check_in_order(rows)) for size in (1, 256)]


main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"), "rows_f32": rows_f32,
      "tokens": tokens, "overhead": overhead}, {"numpy": np.__version__})
