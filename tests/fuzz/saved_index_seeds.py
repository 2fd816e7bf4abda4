"""Damage to a saved index for the fuzzer to begin with, (place, value) in three bytes: saved_index_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import struct
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "none").write_bytes(b"")
    for place in (0, 8, 12, 32, 40, 48, 56, 64, 72, 80, 88):  # members of the header
        for value in (0, 1, 255):
            (folder / f"header-{place}-{value}").write_bytes(struct.pack("<HB", place, value))
    for place in range(96, 480, 7):
        (folder / f"byte-{place}").write_bytes(struct.pack("<HB", place, place * 37 % 256))
    for place, name in ((65535, "cut"), (65534, "grown")):
        (folder / name).write_bytes(struct.pack("<HB", place, 9))
    header = b"DLFOLDER" + struct.pack("<II", 1, 96) + struct.pack("<QQ", 96, 0) + bytes(64)
    (folder / "bare").write_bytes(header)


if __name__ == "__main__":
    main()
