"""What the cases of this folder must give, computed without the library from the published order and draws.

  expected.py --write   makes files/ and cases.txt
  expected.py           fails when they are not what it would make

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "order"))
import check_golden_order as order  # noqa: E402

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
AUGMENT = 5
MAGIC = b"DLREC1\n\0"


def mix64(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def draw(seed, epoch, slot, place, number):
    key = mix64(seed + GOLDEN & MASK)
    key = mix64(key ^ (epoch * GOLDEN + 0x632BE59BD9B4E019) & MASK)
    key = mix64(key ^ (AUGMENT * GOLDEN + 0x2545F4914F6CDD1D) & MASK)
    bits = mix64((mix64(key ^ (slot * GOLDEN + 0xD1B54A32D192ED03) & MASK) + (place | number << 32) * GOLDEN) & MASK)
    return (bits >> 11) * 2.0**-53


def rows(count, width):
    """Bytes with no pattern that a wrong stride would keep; none begins with 255."""
    made = [bytes(mix64(i * 1000 + j + 1) & 255 for j in range(width)) for i in range(count)]
    return [bytes([row[0] % 255]) + row[1:] for row in made]


def dlrec(records, width):
    return MAGIC + struct.pack("<II", len(records), width) + b"".join(records)


def npy(records, width):
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(records)}, {width}), }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"".join(records)


def xored(data):
    return bytes(byte ^ 0x5A for byte in data)


A = rows(100, 5)
BAD = [row if i != 9 else b"\xff" + row[1:] for i, row in enumerate(rows(20, 3))]
FILES = {
    "a.dlrec": dlrec(A, 5),
    "bad.dlrec": dlrec(BAD, 3),
    "cut.dlrec": dlrec(A, 5)[:-1],
    "x.dlrec": xored(dlrec(A, 5)),
    "n.npy": xored(npy(A, 5)),
}


def offset(value, noise=0.0):
    def apply(row, seed, epoch, slot, place=0):
        u = draw(seed, epoch, slot, place, 0)
        return b"".join(struct.pack("<f", byte + value + noise * u) for byte in row)

    return apply


def digest(records, batch_size=32, epochs=1, shuffle=False, seed=0, labels=False, transform=None):
    """FNV-1a-64 of the stream: per batch the samples as i64, then each field's bytes."""
    value = 0xCBF29CE484222325
    for epoch in range(epochs):
        samples = order.fisher_yates(len(records), seed, epoch) if shuffle else range(len(records))
        for first in range(0, len(records), batch_size):
            slots = range(first, min(first + batch_size, len(records)))
            here = [records[samples[slot]] for slot in slots]
            data = b"".join(struct.pack("<q", samples[slot]) for slot in slots)
            for slot, row in zip(slots, here):
                data += row if transform is None else transform(row, seed, epoch, slot)
            if labels:
                data += b"".join(struct.pack("<q", sum(row)) for row in here)
            for byte in data:
                value = (value ^ byte) * 0x100000001B3 & MASK
    return f"{value:016x}"


