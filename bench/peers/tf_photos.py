"""tf.data on photographs, as TensorFlow's ResNet does: sample_distorted_bounding_box, decode_and_crop_jpeg, resize,
flip; here to CHW as well. Its antialiased resize is several times slower than its plain one, which is what it gets.
SPDX-License-Identifier: Apache-2.0
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

from contender import main
from photos import BATCH_SIZE, BIAS, SCALE, SIDE, Photos, variant

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(2)
WHOLE = tf.constant([0.0, 0.0, 1.0, 1.0], shape=[1, 1, 4])


def load(path, label):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data), WHOLE, area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10,
        use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.resize(tf.image.decode_and_crop_jpeg(data, window, channels=3), [SIDE, SIDE], method="bilinear")
    return tf.transpose(tf.image.random_flip_left_right(image) * SCALE + BIAS, [2, 0, 1]), label


def dataset(source, threads):
    made = tf.data.Dataset.from_tensor_slices((source.paths, source.labels)).shuffle(len(source))
    made = made.map(load, num_parallel_calls=threads).batch(BATCH_SIZE).prefetch(4)
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    return made.with_options(options)


def photos(settings):
    source = Photos(settings)
    return [variant(f"tf.data {threads}", lambda _, each=dataset(source, threads): iter(each),
                    lambda batch: (batch[0].numpy(), batch[1].numpy()), source.check()) for threads in (1, 2)]


if __name__ == "__main__":
    main({"photos": photos}, {"tensorflow": tf.__version__})
