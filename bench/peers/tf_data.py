"""tf.data: indices gathered by tf.gather in a parallel map, prefetched; and from_tensor_slices. Indices come shuffled from
a buffer of all of them (`gather`) or, whole batches at once, from tf.random.experimental.index_shuffle (`index_shuffle`).
Threads are set by hand, and left to AUTOTUNE as TensorFlow's guide advises.
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
    return fetched(indices.batch(batch_size), fetch, threads)


def index_shuffled(count, batch_size, fetch, threads):
    """A new order each epoch, without a table: the seed is drawn when an epoch begins."""
    def batches(seed):
        return tf.data.Dataset.range(0, count, batch_size).map(
            lambda at: tf.random.experimental.index_shuffle(tf.range(at, tf.minimum(at + batch_size, count)), seed,
                                                            max_index=tf.cast(count - 1, tf.int64)),
            num_parallel_calls=threads)
    seeds = tf.data.Dataset.random(seed=1, rerandomize_each_iteration=True).batch(2, drop_remainder=True).take(1)
    return fetched(seeds.flat_map(lambda seed: batches(tf.cast(seed, tf.int64))), fetch, threads)


def fetched(batches, fetch, threads):
    if threads == tf.data.AUTOTUNE:
        return batches.map(fetch, num_parallel_calls=threads, deterministic=True).prefetch(tf.data.AUTOTUNE)
    return tuned(batches.map(fetch, num_parallel_calls=threads).prefetch(8), threads)


WAYS = (("gather 1", gathered, 1), ("gather 2", gathered, 2), ("gather autotune", gathered, tf.data.AUTOTUNE),
        ("index_shuffle 1", index_shuffled, 1), ("index_shuffle 2", index_shuffled, 2),
        ("index_shuffle autotune", index_shuffled, tf.data.AUTOTUNE))


def epochs(dataset):
    return lambda _: iter(dataset)


def as_array(batch):
    return (batch.numpy(),)


def rows_u8(settings):
    rows = settings.rows("rows_u8_47mb")
    check = check_rows(rows)
    held = tf.constant(rows)
    slices = tf.data.Dataset.from_tensor_slices(held).shuffle(len(rows)).batch(BATCH_SIZE).prefetch(8)
    return [Variant(f"tf.data {name}",
                    epochs(make(len(rows), BATCH_SIZE, lambda chosen: tf.gather(held, chosen), threads)), as_array, check)
            for name, make, threads in WAYS] + [
        Variant("tf.data slices 2", epochs(tuned(slices, 2)), as_array, check)]


def rows_f32(settings, row="rows_f32", compute_s=0.0):
    rows = settings.rows(row)
    check = check_normalized(rows)
    held = tf.constant(rows)

    def fetch(chosen):
        return tf.cast(tf.gather(held, chosen), tf.float32) * SCALE + BIAS
    return [Variant(f"tf.data {name}", epochs(make(len(rows), BATCH_SIZE, fetch, threads)), as_array, check, compute_s)
            for name, make, threads in WAYS]


def tokens(settings):
    values = settings.tokens()
    count = (len(values) - TOKEN_LENGTH - 1) // TOKEN_LENGTH + 1
    held = tf.constant(values)
    rows = tf.reshape(held[:count * TOKEN_LENGTH], (count, TOKEN_LENGTH))

    def fetch(chosen):
        # Rows and the token after each: an index for every token costs more.
        x, after = tf.gather(rows, chosen), tf.gather(held, (chosen + 1) * TOKEN_LENGTH)
        return x, tf.concat([x[:, 1:], after[:, None]], axis=1)
    return [Variant(f"tf.data {name}", epochs(make(count, TOKEN_BATCH_SIZE, fetch, threads)),
                    lambda batch: tuple(part.numpy() for part in batch), check_tokens(values))
            for name, make, threads in WAYS]


def overhead(settings):
    rows = settings.tiny_rows()
    held = tf.constant(rows)
    return [Variant(f"tf.data slices b{size}",
                    epochs(tuned(tf.data.Dataset.from_tensor_slices(held).batch(size).prefetch(8), 1)), as_array,
                    check_in_order(rows)) for size in (1, 256)]


def first_batch(settings):
    path = settings.sparse_path()

    def once(make):
        rows = np.load(path, mmap_mode="r")
        fetch = lambda chosen: tf.numpy_function(lambda at: rows[at], [chosen], tf.uint8)
        return next(iter(make(len(rows), BATCH_SIZE, fetch, 1)))
    return [FirstBatch("tf.data shuffle 1e7", path, lambda: once(gathered)),
            FirstBatch("tf.data index_shuffle 1e7", path, lambda: once(index_shuffled))]


def consumer_1ms(settings):
    return rows_f32(settings, "consumer_1ms", 1e-3)


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8, "rows_f32": rows_f32, "tokens": tokens, "overhead": overhead,
          "first_batch": first_batch, "consumer_1ms": consumer_1ms}, {"tensorflow": tf.__version__})
