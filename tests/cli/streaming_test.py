"""Sets that MosaicML Streaming writes are read as it reads them, compressed ones too.

Only with `ctest -C long`. Streaming is that of bench/peers/setup.sh (the group streaming) or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import subprocess
import tempfile

import shell
from shell import ShellTest

# Writes random samples of each encoding in several shards, plain and compressed, reads them back, and writes what came out, column
# by column. A compressed set is read from a copy, for Streaming leaves inflated shards where it reads.
WRITER = '''
import io, json, os, random, shutil, sys
import numpy as np
from PIL import Image
from streaming import MDSWriter, StreamingDataset
folder = sys.argv[1]
columns = {"text": "str", "raw": "bytes", "meta": "json", "n": "int", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
           "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64",
           "fixed": "ndarray:float32:2,3", "row": "ndarray:int64:5", "ragged": "ndarray:uint16", "long": "ndarray:int32",
           "digits": "str_int", "photo": "jpeg", "shot": "png", "any": "pkl"}
def image(i, kind):
    pixels = np.random.default_rng(i).integers(0, 256, (5 + i % 3, 4, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out
def jpeg(i):  # Streaming stores the bytes of a file, and those of any other picture anew
    with open(f"{folder}/{i}.jpg", "wb") as file:
        file.write(image(i, "JPEG").getvalue())
    return Image.open(f"{folder}/{i}.jpg")
def sample(i):
    chance = random.Random(i)
    numbers = {name: np.dtype(columns[name]).type(i * 0x0101010101 % 2**7) for name in ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")}
    return {"text": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(chance.randrange(40))), "raw": chance.randbytes(chance.randrange(60)),
            "meta": {"i": i, "l": [1, None]}, "n": chance.randrange(-2**63, 2**63), **numbers,
            "f16": np.float16(i / 8), "f32": np.float32(i / 3), "f64": np.float64(i / 7), "fixed": np.full((2, 3), i, np.float32),
            "row": np.arange(i, i + 5), "ragged": np.arange(1 + i % 700, dtype=np.uint16), "long": np.arange(1 + i % 3 * 40000, dtype=np.int32),
            "digits": 10 ** (i % 40), "photo": jpeg(i), "shot": Image.open(image(i, "PNG")), "any": {"i": i}}
def stored(i, name, value):
    if name in ("photo", "shot"):
        assert np.asarray(value).shape == (5 + i % 3, 4, 3)
        return image(i, "JPEG").getvalue() if name == "photo" else np.asarray(value).tobytes()
    if name == "any":
        return b""
    value = json.dumps(value) if name == "meta" else str(value) if name == "digits" else value
    value = np.int64(value) if name == "n" else value
    return value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else value.tobytes()
def write(name, count, codec):
    with MDSWriter(out=f"{folder}/{name}", columns=columns, compression=codec, size_limit=1 << 20) as out:
        for i in range(count):
            out.write(sample(i))
    read = StreamingDataset(remote=f"{folder}/{name}", local=f"{folder}/{name}.read", shuffle=False, batch_size=1, allow_unsafe_types=True)
    assert len(read) == count
    files = {column: open(f"{folder}/{name}.{column}.bytes", "wb") for column in columns}
    for i in range(count):
        one = read[i]
        for column, file in files.items():
            file.write(stored(i, column, one[column]))
    for file in files.values():
        file.close()
write("plain", 300, None)
for name, codec in (("gz", "gz"), ("gz1", "gz:1"), ("zstd", "zstd"), ("zstd19", "zstd:19")):
    write(name, 60, codec)
for codec in ("br", "bz2", "snappy"):
    with MDSWriter(out=f"{folder}/{codec}", columns={"n": "int"}, compression=codec) as out:
        out.write({"n": 1})
'''


PYTHON = shell.python_with("streaming", "streaming")


class AgainstStreaming(ShellTest):
    """The sets are written once, and each test has a copy."""

    @classmethod
    def setUpClass(cls):
        cls.written = tempfile.mkdtemp(prefix="dataline-streaming-")
        cls.addClassCleanup(shutil.rmtree, cls.written, ignore_errors=True)
        done = subprocess.run([PYTHON, "-c", WRITER, cls.written], check=False, capture_output=True, text=True, timeout=500)
        if done.returncode != 0:
            raise AssertionError(done.stderr[-2000:])

    def setUp(self):
        super().setUp()
        shutil.copytree(self.written, self.folder, dirs_exist_ok=True)

    def columns(self, name):
        return [file.split(".")[1] for file in sorted(os.listdir(self.folder)) if file.startswith(f"{name}.") and file.endswith(".bytes")]

    def same(self, name, uri=None):
        """Every column of the set, but the pickles, is what Streaming read."""
        columns = [column for column in self.columns(name) if column != "any"]
        self.assertEqual(len(columns), 22)
        for column in columns:
            transform = ["--transform", "shot: decode"] if column == "shot" else []
            size = ["--batch-size", "1"] if column == "shot" else []
            got = self.ok("cat", f"mds:{uri or name}?fields={','.join(columns)}", "--field", column, *transform, *size,
                          "--max-bytes-per-sample", "4MiB")
            self.assertEqual(got, self.read(f"{name}.{column}.bytes"), (name, column))

    def shards(self, name):
        return sorted(file for file in os.listdir(self.path(name)) if file != "index.json")

    def test_every_encoding_comes_out_as_it_is_read_there(self):
        self.assertGreater(len(self.shards("plain")), 10)
        self.same("plain")

    def test_compressed_shards_are_inflated_to_what_is_read_there(self):
        for name, ending in (("gz", ".gz"), ("gz1", ".gz"), ("zstd", ".zstd"), ("zstd19", ".zstd")):
            shards = self.shards(name)
            self.assertGreater(len(shards), 2, name)
            self.assertEqual([file for file in shards if not file.endswith(ending)], [], name)
            self.same(name)
            self.assertEqual(self.shards(name), shards, "nothing is written beside them")
            self.assertIn("decompressed into memory", "".join(json.loads(self.ok("info", f"mds:{name}?fields=n", "--json"))["notes"]))

    def test_a_set_of_which_streaming_has_inflated_some_shards_is_read_as_a_whole(self):
        for name in ("gz", "zstd"):
            inflated = self.path(f"{name}.read")
            shard = next(file for file in self.shards(f"{name}.read") if file.endswith("00001.mds"))
            os.rename(os.path.join(inflated, shard), self.path(os.path.join(name, shard)))
            self.same(name)

    def test_what_streaming_has_downloaded_and_inflated_is_a_set_too(self):
        self.same("zstd", "zstd.read")

    def test_a_pickle_and_an_unknown_codec_are_refused_with_what_to_do(self):
        self.fails(1, "info", "mds:plain", says="column 'any': encoding 'pkl': a pickle runs code .*`fields`")
        for codec in ("br", "bz2", "snappy"):
            self.fails(1, "info", f"mds:{codec}", says="is of .*which is not supported: decompress it .*zstd")


if __name__ == "__main__":
    shell.main()
