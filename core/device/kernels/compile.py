"""Compiles the kernels for every driver from CUDA 12.0 on, with the compilers of CUDA 12 that toolkit.sh installs.

compile.py TOOLS INCLUDE_FOLDER SOURCE IMAGE ARCHITECTURE...    architectures as 75 80 90

No driver before 13.0 is promised to load what nvcc 13 makes: its machine code has another format (ELF ABI 8), and its PTX
is newer than they know. Here NVRTC 12.0 makes the PTX and the code of the generations that it knows, and the assembler of
12.8 the code of newer ones, which older drivers do not know either. The image has the compression of before 12.4, which
all can read.

DATALINE_KERNEL_CACHE names a folder that keeps images: what one checkout compiled, another one copies. An image's name there
lists all that went into it: its own name (sources, architectures), this script, the folder of the compilers.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# The standard headers that the kernels include: NVRTC has none.
HEADERS = {
    "stdint.h": """#pragma once
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned; using uint64_t = unsigned long;
using int8_t = signed char; using int16_t = short; using int32_t = int; using int64_t = long;
using uintptr_t = unsigned long;
#define INT64_MAX 0x7fffffffffffffffL
#define INT64_MIN (-INT64_MAX - 1)
""",
    "string.h": "",  # memcpy is known
    "type_traits": """#pragma once
namespace std {
template <typename, typename> constexpr bool is_same_v = false;
template <typename T> constexpr bool is_same_v<T, T> = true;
}
""",
}


def texts(words):
    return (ctypes.c_char_p * len(words))(*[word.encode() for word in words])


def grown(handle, size_of, get):
    """What a library returns by its size first and then by its bytes."""
    size = ctypes.c_size_t()
    if size_of(handle, ctypes.byref(size)) != 0:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    return buffer.raw if get(handle, buffer) == 0 else b""


class Nvrtc:
    def __init__(self, path, include, source):
        self.library = ctypes.CDLL(str(path))
        self.include, self.source = include, source

    def newest(self):
        count = ctypes.c_int()
        self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        known = (ctypes.c_int * count.value)()
        self.library.nvrtcGetSupportedArchs(known)
        return max(known)

    def compile(self, target):
        """PTX (of compute_NN) or machine code (of sm_NN)."""
        program = ctypes.c_void_p()
        lib = self.library
        lib.nvrtcCreateProgram(
            ctypes.byref(program), self.source.read_bytes(), self.source.name.encode(), len(HEADERS),
            texts(HEADERS.values()), texts(HEADERS))  # fmt: skip
        # -fmad=false: products and sums are rounded apart, as on the host.
        options = [f"-arch={target}", "-std=c++17", "-fmad=false", f"-I{self.include}"]
        if lib.nvrtcCompileProgram(program, len(options), texts(options)) != 0:
            sys.exit(grown(program, lib.nvrtcGetProgramLogSize, lib.nvrtcGetProgramLog).decode())
        if target.startswith("sm_"):
            return grown(program, lib.nvrtcGetCUBINSize, lib.nvrtcGetCUBIN)
        ptx = grown(program, lib.nvrtcGetPTXSize, lib.nvrtcGetPTX)
        if re.search(rb"\bfma\.|\.ftz\b", ptx):
            sys.exit(f"the PTX of {target} has a contracted or flushed operation: results would differ from results on the host")
        return ptx


def assemble(ptxas, ptx, architecture):
    with tempfile.TemporaryDirectory() as folder:
        text, code = pathlib.Path(folder, "kernels.ptx"), pathlib.Path(folder, "kernels.cubin")
        text.write_bytes(ptx.rstrip(b"\0"))
        subprocess.run([ptxas, f"-arch=sm_{architecture}", "--fmad=false", text, "-o", code], check=True)
        return code.read_bytes()


def pack(path, cubins, ptx_of, ptx):
    """A fat binary: the code of each generation, and PTX for those to come."""
    library = ctypes.CDLL(str(path))
    image = ctypes.c_void_p()
    options = ["-64", "-compress-all", "-compress-mode=speed"]
    failed = library.nvFatbinCreate(ctypes.byref(image), texts(options), ctypes.c_size_t(len(options)))
    for architecture, code in cubins.items():
        failed = failed or library.nvFatbinAddCubin(
            image, code, ctypes.c_size_t(len(code)), architecture.encode(), None
        )
    failed = failed or library.nvFatbinAddPTX(image, ptx, ctypes.c_size_t(len(ptx)), ptx_of.encode(), None, None)
    if failed:
        sys.exit(f"nvFatbin: error {failed}")
    return grown(image, library.nvFatbinSize, library.nvFatbinGet)


def kept_image(image, tools):
    """Where DATALINE_KERNEL_CACHE keeps the image; None: nowhere."""
    folder = os.environ.get("DATALINE_KERNEL_CACHE")
    made_by = hashlib.sha256(pathlib.Path(__file__).read_bytes() + str(tools.resolve()).encode()).hexdigest()[:12]
    return pathlib.Path(folder, f"{image.stem}-by-{made_by}.fatbin") if folder else None


def main():
    tools, include, source, image = map(pathlib.Path, sys.argv[1:5])
    kept = kept_image(image, tools)
    if kept and kept.is_file():
        shutil.copyfile(kept, image)
        return
    image.write_bytes(compiled(tools, include, source, sorted(sys.argv[5:], key=int)))
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as new:
            new.write(image.read_bytes())
        os.chmod(new.name, 0o644)
        os.replace(new.name, kept)


def compiled(tools, include, source, architectures):
    """The image with code for these architectures."""
    nvrtc = Nvrtc(tools / "cuda_nvrtc/lib/libnvrtc.so.12", include, source)
    newest = nvrtc.newest()
    known = [word for word in architectures if int(word) <= newest]
    newer = [word for word in architectures if int(word) > newest]
    ptx_of = known[0] if known else str(newest)
    with concurrent.futures.ThreadPoolExecutor() as threads:  # NVRTC compiles in parallel
        codes = {word: threads.submit(nvrtc.compile, f"sm_{word}") for word in known}
        portable = threads.submit(nvrtc.compile, f"compute_{ptx_of}")
        if newer:
            latest = threads.submit(nvrtc.compile, f"compute_{newest}").result()
            codes |= {word: threads.submit(assemble, tools / "cuda_nvcc/bin/ptxas", latest, word) for word in newer}
        cubins = {word: code.result() for word, code in codes.items()}
        return pack(tools / "nvfatbin/lib/libnvfatbin.so.12", cubins, ptx_of, portable.result())


main()
