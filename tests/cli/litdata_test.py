"""Sets that LitData writes are read as it reads them, compressed ones too.

Only with `ctest -C long`. LitData is that of bench/peers/setup.sh (the group litdata) or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import shell
from shell import ShellTest

# Writes items of each kind and tokens, plain and compressed; reads them back, and writes what came out, field by field. They are read
# from a copy, for LitData puts inflated chunks in the place of compressed ones.
WRITER = '''
import io, os, random, shutil, sys
import numpy as np, torch
from PIL import Image
from litdata import StreamingDataset, TokensLoader, optimize
folder = sys.argv[1]
def jpeg(i):
    out = io.BytesIO()
    Image.new("RGB", (5 + i % 3, 4), (i % 256, 1, 2)).save(out, "JPEG")
    return out.getvalue()
def photo(i):  # stored as the bytes of its file
    path = f"{folder}/{os.getpid()}.jpg"
    with open(path, "wb") as file:
        file.write(jpeg(i))
    return Image.open(path)
def item(i):
    chance = random.Random(i)
    return {"text": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(chance.randrange(40))), "raw": chance.randbytes(chance.randrange(60)),
            "n": chance.randrange(-2**63, 2**63), "x": i / 7, "yes": i % 3 == 0, "row": np.arange(i % 9, dtype=np.uint16),
            "half": torch.arange(1 + i % 5, dtype=torch.float16), "fixed": np.full((2, 3), i, np.float32), "cube": torch.full((2, 1, 2), i, dtype=torch.int64),
            "scalar": torch.tensor(i, dtype=torch.int32), "image": jpeg(i), "photo": photo(i), "nest": {"a": i, "b": {"c": str(i)}}, "list": [i, str(i)], "any": {1, i}}
def row(i):  # dicts of texts, bytes, numbers, lists and dicts: LitData writes rows of Arrow files
    chance = random.Random(i)
    return {"text": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(chance.randrange(40))), "raw": chance.randbytes(chance.randrange(60)),
            "n": chance.randrange(-2**63, 2**63), "x": i / 7, "yes": i % 3 == 0, "tokens": [chance.randrange(9) for _ in range(i % 5)], "nest": {"a": i, "b": {"c": str(i)}},
            "maybe": None if i % 10 == 3 else str(i)}
def tokens(i):
    yield torch.arange(i % 50, i % 50 + 20 + i % 7, dtype=torch.int64)
def short_tokens(i):
    yield np.arange(i % 50, i % 50 + 20 + i % 7, dtype=np.uint16)
def copied(name):
    return shutil.copytree(f"{folder}/{name}", f"{folder}/{name}.read")
def read_items(name):
    out = {}
    for one in StreamingDataset(copied(name), shuffle=False):
        one["nest/a"], one["nest/b/c"] = one["nest"]["a"], one["nest"]["b"]["c"]
        for field, value in one.items():
            if field in ("nest", "list", "any"): continue
            if field == "photo":
                assert sorted(np.asarray(value).shape) == sorted((3, 4, 5 + one["nest/a"] % 3))
                value = jpeg(one["nest/a"])
            if isinstance(value, torch.Tensor): value = value.numpy()
            if isinstance(value, str): value = value.encode()
            elif isinstance(value, (bool, np.bool_)): value = np.uint8(value)
            elif isinstance(value, (int, float, np.generic)): value = np.asarray(value)
            out.setdefault(field, []).append(value if isinstance(value, bytes) else value.tobytes())
    write_fields(name, out)
def write_fields(name, out):
    for field, values in out.items():
        with open(f"{folder}/{name}.{field.replace('/', '+')}.bytes", "wb") as file:
            file.write(b"".join(values))
def read_rows(name):
    out = {}
    for one in StreamingDataset(copied(name), shuffle=False):
        assert list(one) == ["text", "raw", "n", "x", "yes", "tokens", "nest", "maybe"]
        for field, value in {**one, "nest/a": one["nest"]["a"], "nest/b/c": one["nest"]["b"]["c"]}.items():
            if field == "nest": continue
            bytes_of = {str: str.encode, bytes: bytes, bool: lambda v: bytes([v]), int: lambda v: np.int64(v).tobytes(), float: lambda v: np.float64(v).tobytes(),
                        list: lambda v: np.array(v, np.int64).tobytes(), type(None): lambda v: b""}[type(value)]
            out.setdefault(field, []).append(bytes_of(value))
    write_fields(name, out)
def read_tokens(name):
    with open(f"{folder}/{name}.blocks", "wb") as file:  # blocks of one token: all of them
        for block in StreamingDataset(copied(name), item_loader=TokensLoader(block_size=1), shuffle=False):
            file.write(np.asarray(block).tobytes())
def main():
    zstd = {"compression": "zstd", "compression_level": "chunk"}
    optimize(item, list(range(300)), output_dir=folder + "/plain", chunk_size=40, num_workers=2)
    optimize(item, list(range(300)), output_dir=folder + "/zstd", chunk_size=40, num_workers=2, **zstd)
    optimize(item, list(range(100)), output_dir=folder + "/zstd19", chunk_bytes="4KB", num_workers=1, compression="zstd:19", compression_level="chunk")
    optimize(item, list(range(100)), output_dir=folder + "/items", chunk_size=40, num_workers=1, compression="zstd", compression_level="sample")
    optimize(item, list(range(300)), output_dir=folder + "/batches", chunk_size=280, num_workers=1, compression="zstd")
    optimize(item, list(range(100)), output_dir=folder + "/few", chunk_size=40, num_workers=2, compression="zstd:9", compression_batch_size=7)
    optimize(tokens, list(range(90)), output_dir=folder + "/tokens", chunk_size=450, num_workers=2, item_loader=TokensLoader())
    optimize(tokens, list(range(90)), output_dir=folder + "/tokens-zstd", chunk_size=450, num_workers=2, item_loader=TokensLoader(), **zstd)
    optimize(short_tokens, list(range(90)), output_dir=folder + "/short", chunk_size=450, num_workers=1, item_loader=TokensLoader(), **zstd)
    optimize(row, list(range(3000)), output_dir=folder + "/rows", chunk_size=700, num_workers=2)
    optimize(row, list(range(3000)), output_dir=folder + "/rows-zstd", chunk_size=701, num_workers=1, compression="zstd")
    optimize(row, list(range(300)), output_dir=folder + "/rows-chunk", chunk_bytes="8KB", num_workers=1, compression="zstd:9", compression_level="chunk")
    os.environ.pop("DATA_OPTIMIZER_GLOBAL_RANK", None)
    for name in ("plain", "zstd", "zstd19", "items", "batches", "few"):
        read_items(name)
    for name in ("rows", "rows-zstd", "rows-chunk"):
        read_rows(name)
    for name in ("tokens", "tokens-zstd", "short"):
        read_tokens(name)
if __name__ == "__main__":
    main()
'''


PYTHON = shell.python_with("litdata", "litdata", "PIL", "pyarrow", "zstd")


class AgainstLitData(ShellTest):
    """The sets are written once, and each test has a copy."""

    @classmethod
    def setUpClass(cls):
        cls.written = tempfile.mkdtemp(prefix="dataline-litdata-")
        cls.addClassCleanup(shutil.rmtree, cls.written, ignore_errors=True)
        script = pathlib.Path(cls.written) / "writer.py"
        script.write_text(WRITER)
        sets = os.path.join(cls.written, "sets")
        os.mkdir(sets)
        done = subprocess.run([PYTHON, str(script), sets], check=False, capture_output=True, text=True, timeout=500, cwd=cls.written)
        if done.returncode != 0:
            raise AssertionError(done.stderr[-2000:])

    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(self.written, "sets"), self.folder, dirs_exist_ok=True)

    def chunks(self, name):
        return sorted(file for file in os.listdir(self.path(name)) if file.endswith(".bin"))

    def same(self, name, uri=None, keys="", count=14):
        names = [file for file in sorted(os.listdir(self.folder)) if file.startswith(f"{name}.") and file.endswith(".bytes")]
        self.assertEqual(len(names), count)
        fields = [file.split(".")[1].replace("+", "/") for file in names]
        for file, field in zip(names, fields):
            got = self.ok("cat", f"litdata:{uri or name}?fields={','.join(fields)}{keys}", "--field", field, "--max-bytes-per-sample", "4MiB")
            self.assertEqual(got, self.read(file), file)

    def same_tokens(self, name):
        self.assertEqual(self.ok("cat", f"litdata:{name}", "--field", "tokens", "--max-bytes-per-sample", "4MiB"), self.read(f"{name}.blocks"))

    def test_what_it_writes_comes_out_as_it_is_read_there(self):
        self.assertGreaterEqual(len(self.chunks("plain")), 8)
        self.same("plain")
        self.same_tokens("tokens")

    def test_compressed_chunks_are_inflated_to_what_is_read_there(self):
        for name, least in (("zstd", 8), ("zstd19", 5)):
            chunks = self.chunks(name)
            self.assertGreaterEqual(len(chunks), least)
            self.assertEqual([file for file in chunks if ".zstd" not in file], [])
            self.same(name)
            self.assertEqual(self.chunks(name), chunks, "nothing is written beside them")
            self.assertIn("decompressed into memory", "".join(json.loads(self.ok("info", f"litdata:{name}?fields=n", "--json"))["notes"]))

    def test_what_litdata_has_inflated_in_place_is_a_set_too(self):
        self.assertEqual([file for file in self.chunks("zstd.read") if ".zstd" in file], [])
        self.same("zstd", "zstd.read")

    def test_compressed_tokens_are_inflated_to_what_is_read_there(self):
        for name in ("tokens-zstd", "short"):
            self.assertEqual([file for file in self.chunks(name) if ".zstd" not in file], [])
            self.same_tokens(name)
        self.assertEqual(len(self.read("tokens-zstd.blocks")), len(self.read("tokens.blocks")))

    def test_items_compressed_one_by_one_or_in_batches_are_inflated_to_what_is_read_there(self):
        for name in ("items", "batches", "few"):
            self.assertEqual([file for file in self.chunks(name) if ".zstd" in file], [])
            self.same(name)
            self.assertIn("decompressed into memory", "".join(json.loads(self.ok("info", f"litdata:{name}?fields=n", "--json"))["notes"]))

    def test_dicts_that_it_writes_as_rows_of_arrow_files_come_out_as_they_are_read_there(self):
        for name, least in (("rows", 4), ("rows-zstd", 4), ("rows-chunk", 3)):
            chunks = self.chunks(name)
            self.assertGreaterEqual(len(chunks), least)
            for chunk in chunks:
                self.assertTrue(self.read(f"{name}/{chunk}").endswith(b"LDARW01\0"), chunk)
            self.same(name, keys="&nulls=fill(0)", count=9)
            notes = "".join(json.loads(self.ok("info", f"litdata:{name}?fields=n", "--json"))["notes"])
            (self.assertNotIn if name == "rows" else self.assertIn)("decompressed into memory", notes)
        report = json.loads(self.ok("info", "litdata:rows", "--json"))
        self.assertEqual(report["samples"], 3000)
        self.assertRegex("".join(report["notes"]), r"maybe: \d+ nulls")

    def test_a_bare_directory_is_known_and_pickles_are_refused_with_what_to_do(self):
        self.ok("info", "tokens")
        self.fails(1, "info", "litdata:plain", says="field 'list': data_format 'json' is not supported")
        self.fails(1, "info", "litdata:plain?fields=n,any", says="field 'any': data_format 'pickle': a pickle runs code .*`fields`")


if __name__ == "__main__":
    shell.main()
