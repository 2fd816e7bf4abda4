"""Sets written by Megatron-LM's own code (IndexedDatasetBuilder of megatron-core, from PyPI) are read as it reads them.

Only with `ctest -C long`. Of the package only its reader and writer are used, without PyTorch: the few names of it that they
mention stand in. Skips where NumPy or the package cannot be had.

SPDX-License-Identifier: Apache-2.0
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import types
import zipfile

import shell
from shell import ShellTest

PACKAGE = "megatron-core==0.9.0"

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)


class Anything(types.ModuleType):
    """A module in which every name is a class that a class can be made of."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def megatron(folder):
    get = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
    if subprocess.run(get, check=False, capture_output=True).returncode != 0:
        print(f"skipped: {PACKAGE} cannot be downloaded")
        sys.exit(77)
    with zipfile.ZipFile(next(pathlib.Path(folder).glob("megatron_core*.whl"))) as wheel:
        for name in ("indexed_dataset.py", "utils_s3.py"):
            wheel.extract(f"megatron/core/datasets/{name}", folder)
    torch = Anything("torch")
    torch.utils = Anything("torch.utils")
    torch.utils.data = Anything("torch.utils.data")
    utils = types.ModuleType("megatron.core.utils")
    utils.log_single_rank = lambda *_, **__: None
    sys.modules.update({"torch": torch, "megatron.core.utils": utils})
    sys.path.insert(0, folder)
    return importlib.import_module("megatron.core.datasets.indexed_dataset")


FOLDER = tempfile.TemporaryDirectory(prefix="dataline-megatron-")
MEGATRON = megatron(FOLDER.name)


class AgainstMegatron(ShellTest):
    def write_set(self, name, dtype, documents):
        builder = MEGATRON.IndexedDatasetBuilder(self.path(name + ".bin"), dtype=dtype)
        for sequences in documents:
            builder.add_document(numpy.concatenate(sequences), [len(sequence) for sequence in sequences])
        builder.finalize(self.path(name + ".idx"))

    def made(self, dtype, seed, count):
        draw = numpy.random.default_rng(seed)
        return [[draw.integers(0, 100, draw.integers(0, 30)).astype(dtype) for _ in range(draw.integers(1, 4))] for _ in range(count)]

    def test_documents_of_every_type_are_read(self):
        for dtype in ("uint8", "int8", "int16", "int32", "int64", "uint16"):
            documents = self.made(dtype, 3, 50)
            self.write_set("set", getattr(numpy, dtype), documents)
            tokens = numpy.concatenate([sequence for sequences in documents for sequence in sequences])
            self.assertEqual(self.ok("cat", "megatron:set", "--field", "tokens"), tokens.tobytes(), dtype)
            again = MEGATRON.IndexedDataset(self.path("set"), mmap=True)
            self.assertEqual(len(again.document_indices) - 1, 50)
            self.assertEqual(b"".join(again[i].tobytes() for i in range(len(again))), tokens.tobytes())

    def test_a_set_that_it_merged_is_read(self):
        first, second = self.made("uint16", 4, 20), self.made("uint16", 5, 30)
        self.write_set("a", numpy.uint16, first)
        self.write_set("b", numpy.uint16, second)
        builder = MEGATRON.IndexedDatasetBuilder(self.path("ab.bin"), dtype=numpy.uint16)
        for name in ("a", "b"):
            builder.add_index(self.path(name))
        builder.finalize(self.path("ab.idx"))
        merged = self.ok("cat", "megatron:ab?pack_length=64", "--field", "x")
        self.assertEqual(merged, self.ok("cat", "megatron:a,b?pack_length=64", "--field", "x"))

    def test_floats_are_refused_by_name(self):
        self.write_set("set", numpy.float32, [[numpy.zeros(4, numpy.float32)]])
        ran = self.run_shell("cat", "megatron:set", "--field", "tokens")
        self.assertEqual(ran.status, 1)
        self.assertIn("f32", ran.err)


if __name__ == "__main__":
    shell.main()
