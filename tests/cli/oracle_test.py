"""cat against what others know: the golden orders, NumPy, and the digits of MNIST.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import sys
import unittest

import shell
from shell import ShellTest, indices_of

try:
    import numpy
except ImportError:
    # Debian's NumPy belongs to Debian's Python, which may not be the one that runs the tests.
    if os.path.exists("/usr/bin/python3") and "DATALINE_TEST_PYTHON" not in os.environ:
        os.execve("/usr/bin/python3", ["/usr/bin/python3", *sys.argv], {**os.environ, "DATALINE_TEST_PYTHON": "tried"})
    numpy = None

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "order", "golden_order.json")
MNIST_SHA256 = "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757"


class GoldenOrder(ShellTest):
    def setUp(self):
        super().setUp()
        with open(GOLDEN, encoding="utf-8") as file:
            self.golden = json.load(file)

    def sparse(self, count):
        with open(self.path("records"), "wb") as file:
            file.truncate(count)
        return ["cat", "raw:records?dtype=u8&shape=1", "--indices", "--num_workers", "1"]

    def digest(self, indices):
        value = 0
        for index in indices:
            value = (value * 6364136223846793005 + index + 1) % 2**64
        return format(value, "x")

    def test_shuffles(self):
        whole = 0
        for row in self.golden["shuffle_full"]:
            count, epoch = row["n"], row["epoch"]
            if count > 1 << 41:
                continue  # no file system here holds such a file
            job = [*self.sparse(count), "--shuffle", "full", "--seed", row["seed"], "--start_epoch", epoch, "--epochs", epoch + 1]
            with self.subTest(n=count, seed=row["seed"], epoch=epoch):
                for name, start in (("first", 0), ("middle", count // 2)):
                    wanted = row[name]
                    self.assertEqual(indices_of(self.ok(*job, "--batch_size", 1, "--start_step", start, "--batches", len(wanted))),
                                     wanted, name)
                if count <= 70_000 and row["digest"] is not None:
                    self.assertEqual(self.digest(indices_of(self.ok(*job, "--batch_size", 1000))), row["digest"])
                    whole += 1
        self.assertGreater(whole, 10)

    def test_weighted_draws(self):
        for row in self.golden["weighted"]:
            weights = row["weights"] or [(i * 7919 % 1000) / 8 for i in range(1000)]
            self.write("w.txt", "\n".join(map(repr, weights)))
            job = [*self.sparse(len(weights)), "--weights", "w.txt", "--seed", row["seed"], "--start_epoch", row["epoch"],
                   "--epochs", row["epoch"] + 1, f"--replacement={str(row['replacement']).lower()}"]
            if row["samples_per_epoch"] is not None and row["samples_per_epoch"] >= 0:
                job += ["--samples_per_epoch", row["samples_per_epoch"]]
            with self.subTest(row["seed"]):
                indices = indices_of(self.ok(*job))
                self.assertEqual(indices[:len(row["first"])], row["first"])
                self.assertEqual(self.digest(indices), row["digest"])


@unittest.skipUnless(numpy, "NumPy is not installed for any Python here")
class AgainstNumPy(ShellTest):
    def test_every_dtype_and_byte_order(self):
        chance = numpy.random.default_rng(3)
        for descr in ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"):
            for order in "<>":
                dtype = numpy.dtype(descr if descr == "?" else order + descr)
                values = numpy.frombuffer(chance.bytes(37 * 6 * dtype.itemsize), dtype=dtype).reshape(37, 2, 3)
                if descr == "?":
                    values = (chance.integers(0, 2, (37, 2, 3)) == 1)
                numpy.save(self.path("a.npy"), values)
                with self.subTest(dtype):
                    indices = indices_of(self.ok("cat", "npy:a.npy", "--shuffle", "full", "--indices"))
                    native = values[indices].astype(dtype.newbyteorder("="))
                    self.assertEqual(self.ok("cat", "npy:a.npy", "--shuffle", "full"), native.tobytes())

    def test_fortran_order_and_shards_and_zip(self):
        values = numpy.arange(60, dtype="<i4").reshape(10, 2, 3)
        numpy.save(self.path("f.npy"), numpy.asfortranarray(values))
        self.assertEqual(self.ok("cat", "npy:f.npy"), values.tobytes())
        os.mkdir(self.path("shards"))
        for number in (10, 2, 1):
            numpy.save(self.path(f"shards/part-{number}.npy"), values + number * 1000)
        wanted = numpy.concatenate([values + 1000, values + 2000, values + 10000])
        self.assertEqual(self.ok("cat", "npy:shards"), wanted.tobytes())
        numpy.save(self.path("label.npy"), numpy.arange(10))
        zipped = "npy:image=f.npy,label=label.npy"
        self.assertEqual(self.ok("cat", zipped, "--field", "label"), numpy.arange(10).tobytes())
        self.assertEqual(self.ok("cat", zipped, "--field", "image"), values.tobytes())

    def test_archives_of_arrays(self):
        images, labels = numpy.arange(60, dtype="<u2").reshape(10, 2, 3), numpy.arange(10)
        numpy.savez(self.path("a.npz"), image=images, label=labels)
        info = json.loads(self.ok("info", "a.npz", "--json"))
        self.assertEqual((info["format"], info["samples"]), ("npz", 10))
        self.assertEqual([(f["name"], f["dtype"], f["shape"]) for f in info["fields"]], [("image", "u16", [2, 3]), ("label", "i64", [])])
        self.assertEqual(self.ok("cat", "a.npz", "--field", "label"), labels.tobytes())
        cast = self.ok("cat", "npz:a.npz?fields=image", "--transform", "cast(f32)", "--shuffle", "full")
        order = indices_of(self.ok("cat", "npz:a.npz", "--indices", "--shuffle", "full"))
        self.assertEqual(cast, images[order].astype("<f4").tobytes())
        whole = json.loads(self.ok("info", "npz:a.npz?rows=false", "--json"))
        self.assertEqual((whole["samples"], whole["fields"][0]["shape"]), (1, [10, 2, 3]))

    def test_normalize_to_the_bit(self):
        values = numpy.arange(256, dtype="u1").reshape(4, 64)
        numpy.save(self.path("a.npy"), values)
        a = numpy.float32(1 / (255 * 0.25))
        b = numpy.float32(-0.5 / 0.25)
        wanted = values.astype("f4") * a + b
        self.assertEqual(self.ok("cat", "npy:a.npy", "--transform", "normalize(mean=0.5, std=0.25)"), wanted.tobytes())

    def test_arrays_that_numpy_wrote(self):
        numpy.save(self.path("a.npy"), numpy.arange(20, dtype="u1"))
        order = numpy.array([5, 19, 0, 5])
        numpy.save(self.path("order.npy"), order)
        numpy.savetxt(self.path("order.txt"), order)
        for name in ("order.npy", "order.txt"):
            self.assertEqual(self.ok("cat", "npy:a.npy", "--sample_indices", name), bytes([5, 19, 0, 5]))


class Mnist(ShellTest):
    def setUp(self):
        super().setUp()
        self.mnist = os.path.join(shell.SHARED_DATA, "mnist")
        if not os.path.isdir(self.mnist):
            self.skipTest(f"the MNIST files are not in {self.mnist}")

    def test_the_training_images_are_the_known_bytes(self):
        for words in ([], ["--num_workers", "0"], ["--batch_size", "1000", "--prefetch_depth", "2"]):
            images = self.ok("cat", f"mnist:{self.mnist}", "--field", "image", *words)
            self.assertEqual(hashlib.sha256(images).hexdigest(), MNIST_SHA256)

    def test_labels_and_the_test_split(self):
        labels = self.ok("cat", f"mnist:{self.mnist}?label_dtype=u8", "--field", "label")
        self.assertEqual((len(labels), list(labels[:5])), (60_000, [5, 0, 4, 1, 9]))
        wide = self.ok("cat", f"mnist:{self.mnist}?split=test", "--field", "label")
        self.assertEqual((len(wide), list(wide[:32:8])), (80_000, [7, 2, 1, 0]))


if __name__ == "__main__":
    shell.main()
