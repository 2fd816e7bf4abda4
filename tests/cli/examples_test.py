"""The examples of each command's help: they run as they stand, on data of the names that they have.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import struct
import subprocess

import shell
from images_test import png
from shell import ShellTest

# They measure for many seconds.
MEASURE = ("bench", "doctor", "report")


class Examples(ShellTest):
    def setUp(self):
        super().setUp()
        for names, count in (("train", 200), ("t10k", 50)):
            images = bytes(i % 251 for i in range(count * 784))
            os.makedirs(self.path("data"), exist_ok=True)
            self.write(f"data/{names}-images-idx3-ubyte", struct.pack(">4i", 2051, count, 28, 28) + images)
            self.write(f"data/{names}-labels-idx1-ubyte", struct.pack(">2i", 2049, count) + bytes(i % 10 for i in range(count)))
        for name in ("cat", "dog"):
            os.makedirs(self.path(f"photos/{name}"), exist_ok=True)
            for i in range(3):
                self.write(f"photos/{name}/{i}.png", png(30 + i, 40, bytes(i for _ in range(3 * 40 * (30 + i)))))
        self.write("train.bin", struct.pack("<5000H", *(i % 500 for i in range(5000))))
        self.write("vocab.json", json.dumps({f"t{i}": i for i in range(500)}))
        self.write("log.jsonl", "".join(json.dumps({"text": f"line {i}", "label": i % 3}) + "\n" for i in range(20)))
        self.ok("convert", "folder:photos", "tar:shards", "--shard-bytes", "1", "--batch-size", "1")
        for i in range(128):
            shutil.copy(self.path("shards/part-00000.tar"), self.path(f"shard-{i:03}.tar"))
        self.ok("convert", "idx:data/train-images-idx3-ubyte", "arrow:out")
        os.rename(self.path("out"), self.path("out.partial"))
        self.ok("cat", "mnist:data", "--field", "label", "--trace", "trace.json")

    def examples(self):
        for name in (line.split()[0] for line in self.ok("--help").decode().splitlines() if line.startswith("  ")):
            for line in self.ok(name, "--help", env={**os.environ, "COLUMNS": "200"}).decode().splitlines():
                if line.startswith("  dataline "):
                    yield name, line.strip()

    def test_each_runs_as_it_stands(self):
        ran = set()
        folder = os.path.dirname(shell.PROGRAM)
        for name, line in self.examples():
            if name in MEASURE and "trace" not in line:
                continue
            with self.subTest(line):
                done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.folder, check=False, timeout=shell.SECONDS,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual(done.returncode, 0, done.stderr)
                ran.add(name)
        self.assertGreaterEqual(len(ran), 12)


if __name__ == "__main__":
    shell.main()
