"""Sets that MosaicML Streaming writes are read as it reads them.

Only with `ctest -C long`. Streaming is that of bench/peers/setup.sh (the group streaming) or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

import shell
from shell import ShellTest

# Writes random samples of each encoding in several shards, reads them back, and writes what came out, column by column.
WRITER = '''
import random, sys
import numpy as np
from streaming import MDSWriter, LocalDataset
folder, chance = sys.argv[1], random.Random(5)
columns = {"text": "str", "raw": "bytes", "meta": "json", "n": "int", "u8": "uint8", "i16": "int16", "f16": "float16", "f32": "float32",
           "f64": "float64", "fixed": "ndarray:float32:2,3", "row": "ndarray:int64:5", "ragged": "ndarray:uint16", "long": "ndarray:int32", "digits": "str_int",
           "any": "pkl"}
def sample(i):
    return {"text": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(chance.randrange(40))), "raw": chance.randbytes(chance.randrange(60)),
            "meta": {"i": i, "l": [1, None]}, "n": chance.randrange(-2**63, 2**63), "u8": np.uint8(i % 256), "i16": np.int16(-i),
            "f16": np.float16(i / 8), "f32": np.float32(i / 3), "f64": np.float64(i / 7), "fixed": np.full((2, 3), i, np.float32),
            "row": np.arange(i, i + 5), "ragged": np.arange(1 + i % 700, dtype=np.uint16), "long": np.arange(1 + i % 3 * 40000, dtype=np.int32),
            "digits": 10 ** (i % 40), "any": {"i": i}}
with MDSWriter(out=folder + "/set", columns=columns, size_limit=1 << 20) as out:
    for i in range(300):
        out.write(sample(i))
for codec in ("gz", "zstd:3", "br"):
    with MDSWriter(out=folder + "/" + codec[:2], columns={"text": "str", "n": "int"}, compression=codec, size_limit=1 << 12) as out:
        for i in range(1000):
            out.write({"text": "x" * (i % 9), "n": i})
read = LocalDataset(folder + "/set")
for name in columns:
    with open(f"{folder}/{name}.bytes", "wb") as file:
        for one in read:
            value = one[name]
            if name == "meta":
                import json
                value = json.dumps(value).encode()
            elif isinstance(value, str):
                value = value.encode()
            elif name == "digits":
                value = str(value).encode()
            elif name == "n":
                value = np.int64(value).tobytes()
            elif name == "any":
                value = b""
            file.write(value if isinstance(value, bytes) else value.tobytes())
'''


def streaming():
    group = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / "streaming" / "bin" / "python"
    for python in filter(None, [os.environ.get("DATALINE_STREAMING_PYTHON"), str(group), sys.executable]):
        look = [python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('streaming') is None)"]
        if pathlib.Path(python).exists() and subprocess.run(look, check=False, capture_output=True).returncode == 0:
            return python
    return None


PYTHON = streaming()
if PYTHON is None:
    print("skipped: MosaicML Streaming is not installed for any Python here (bench/peers/setup.sh streaming)")
    sys.exit(77)


class AgainstStreaming(ShellTest):
    def setUp(self):
        super().setUp()
        subprocess.run([PYTHON, "-c", WRITER, self.folder], check=True, capture_output=True, timeout=600)

    def test_every_encoding_comes_out_as_it_is_read_there(self):
        names = [name for name in sorted(os.listdir(self.folder)) if name.endswith(".bytes") and name != "any.bytes"]
        self.assertEqual(len(names), 14)
        fields = ",".join(name[:-6] for name in names)
        for name in names:
            got = self.ok("cat", f"mds:set?fields={fields}", "--field", name[:-6], "--max-bytes-per-sample", "4MiB")
            self.assertEqual(got, self.read(name), name)

    def test_compressed_sets_are_inflated(self):
        numbers = b"".join(i.to_bytes(8, "little") for i in range(1000))
        for codec in ("gz", "zs"):
            self.assertEqual(self.ok("cat", f"mds:{codec}", "--field", "n"), numbers, codec)
            self.assertEqual(len(self.ok("cat", f"mds:{codec}", "--field", "text")), sum(i % 9 for i in range(1000)), codec)

    def test_a_pickle_and_an_unknown_codec_are_refused_with_what_to_do(self):
        self.fails(1, "info", "mds:set", says="column 'any': encoding 'pkl': a pickle runs code .*`fields`")
        self.fails(1, "info", "mds:br", says="is not read, .*decompress it")


if __name__ == "__main__":
    shell.main()
