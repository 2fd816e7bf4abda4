"""Files that TensorFlow writes are read as TensorFlow reads them.

Only with `ctest -C long`. TensorFlow is that of bench/peers/setup.sh (the group tf) or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import struct
import subprocess

import shell
from shell import ShellTest

# Writes random Examples, reads them back by tf.data, and prints what tf.io.parse_single_example made of them.
WRITER = '''
import json, random, sys
import tensorflow as tf
folder, chance = sys.argv[1], random.Random(9)
feature = tf.train.Feature
def of(sample):
    return tf.train.Example(features=tf.train.Features(feature={
        "image/encoded": feature(bytes_list=tf.train.BytesList(value=[bytes(sample["image"])])),
        "label": feature(int64_list=tf.train.Int64List(value=[sample["label"]])),
        "box": feature(float_list=tf.train.FloatList(value=sample["box"])),
        "ids": feature(int64_list=tf.train.Int64List(value=sample["ids"])),
        **({"rare": feature(float_list=tf.train.FloatList(value=[sample["rare"]]))} if sample["rare"] else {})}))
for name, options in {"plain": "", "gzip": "GZIP", "zlib": "ZLIB"}.items():
    with tf.io.TFRecordWriter(f"{folder}/{name}.tfrecord", tf.io.TFRecordOptions(compression_type=options)) as writer:
        for _ in range(300):
            writer.write(of({"image": [chance.randrange(256) for _ in range(chance.randrange(900))], "label": chance.randrange(-1 << 62, 1 << 62),
                             "box": [chance.random() for _ in range(4)], "ids": [chance.randrange(-1 << 63, 1 << 63) for _ in range(chance.randrange(9))],
                             "rare": chance.choice([0, 0.5])}).SerializeToString())
shape = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64),
         "box": tf.io.FixedLenFeature([4], tf.float32), "ids": tf.io.RaggedFeature(tf.int64),
         "rare": tf.io.FixedLenFeature([], tf.float32, default_value=-2)}
for name, compression in {"plain": "", "gzip": "GZIP"}.items():
    rows = []
    for one in tf.data.TFRecordDataset(f"{folder}/{name}.tfrecord", compression_type=compression):
        got = tf.io.parse_single_example(one, shape)
        rows.append({"image/encoded": got["image/encoded"].numpy().hex(), "label": int(got["label"]), "ids": got["ids"].numpy().tolist(),
                     "box": got["box"].numpy().tobytes().hex(), "rare": float(got["rare"])})
    json.dump(rows, open(f"{folder}/{name}.json", "w"))
sequence = tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=[
    feature(int64_list=tf.train.Int64List(value=[1]))])}))
with tf.io.TFRecordWriter(f"{folder}/sequence.tfrecord") as writer:
    writer.write(sequence.SerializeToString())
'''
FIELDS = "?fields=image/encoded:bytes,label:i64,box:f32[4],ids:i64[],rare:f32&nulls=fill(-2)"


PYTHON = shell.python_with("tf", "tensorflow")


class AgainstTensorFlow(ShellTest):
    def test_files_of_its_writer_give_what_its_parser_gives(self):
        quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        subprocess.run([PYTHON, "-c", WRITER, self.folder], check=True, stderr=subprocess.DEVNULL, env=quiet)
        for name in ("plain", "gzip"):
            rows = json.loads(self.read(name + ".json"))
            get = lambda field: self.ok("cat", f"tfrecord:{name}.tfrecord{FIELDS}", "--field", field)
            self.assertEqual(get("image/encoded"), bytes.fromhex("".join(row["image/encoded"] for row in rows)))
            self.assertEqual(get("label"), struct.pack("<300q", *(row["label"] for row in rows)))
            self.assertEqual(get("box"), bytes.fromhex("".join(row["box"] for row in rows)))
            ids = [x for row in rows for x in row["ids"]]
            self.assertEqual(get("ids"), struct.pack(f"<{len(ids)}q", *ids))
            self.assertEqual(get("rare"), struct.pack("<300f", *(row["rare"] for row in rows)))
        self.fails(1, "info", "zlib.tfrecord", says="zlib data")
        self.fails(1, "info", "sequence.tfrecord", says="SequenceExample")


if __name__ == "__main__":
    shell.main()