CASES = [
    ("a file by its scheme", "dlrec:@/a.dlrec", "batch_size=7 epochs=1", digest(A, 7)),
    ("a file by its content", "@/a.dlrec", "batch_size=7 epochs=1", digest(A, 7)),
    ("a key", "dlrec:@/a.dlrec?labels=sum", "batch_size=8 epochs=1", digest(A, 8, labels=True)),
    ("shuffled by two workers", "dlrec:@/a.dlrec", "batch_size=9 epochs=2 shuffle=full seed=7 num_workers=2",
     digest(A, 9, epochs=2, shuffle=True, seed=7)),
    ("shuffled by the caller", "dlrec:@/a.dlrec", "batch_size=9 epochs=2 shuffle=full seed=7 num_workers=0",
     digest(A, 9, epochs=2, shuffle=True, seed=7)),
    ("two files are concatenated", "dlrec:@/a.dlrec,@/a.dlrec", "batch_size=16 epochs=1", digest(A + A, 16)),
    ("an operator", "dlrec:@/a.dlrec", "batch_size=7 epochs=1 transform=offset(1.5)", digest(A, 7, transform=offset(1.5))),
    ("an operator that draws", "dlrec:@/a.dlrec",
     "batch_size=7 epochs=2 shuffle=full seed=3 transform=offset(-1,noise=2) num_workers=2",
     digest(A, 7, epochs=2, shuffle=True, seed=3, transform=offset(-1, 2))),
    ("a storage", "dlrec:xor://@/x.dlrec", "batch_size=7 epochs=1", digest(A, 7)),
    ("a storage, format by content", "xor://@/x.dlrec", "batch_size=7 epochs=1", digest(A, 7)),
    ("a storage under a format of the library", "npy:xor://@/n.npy", "batch_size=7 epochs=1 shuffle=full seed=1",
     digest(A, 7, shuffle=True, seed=1)),
    ("a storage loaded into memory", "npy:xor://@/n.npy", "batch_size=7 epochs=1 io=memory", digest(A, 7)),
    ("all three", "xor://@/x.dlrec", "batch_size=10 epochs=1 transform=offset(0.25,noise=1) seed=5",
     digest(A, 10, seed=5, transform=offset(0.25, 1))),
    ("a bad row is named", "dlrec:@/bad.dlrec", "batch_size=6 epochs=1", "DL_ERR_BAD_SAMPLE the row is marked bad"),
    ("a cut file", "dlrec:@/cut.dlrec", "", "DL_ERR_CORRUPT cut.dlrec"),
    ("a word that the key does not take", "dlrec:@/a.dlrec?labels=all", "", "DL_ERR_BAD_URI expected none or sum"),
    ("an unknown key", "dlrec:@/a.dlrec?label=sum", "", "DL_ERR_BAD_URI did you mean 'labels'"),
    ("an unknown scheme", "dlrecs:@/a.dlrec", "", "DL_ERR_BAD_URI did you mean 'dlrec'"),
    ("an argument out of range", "dlrec:@/a.dlrec", "transform=offset(1,noise=-1)", "DL_ERR_BAD_TRANSFORM column 16: offset: noise"),
    ("a missing argument", "dlrec:@/a.dlrec", "transform=offset", "DL_ERR_BAD_TRANSFORM value"),
    ("an unknown argument", "dlrec:@/a.dlrec", "transform=offset(1,loud=2)", "DL_ERR_BAD_TRANSFORM loud"),
    ("a field of another type", "dlrec:@/a.dlrec", "transform=offset(1),offset(1)", "DL_ERR_BAD_TRANSFORM u8"),
    ("an object that is not there", "dlrec:xor://@/x.gone", "", "DL_ERR_NOT_FOUND no such object"),
    ("a directory in a storage", "folder:xor://@/files", "", "DL_ERR_UNSUPPORTED directory"),
    ("a storage nobody has", "dlrec:zor://@/x.dlrec", "", "DL_ERR_BAD_URI no storage reads zor://, did you mean 'xor://'?"),
    ("a storage nobody has, without a format", "xro://@/x.dlrec", "", "DL_ERR_BAD_URI did you mean 'xor://'"),
    ("the scheme of a storage, without its slashes", "xorr:@/x.dlrec", "", "DL_ERR_BAD_URI did you mean 'xor://'"),
]


def contents():
    made = {HERE / "files" / name: data for name, data in FILES.items()}
    lines = ["# NAME | URI | OPTIONS | EXPECTED; made by expected.py, see README.md"]
    lines += [" | ".join(case) for case in CASES]
    made[HERE / "cases.txt"] = ("\n".join(lines) + "\n").encode()
    return made


def main():
    if sys.argv[1:] == ["--write"]:
        (HERE / "files").mkdir(exist_ok=True)
        for path, data in contents().items():
            path.write_bytes(data)
        return 0
    stale = [path.name for path, data in contents().items() if not path.exists() or path.read_bytes() != data]
    print("stale: " + ", ".join(stale) if stale else f"{len(CASES)} cases are what expected.py makes")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
