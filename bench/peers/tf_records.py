"""tf.data on a file of records: read in order, shuffled in a buffer of all of them, parsed a batch at a time. Threads are
set by hand, and left to AUTOTUNE as TensorFlow's guide advises.
SPDX-License-Identifier: Apache-2.0
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

from contender import BATCH_SIZE, ROW_BYTES, Variant, check_labelled, labels_of, main

tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)
FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def write(settings, path):
    rows = settings.rows("tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for row, label in zip(rows, labels_of(rows)):
            feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.tobytes()])),
                       "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(records):
    parsed = tf.io.parse_example(records, FEATURES)
    return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), (-1, ROW_BYTES)), parsed["label"]


def dataset(path, count, threads):
    batches = tf.data.TFRecordDataset(path).shuffle(count).batch(BATCH_SIZE)
    made = batches.map(parse, num_parallel_calls=threads).prefetch(tf.data.AUTOTUNE)
    if threads == tf.data.AUTOTUNE:
        return made
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    return made.with_options(options)


def tfrecord(settings):
    rows, path = settings.rows("tfrecord"), settings.stored_path("tfrecord")
    return [Variant(f"tf.data records {name}", lambda _, each=dataset(path, len(rows), threads): iter(each),
                    lambda batch: (batch[0].numpy(), batch[1].numpy()), check_labelled(rows))
            for name, threads in (("1", 1), ("2", 2), ("autotune", tf.data.AUTOTUNE))]


if __name__ == "__main__":
    main({"tfrecord": tfrecord}, {"tensorflow": tf.__version__}, {"tfrecord": write})
