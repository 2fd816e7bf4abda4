"""tf.data: shuffled indices, batched, gathered by tf.gather in a parallel map, prefetched; and from_tensor_slices.
SPDX-License-Identifier: Apache-2.0
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, TOKEN_LENGTH, FirstBatch, Variant, check_in_order,
                       check_normalized, check_rows, check_tokens, main)

tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)


def tuned(dataset, threads):
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.deterministic = True
    return dataset.with_options(options)


def gathered(count, batch_size, fetch, threads, shuffle=True):
    indices = tf.data.Dataset.range(count)
    if shuffle:
        indices = indices.shuffle(count, reshuffle_each_iteration=True)
    batches = indices.batch(batch_size).map(fetch, num_parallel_calls=threads).prefetch(8)
    return tuned(batches, threads)


def epochs(dataset):
    return lambda _: iter(dataset)


def as_array(batch):
    return (batch.numpy(),)


def rows_u8(settings):
    rows = settings.rows("rows_u8_47mb")
    check = check_rows(rows)
    held = tf.constant(rows)
    slices = tf.data.Dataset.from_tensor_slices(held).shuffle(len(rows)).batch(BATCH_SIZE).prefetch(8)
    return [Variant(f"tf.data gather {threads}",
                    epochs(gathered(len(rows), BATCH_SIZE, lambda chosen: tf.gather(held, chosen), threads)),
                    as_array, check) for threads in (1, 2)] + [
        Variant("tf.data slices 2", epochs(tuned(slices, 2)), as_array, check)]


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    check = check_normalized(rows)
    held = tf.constant(rows)

    def fetch(chosen):
        return tf.cast(tf.gather(held, chosen), tf.float32) * SCALE + BIAS
    return [Variant(f"tf.data gather {threads}", epochs(gathered(len(rows), BATCH_SIZE, fetch, threads)), as_array,
                    check, compute_s) for threads in (1, 2)]


def tokens(settings):
    values = settings.tokens()
    count = (len(values) - TOKEN_LENGTH - 1) // TOKEN_LENGTH + 1
    held = tf.constant(values)
    within = tf.range(TOKEN_LENGTH + 1, dtype=tf.int64)

    def fetch(chosen):
        window = tf.gather(held, chosen[:, None] * TOKEN_LENGTH + within[None, :])
        return window[:, :-1], window[:, 1:]
    return [Variant(f"tf.data gather {threads}", epochs(gathered(count, TOKEN_BATCH_SIZE, fetch, threads)),
                    lambda batch: tuple(part.numpy() for part in batch), check_tokens(values)) for threads in (1, 2)]


def overhead(settings):
    rows = settings.tiny_rows()
    held = tf.constant(rows)
    return [Variant(f"tf.data slices b{size}",
                    epochs(tuned(tf.data.Dataset.from_tensor_slices(held).batch(size).prefetch(8), 1)), as_array,
                    check_in_order(rows)) for size in (1, 256)]


def first_batch(settings):
    path = settings.sparse_path()

    def once():
        rows = np.load(path, mmap_mode="r")
        fetch = lambda chosen: tf.numpy_function(lambda at: rows[at], [chosen], tf.uint8)
        return next(iter(gathered(len(rows), BATCH_SIZE, fetch, 1)))
    return [FirstBatch("tf.data 1e7", path, once)]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8, "rows_f32": rows_f32, "tokens": tokens, "overhead": overhead,
          "first_batch": first_batch, "consumer_1ms": consumer_1ms}, {"tensorflow": tf.__version__})
