"""TFRecord files in the shell, written here by the description of the format alone: what `info` says, what `cat` delivers.

SPDX-License-Identifier: Apache-2.0
"""

import json
import random
import struct

import shell
from shell import ShellTest


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def ints(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def floats(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def text(value):
    return field(1, field(1, value))


def example(chance, features):
    """The order of a map is not defined."""
    entries = [field(1, field(1, name.encode()) + field(2, value)) for name, value in features.items()]
    chance.shuffle(entries)
    return field(1, b"".join(entries))


class TfRecord(ShellTest):
    def shards(self, count, rows):
        """Shards as TensorFlow Datasets names them; the samples in their order."""
        chance = random.Random(3)
        samples = []
        for shard in range(count):
            data = b""
            for _ in range(rows):
                sample = {
                    "image": chance.randbytes(chance.randrange(2000)),
                    "label": chance.randrange(-5, 1 << 40),
                    "box": [struct.unpack("<f", struct.pack("<f", chance.random()))[0] for _ in range(4)],
                    "ids": [chance.randrange(-(1 << 63), 1 << 63) for _ in range(chance.randrange(20))],
                }
                samples.append(sample)
                features = {"image/encoded": text(sample["image"]), "label": ints(sample["label"]),
                            "box": floats(*sample["box"]), "ids": ints(*sample["ids"])}
                data += record(example(chance, features))
            self.write(f"set-train.tfrecord-{shard:05}-of-{count:05}", data)
        return samples

    URI = "tfrecord:set-train.tfrecord-{00000..00011}-of-00012?fields=image/encoded:bytes,label:i64,box:f32[4],ids:i64[]"

    def test_every_value_comes_out_in_order(self):
        samples = self.shards(12, 10)
        for io in ("mmap", "pread", "memory"):
            get = lambda name: self.ok("cat", self.URI, "--field", name, "--io", io)
            self.assertEqual(get("image/encoded"), b"".join(sample["image"] for sample in samples))
            self.assertEqual(get("label"), struct.pack("<120q", *(sample["label"] for sample in samples)))
            self.assertEqual(get("box"), struct.pack("<480f", *(x for sample in samples for x in sample["box"])))
            ids = [x for sample in samples for x in sample["ids"]]
            self.assertEqual(get("ids"), struct.pack(f"<{len(ids)}q", *ids))

    def test_any_order_and_a_transform_of_a_nested_name(self):
        samples = self.shards(12, 10)
        order = self.ok("cat", self.URI, "--shuffle", "full", "--seed", 5, "--indices").split()
        self.assertEqual(sorted(map(int, order)), list(range(120)))
        labels = self.ok("cat", self.URI, "--shuffle", "full", "--seed", 5, "--field", "label")
        self.assertEqual(labels, struct.pack("<120q", *(samples[int(i)]["label"] for i in order)))
        window = self.ok("cat", self.URI, "--shuffle", "window", "--shuffle_block", 4096, "--indices").split()
        self.assertEqual(sorted(map(int, window)), list(range(120)))
        padded = self.ok("cat", self.URI, "--transform", "image/encoded: pad_to(2000)", "--field", "image/encoded")
        self.assertEqual(padded, b"".join(sample["image"].ljust(2000, b"\0") for sample in samples))

    def test_info_tells_what_was_inferred(self):
        chance = random.Random(4)
        self.write("a.tfrecord", record(example(chance, {"image/encoded": text(b"x"), "label": ints(3), "box": floats(1, 2)})))
        told = json.loads(self.ok("info", "a.tfrecord", "--json"))
        self.assertEqual((told["format"], told["samples"]), ("tfrecord", 1))
        self.assertEqual([(f["name"], f["kind"], f["dtype"], f["shape"]) for f in told["fields"]],
                         [("box", "dense", "f32", [2]), ("image/encoded", "ragged", "u8", [-1]), ("label", "dense", "i64", [])])
        self.assertEqual(told["notes"], ["fields inferred from the first record: box:f32[2], image/encoded:bytes, label:i64"])
        self.write("b.tfrecord", record(b"any bytes"))
        self.assertIn("delivered as bytes", self.ok("info", "b.tfrecord").decode())

    def test_bad_records_are_named_and_replaced(self):
        good = record(example(random.Random(5), {"n": ints(1), "m": ints(2)}))
        spoilt = bytearray(good)
        spoilt[-6] ^= 1
        self.write("a.tfrecord", good + bytes(spoilt) + good)
        says = rf"a\.tfrecord: offset {len(good)}: record 1: the checksum of its data is 0x[0-9a-f]{{8}}, expected 0x[0-9a-f]{{8}}"
        self.fails(1, "cat", "a.tfrecord", "--field", "n", "--batch_size", 1, out=struct.pack("<q", 1), says=says)
        ran = self.run_shell("cat", "a.tfrecord", "--field", "n", "--on_error", "replace")
        self.assertEqual((ran.status, ran.out), (0, struct.pack("<3q", 1, 1, 1)))
        self.fails(2, "cat", "tfrecord:a.tfrecord?fields=n:i32", "--field", "n", says="NAME:TYPE")
        self.fails(2, "info", "tfrecord:a.tfrecord?fields=o", says=r"no feature 'o'; it has m, n")


if __name__ == "__main__":
    shell.main()
