"""Every C++ block of bindings/cpp/README.md compiles; those that are programs run on a small dataset.

  check_readme.py ROOT LIBRARY_FOLDER COMPILER [FLAG...]

The flags are LibTorch's; without any, the blocks that need it are left out, and said so.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

STRICT = ["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused"]
# What a block that is no program may use without saying where it comes from.
AROUND = """#include <chrono>
#include <dataline.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>
void train_step(dataline::Span<const float> images, dataline::Span<const int64_t> labels);
void train_step(const dataline::Batch& batch);
void draw_frame();
void launch_kernels(const void* device_memory, int64_t samples, void* stream);
extern void* const stream;
extern const int rank, local_rank, world_size;
"""


def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + b"".join(struct.pack(">I", dim) for dim in shape) + data


def digits(folder):
    """The MNIST files of 70 + 10 blank digits."""
    for name, count in (("train", 70), ("t10k", 10)):
        (folder / f"{name}-images-idx3-ubyte").write_bytes(idx((count, 28, 28), bytes(count * 784)))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(idx((count,), bytes(count)))


def as_source(block):
    if "int main" in block:
        return block
    if re.search(r"^(class|struct|template)\b", block, re.MULTILINE):  # declarations, then what uses them
        return AROUND + block
    return AROUND + "int example();\nint example() {\n" + block + "\n  return 0;\n}\n"


def main():
    root, libraries, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch = sys.argv[4:]
    text = (root / "bindings/cpp/README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    includes = [f"-I{root}/bindings/cpp/include", f"-I{root}/capi"]
    failed = 0
    programs = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        digits(folder)
        for number, block in enumerate(blocks, 1):
            needs_torch = "dataline_torch.hpp" in block
            if needs_torch and not torch:
                print(f"block {number} is left out: LibTorch is not installed")
                continue
            source = folder / f"block_{number}.cpp"
            source.write_text(as_source(block), encoding="utf-8")
            program = "int main" in block
            target = ["-o", folder / "program", f"-L{libraries}", "-ldataline"] if program else ["-fsyntax-only"]
            # LibTorch's newer headers are C++20.
            command = [compiler, *STRICT, *(["-std=c++20"] if needs_torch else []), *includes, source, *target,
                       *(torch if needs_torch else [])]
            made = subprocess.run(command, capture_output=True, text=True, check=False)
            ran = None
            if program and made.returncode == 0:
                programs += 1
                ran = subprocess.run([folder / "program", folder], capture_output=True, text=True, check=False,
                                     env={**os.environ, "LD_LIBRARY_PATH": libraries})
            if made.returncode or (ran and ran.returncode):
                failed += 1
                print(f"block {number}:\n{block}\n{made.stderr}{ran.stderr if ran else ''}")
    print(f"{len(blocks)} blocks, {programs} programs ran, {failed} failed")
    return failed > 0 or len(blocks) < 5 or programs == 0


if __name__ == "__main__":
    sys.exit(main())
