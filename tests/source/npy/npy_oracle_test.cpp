// NumPy writes arrays in every type, byte order, memory order and version; the samples are NumPy's own bytes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/source/located.h"
#include "tests/support/read_whole.h"

namespace dataline::npy_oracle_test {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// Writes NAME.npy and NAME.bin (native C-order bytes) for each case, and the list of cases.
constexpr std::string_view kScript = R"python(
import itertools, sys, numpy as np
out, names = sys.argv[1], []
rng = np.random.default_rng(7)
types = {'b1': 'bool', 'u1': 'u8', 'u2': 'u16', 'u4': 'u32', 'u8': 'u64', 'i1': 'i8', 'i2': 'i16', 'i4': 'i32',
         'i8': 'i64', 'f2': 'f16', 'f4': 'f32', 'f8': 'f64', 'c8': 'c64', 'c16': 'c128'}
shapes = [(7,), (1,), (0, 3), (5, 3), (130, 2, 3), (3, 4, 1, 2), (2, 1, 1), (67, 2, 2, 2, 2)]
for code, name in types.items():
    for order, memory, version, shape in itertools.product('<>=', 'CF', [(1, 0), (2, 0), (3, 0)], shapes):
        dtype = np.dtype(order + code)
        raw = rng.integers(0, 2 if code == 'b1' else 256, int(np.prod(shape)) * dtype.itemsize, dtype=np.uint8)
        array = np.frombuffer(raw.tobytes(), dtype).reshape(shape)
        array = np.asfortranarray(array) if memory == 'F' else np.ascontiguousarray(array)
        case = f'{code}_{"lbn"["<>=".index(order)]}_{memory}_{version[0]}_{"x".join(map(str, shape))}'
        with open(f'{out}/{case}.npy', 'wb') as f:
            np.lib.format.write_array(f, array, version=version)
        native = np.ascontiguousarray(np.load(f'{out}/{case}.npy')).astype(dtype.newbyteorder('='))
        native.tofile(f'{out}/{case}.bin')
        names.append(f'{case} {name} {"x".join(map(str, shape))}')
open(f'{out}/cases', 'w').write('\n'.join(names) + '\n')
)python";

// Damages header texts at random and writes NumPy's verdict on each: its samples in NAME.bin, or no such file.
constexpr std::string_view kDamageScript = R"python(
import random, sys, warnings, numpy as np
out = sys.argv[1]
warnings.simplefilter('ignore')
rng = random.Random(11)
letters = "{}()[]',:<>|=?0123456789uifcbVSOLTFalsertd _\\\"\n"
texts = ["{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }", "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3)}",
         "{'shape': (6,), 'descr': '|u1', 'fortran_order': False}", "{'descr': '<c8', 'fortran_order': False, 'shape': (3L, 1L), }"]
for n in range(4000):
    text = list(rng.choice(texts))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at, kind = rng.randrange(len(text)), rng.randrange(3)
        if kind == 0: text[at] = rng.choice(letters)
        elif kind == 1: text.insert(at, rng.choice(letters))
        else: del text[at]
    text = (''.join(text) + '\n').encode()
    with open(f'{out}/{n}.npy', 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + len(text).to_bytes(2, 'little') + text + bytes(range(48)))
    try:
        array = np.load(f'{out}/{n}.npy', allow_pickle=False)
        np.ascontiguousarray(array).astype(array.dtype.newbyteorder('=')).tofile(f'{out}/{n}.bin')
    except Exception:
        pass
)python";

void run_python(const TempDir& dir, std::string_view script, bool& ran) {
  if (std::system((std::string(kPython) + " -c 'import numpy' 2>/dev/null").c_str()) != 0) return;
  ran = std::system((std::string(kPython) + " " + dir.write("make.py", script) + " " + dir.path()).c_str()) ==
        0;
  EXPECT_TRUE(ran);
}

TEST(NpyOracle, EverythingNumPyWritesIsReadAsNumPyReadsIt) {
  TempDir dir;
  bool ran = false;
  run_python(dir, kScript, ran);
  if (!ran) GTEST_SKIP() << kPython << " has no numpy: the oracle for npy is not run";
  std::ifstream cases(dir.path("cases"));
  std::string name, dtype, shape;
  int read = 0;
  while (cases >> name >> dtype >> shape) {
    for (IoMode io : kIoModes) {
      Result<SourceRef> source = open_source("npy:" + dir.path(name + ".npy"), context_for(io));
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      const Source& array = *source.value();
      std::vector<int64_t> dims = array.schema().fields[0].shape;
      dims.insert(dims.begin(), array.count());
      EXPECT_EQ(shape_text(dims), shape) << name;
      EXPECT_EQ(dtype_name(array.schema().fields[0].dtype), dtype) << name;
      ASSERT_TRUE(all_samples(array) == read_whole(dir.path(name + ".bin"))) << name << ": not NumPy's bytes";
    }
    ++read;
  }
  EXPECT_EQ(read, 14 * 3 * 2 * 3 * 8);
}

TEST(NpyOracle, WhatIsReadOfDamagedHeadersNumPyReadsAlike) {
  TempDir dir;
  bool ran = false;
  run_python(dir, kDamageScript, ran);
  if (!ran) GTEST_SKIP() << kPython << " has no numpy: the oracle for npy is not run";
  int both = 0, numpy_only = 0;
  for (int n = 0; n < 4000; ++n) {
    std::string name = dir.path(std::to_string(n));
    bool numpy_reads = std::filesystem::exists(name + ".bin");
    // As NumPy does.
    Result<SourceRef> source =
        open_source("npy:" + name + ".npy?trailing=ignore", context_for(IoMode::kAuto));
    if (!source.is_ok()) {
      numpy_only += numpy_reads;
      continue;
    }
    ASSERT_TRUE(numpy_reads) << read_whole(name + ".npy").substr(10, 80);
    EXPECT_TRUE(all_samples(*source.value()) == read_whole(name + ".bin"))
        << read_whole(name + ".npy").substr(10, 80);
    ++both;
  }
  EXPECT_GT(both, 100) << "the damage was too great to show anything";
  // Text, void, structured, 0-d, samples without bytes, Python's other ways to write a number or a string.
  EXPECT_LT(numpy_only, both / 2);
}

}  // namespace
}  // namespace dataline::npy_oracle_test
