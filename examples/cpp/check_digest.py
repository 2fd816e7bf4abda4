"""The digest that example_train_mnist_cpp prints is that of what `dataline cat` writes for the same job.

  check_digest.py DATALINE EXAMPLE DIGITS_FOLDER

SPDX-License-Identifier: Apache-2.0
"""

import re
import subprocess
import sys

BATCH = 512
SEED = 9
ROW_BYTES = {"image": 784 * 4, "label": 8}  # f32 after normalize, i64


def field(program, folder, name):
    command = [program, "cat", f"mnist:{folder}", "--field", name, "--shuffle", "full", "--seed", SEED, "--batch_size", BATCH,
               "--transform", "image: normalize(mnist), flatten"]
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True).stdout


def fnv1a(digest, data):
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return digest


def main():
    program, example, folder = sys.argv[1:]
    command = [example, "--data", folder, "--epochs", "1", "--seed", str(SEED), "--batch-size", str(BATCH)]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    told = re.search(r"first epoch digest: ([0-9a-f]{16})", told).group(1)

    fields = {name: field(program, folder, name) for name in ROW_BYTES}
    samples = len(fields["label"]) // ROW_BYTES["label"]
    digest = 0xCBF29CE484222325
    for first in range(0, samples, BATCH):
        for name, row in ROW_BYTES.items():
            digest = fnv1a(digest, fields[name][first * row:(first + BATCH) * row])
    print(f"{samples} samples: example {told}, cat {digest:016x}")
    return told != f"{digest:016x}"


if __name__ == "__main__":
    sys.exit(main())
