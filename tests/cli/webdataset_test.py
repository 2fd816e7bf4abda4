"""Shards that WebDataset writes are read as it reads them, and it reads those that `dataline convert` writes.

Only with `ctest -C long`. WebDataset is that of bench/peers/setup.sh (the group torch) or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess

import shell
from shell import ShellTest

# write FOLDER: shards of samples with members of each kind, plain and as .tar.gz. read NAME FILE...: what WebDataset finds in the
# files, NAME.EXTENSION for each kind of member, in their order.
SCRIPT = '''
import io, random, sys
import numpy as np, webdataset
from PIL import Image
def jpeg(i):
    out = io.BytesIO()
    Image.new("RGB", (5 + i % 3, 4), (i % 256, 1, 2)).save(out, "JPEG")
    return out.getvalue()
def sample(i):
    chance = random.Random(i)
    return {"__key__": f"dir.v1/{chance.choice('abc')}/{i:05d}" + "x" * (i % 120), "jpg": jpeg(i), "cls": i % 7, "txt": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(i % 40)),
            "json": {"i": i, "list": [1, None]}, "npy": np.arange(i % 9, dtype=np.float32), "seg.png": chance.randbytes(chance.randrange(1200)), "bin": chance.randbytes(i % 3)}
def write(folder):
    with webdataset.ShardWriter(folder + "/shard-%03d.tar", maxcount=40, verbose=0) as out:
        for i in range(100):
            out.write(sample(i))
    with webdataset.TarWriter(folder + "/one.tar.gz", compress=True) as out:
        for i in range(100):
            out.write(sample(i))
def read(name, files):
    found = {}
    for one in webdataset.WebDataset(files, shardshuffle=False):
        for member, value in one.items():
            if member == "__key__": found.setdefault("key", []).append(value.encode())
            elif not member.startswith("__"): found.setdefault(member, []).append(value)
    for member, values in found.items():
        assert len(values) == 100, (member, len(values))
        with open(f"{name}.{member}", "wb") as out:
            out.write(b"".join(values))
if sys.argv[1] == "write": write(sys.argv[2])
else: read(sys.argv[2], sys.argv[3:])
'''
MEMBERS = ["bin", "jpg", "json", "npy", "seg.png", "txt", "cls", "key"]


PYTHON = shell.python_with("torch", "webdataset", "PIL", "numpy")


class AgainstWebDataset(ShellTest):
    def script(self, *words):
        done = subprocess.run([PYTHON, "-c", SCRIPT, *words], check=False, capture_output=True, text=True, timeout=300, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def setUp(self):
        super().setUp()
        self.script("write", self.folder)

    def shards(self, *folder):
        return sorted(os.path.join(*folder, file) for file in os.listdir(self.path(os.path.join("", *folder))) if file.endswith(".tar"))

    def test_what_it_writes_comes_out_as_it_is_read_there(self):
        shards = self.shards()
        self.assertEqual(len(shards), 3)
        self.script("read", "plain", *shards)
        for member in MEMBERS:
            field = {"jpg": "image", "cls": "label"}.get(member, member)
            got = self.ok("cat", "tar:shard-{000..002}.tar", "--field", field)
            if member == "cls":  # a number, of which WebDataset stores the digits
                self.assertEqual([got[at] for at in range(0, len(got), 8)], [int(digit) for digit in self.read("plain.cls").decode()])
            else:
                self.assertEqual(got, self.read(f"plain.{member}"), member)
        self.fails(1, "info", "one.tar.gz", says="gzip data, .*unpack it first")

    def test_it_reads_what_convert_writes(self):
        self.ok("convert", "tar:shard-{000..002}.tar", "tar:written", "--quiet", "--shard-bytes", "100KiB")
        written = self.shards("written")
        self.assertGreater(len(written), 3)
        self.script("read", "plain", *self.shards())
        self.script("read", "ours", *written)
        for member in MEMBERS:
            self.assertEqual(self.read(f"ours.{member}"), self.read(f"plain.{member}"), member)

    def test_it_reads_shards_of_other_formats_that_convert_wrote(self):
        self.write("a.jsonl", "".join(f'{{"text": "{"x" * (i % 5)}", "label": {i % 3}}}\n' for i in range(100)))
        self.ok("convert", "jsonl:a.jsonl", "tar:texts", "--quiet")
        self.script("read", "ours", *self.shards("texts"))
        self.assertEqual(self.read("ours.text"), "".join("x" * (i % 5) for i in range(100)).encode())
        self.assertEqual(self.read("ours.cls"), "".join(str(i % 3) for i in range(100)).encode())


if __name__ == "__main__":
    shell.main()
