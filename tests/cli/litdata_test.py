"""Sets that LitData writes are read as it reads them.

Only with `ctest -C long`. LitData is that of DATALINE_LITDATA_PYTHON, of the peers' torch group or of this Python; skips where there is none.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

import shell
from shell import ShellTest

# Writes items of each kind from two workers, tokens, and a compressed set; reads them back, and writes what came out, field by field.
WRITER = '''
import io, os, random, sys
import numpy as np, torch
from PIL import Image
from litdata import StreamingDataset, TokensLoader, optimize
folder = sys.argv[1]
def item(i):
    chance = random.Random(i)
    image = io.BytesIO()
    Image.new("RGB", (5 + i % 3, 4), (i % 256, 1, 2)).save(image, "JPEG")
    return {"text": "".join(chance.choice("ab\\u00e9\\U0001f600 ") for _ in range(chance.randrange(40))), "raw": chance.randbytes(chance.randrange(60)),
            "n": chance.randrange(-2**63, 2**63), "x": i / 7, "yes": i % 3 == 0, "row": np.arange(i % 9, dtype=np.uint16),
            "half": torch.arange(1 + i % 5, dtype=torch.float16), "fixed": np.full((2, 3), i, np.float32), "cube": torch.full((2, 1, 2), i, dtype=torch.int64),
            "scalar": torch.tensor(i, dtype=torch.int32), "image": image.getvalue(), "nest": {"a": i, "b": {"c": str(i)}}, "list": [i, str(i)], "any": {1, i}}
def simple(i):
    return {"row": np.full(1000, i), "n": i}
def tokens(i):
    yield torch.arange(i % 50, i % 50 + 20 + i % 7, dtype=torch.int64)
def main():
    optimize(item, list(range(300)), output_dir=folder + "/set", chunk_size=40, num_workers=2)
    optimize(simple, list(range(5)), output_dir=folder + "/small", chunk_size=40, num_workers=1, compression="zstd", compression_level="chunk")
    optimize(tokens, list(range(90)), output_dir=folder + "/tokens", chunk_size=450, num_workers=2, item_loader=TokensLoader())
    os.environ.pop("DATA_OPTIMIZER_GLOBAL_RANK", None)
    out = {}
    for one in StreamingDataset(folder + "/set", shuffle=False):
        one["nest/a"], one["nest/b/c"] = one["nest"]["a"], one["nest"]["b"]["c"]
        for name, value in one.items():
            if name in ("nest", "list", "any"): continue
            if isinstance(value, torch.Tensor): value = value.numpy()
            if isinstance(value, str): value = value.encode()
            elif isinstance(value, (bool, np.bool_)): value = np.uint8(value)
            elif isinstance(value, (int, float, np.generic)): value = np.asarray(value)
            out.setdefault(name, []).append(value if isinstance(value, bytes) else value.tobytes())
    for name, values in out.items():
        with open(folder + "/" + name.replace("/", "+") + ".bytes", "wb") as file:
            file.write(b"".join(values))
    with open(folder + "/tokens.blocks", "wb") as file:  # blocks of one token: all of them
        for block in StreamingDataset(folder + "/tokens", item_loader=TokensLoader(block_size=1), shuffle=False):
            file.write(block.numpy().tobytes())
if __name__ == "__main__":
    main()
'''


def litdata():
    group = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / "torch" / "bin" / "python"
    for python in filter(None, [os.environ.get("DATALINE_LITDATA_PYTHON"), str(group), sys.executable]):
        look = [python, "-c", "import importlib.util as u, sys; sys.exit(any(u.find_spec(n) is None for n in ('litdata', 'PIL', 'zstd')))"]
        if pathlib.Path(python).exists() and subprocess.run(look, check=False, capture_output=True).returncode == 0:
            return python
    return None


PYTHON = litdata()
if PYTHON is None:
    print("skipped: no Python here has litdata, pillow and zstd (pip install litdata pillow zstd)")
    sys.exit(77)


class AgainstLitData(ShellTest):
    def setUp(self):
        super().setUp()
        script = pathlib.Path(self.folder) / "writer.py"
        script.write_text(WRITER)
        subprocess.run([PYTHON, str(script), self.folder], check=True, capture_output=True, timeout=500, cwd=self.folder)

    def test_what_it_writes_comes_out_as_it_is_read_there(self):
        names = [name for name in sorted(os.listdir(self.folder)) if name.endswith(".bytes")]
        self.assertEqual(len(names), 13)
        fields = [name[:-6].replace("+", "/") for name in names]
        for name, field in zip(names, fields):
            got = self.ok("cat", f"litdata:set?fields={','.join(fields)}", "--field", field, "--max-bytes-per-sample", "4MiB")
            self.assertEqual(got, self.read(name), name)
        self.assertEqual(self.ok("cat", "litdata:tokens", "--field", "tokens", "--max-bytes-per-sample", "4MiB"), self.read("tokens.blocks"))

    def test_compressed_chunks_are_inflated(self):
        self.assertEqual(self.ok("cat", "litdata:small", "--field", "n"), b"".join(i.to_bytes(8, "little") for i in range(5)))
        rows = b"".join(i.to_bytes(8, "little") * 1000 for i in range(5))
        self.assertEqual(self.ok("cat", "litdata:small", "--field", "row"), rows)

    def test_a_bare_directory_is_known_and_pickles_are_refused_with_what_to_do(self):
        self.ok("info", "tokens")
        self.fails(1, "info", "litdata:set", says="field 'list': data_format 'json' is not read")
        self.fails(1, "info", "litdata:set?fields=n,any", says="field 'any': data_format 'pickle': a pickle runs code .*`fields`")


if __name__ == "__main__":
    shell.main()
