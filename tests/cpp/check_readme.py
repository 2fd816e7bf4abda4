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


def joined(blocks):
    """One source of all blocks that are no program, each in a namespace; errors name a block and its line."""
    includes = set()
    bodies = []
    for number, block in blocks:
        includes.update(re.findall(r"^#include .*$", block, re.MULTILINE))
        block = f'#line 1 "block {number}"\n' + re.sub(r"^#include .*$", "", block, flags=re.MULTILINE)
        if not re.search(r"^(class|struct|template)\b", block, re.MULTILINE):  # those: declarations, then what uses them
            block = f"int example();\nint example() {{\n{block}\n  return 0;\n}}\n"
        bodies.append(f"namespace block_{number} {{\n{block}\n}}\n")
    return "\n".join(sorted(includes)) + "\n" + AROUND + "".join(bodies)


def main():
    root, libraries, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch = sys.argv[4:]
    text = (root / "bindings/cpp/README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    includes = [f"-I{root}/bindings/cpp/include", f"-I{root}/capi"]
    failed = 0
    programs = [(number, block) for number, block in enumerate(blocks, 1) if "int main" in block]
    others = [(number, block) for number, block in enumerate(blocks, 1) if "int main" not in block]
    assert not any("dataline_torch.hpp" in block for _, block in others), "they compile without LibTorch"

    def build(source, text, *flags):
        source.write_text(text, encoding="utf-8")
        made = subprocess.run([compiler, *STRICT, *includes, source, *flags], capture_output=True, text=True, check=False)
        if made.returncode:
            print(f"{source.name}:\n{made.stderr}")
        return made.returncode == 0

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        digits(folder)
        failed += not build(folder / "others.cpp", joined(others), "-fsyntax-only")
        for number, block in programs:
            needs_torch = "dataline_torch.hpp" in block
            if needs_torch and not torch:
                print(f"block {number} is left out: LibTorch is not installed")
                continue
            # LibTorch's newer headers are C++20.
            flags = ["-std=c++20", *torch] if needs_torch else []
            if not build(folder / f"block_{number}.cpp", block, "-o", folder / "program", f"-L{libraries}", "-ldataline", *flags):
                failed += 1
                continue
            ran = subprocess.run([folder / "program", folder], capture_output=True, text=True, check=False,
                                 env={**os.environ, "LD_LIBRARY_PATH": libraries})
            if ran.returncode:
                failed += 1
                print(f"block {number}:\n{block}\n{ran.stderr}")
    print(f"{len(blocks)} blocks, {len(programs)} programs, {failed} failed")
    return failed > 0 or len(others) < 5 or not programs


if __name__ == "__main__":
    sys.exit(main())
