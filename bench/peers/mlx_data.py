"""MLX Data: a buffer of samples, shuffled, batched, and made ready ahead by threads (ordered_prefetch).
SPDX-License-Identifier: Apache-2.0
"""
import mlx.data as dx
import numpy as np

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, Variant, check_in_order, check_normalized, check_rows,
                       check_tokens, main, token_windows)

VERSIONS = {"mlx-data": dx.__version__ if hasattr(dx, "__version__") else "0.1.0"}


def normalize(values):
    return values.astype(np.float32) * SCALE + BIAS


def sample_buffer(field, rows):
    return dx.buffer_from_vector([{field: row} for row in rows])


def epochs(buffer, batch_size, threads, shuffle=True, transform=None):
    def epoch(_):
        order = buffer.shuffle() if shuffle else buffer
        batches = order.batch(batch_size)
        if transform:
            batches = batches.key_transform("x", transform)
        return batches.ordered_prefetch(8, threads) if threads else batches
    return epoch


def field(batch):
    return (np.asarray(batch["x"]),)


def rows_u8(settings):
    rows = settings.rows("rows_u8_47mb")
    buffer = sample_buffer("x", rows)
    check = check_rows(rows)
    return [Variant(f"mlx {threads}", epochs(buffer, BATCH_SIZE, threads), field, check) for threads in (0, 1, 2)]


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    buffer = sample_buffer("x", rows)
    check = check_normalized(rows)
    return [Variant(f"mlx {threads}", epochs(buffer, BATCH_SIZE, threads, transform=normalize), field, check, compute_s)
            for threads in (0, 1, 2)]


def tokens(settings):
    values = settings.tokens()
    buffer = sample_buffer("x", token_windows(values).view(np.uint8))  # it has no 16-bit type; the bytes are the same

    def both(batch):
        window = np.asarray(batch["x"]).view(np.uint16)
        return window[:, :-1], window[:, 1:]
    check = check_tokens(values)
    return [Variant(f"mlx {threads}", epochs(buffer, TOKEN_BATCH_SIZE, threads), both, check)
            for threads in (0, 1, 2)]


def overhead(settings):
    rows = settings.tiny_rows()
    buffer = sample_buffer("x", rows)
    return [Variant(f"mlx {threads} b{size}", epochs(buffer, size, threads, shuffle=False), field,
                    check_in_order(rows)) for size in (1, 256) for threads in (0, 1)]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8, "rows_f32": rows_f32, "tokens": tokens, "overhead": overhead,
          "consumer_1ms": consumer_1ms}, VERSIONS)
