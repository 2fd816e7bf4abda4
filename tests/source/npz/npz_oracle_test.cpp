// NumPy writes archives in every way that it knows; the fields are the arrays that NumPy itself reads from them. Archives
// damaged at random are read as Python's zipfile and NumPy read them, or refused.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/text.h"
#include "core/source/gzip.h"
#include "core/source/open.h"
#include "tests/source/gzip_files.h"
#include "tests/source/located.h"
#include "tests/support/read_whole.h"

namespace dataline::npz_oracle_test {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// Writes NAME.npz, for each of its arrays NAME.ARRAY.bin (native C-order bytes), and the list "NAME ARRAY dtype dims".
constexpr std::string_view kScript = R"python(
import itertools, sys, numpy as np
out, names = sys.argv[1], []
rng = np.random.default_rng(7)
types = {'b1': 'bool', 'u1': 'u8', 'u2': 'u16', 'u4': 'u32', 'u8': 'u64', 'i1': 'i8', 'i2': 'i16', 'i4': 'i32',
         'i8': 'i64', 'f2': 'f16', 'f4': 'f32', 'f8': 'f64', 'c8': 'c64', 'c16': 'c128'}

def made(code, order, shape, memory):
    dtype = np.dtype(order + code)
    raw = rng.integers(0, 2 if code == 'b1' else 8, int(np.prod(shape)) * dtype.itemsize, dtype=np.uint8)
    array = np.frombuffer(raw.tobytes(), dtype).reshape(shape)
    return np.asfortranarray(array) if memory == 'F' else array

def told(case, save, arrays):
    save(f'{out}/{case}.npz', **arrays)
    for name, array in np.load(f'{out}/{case}.npz').items():
        np.ascontiguousarray(array).astype(array.dtype.newbyteorder('=')).tofile(f'{out}/{case}.{name}.bin')
        code = array.dtype.str[1:]
        names.append(f'{case} {name} {types[code]} {"x".join(map(str, array.shape)) or "-"}')

for save, order, memory in itertools.product((np.savez, np.savez_compressed), '<>', 'CF'):
    arrays = {code: made(code, order, (6, 3, 2), memory) for code in types}
    told(f'types_{save.__name__}_{"lb"["<>".index(order)]}_{memory}', save, arrays)
    wholes = {'scalar': made('f4', order, (), 'C'), 'row': made('i8', order, (9,), memory), 'cube': made('u2', order, (2, 3, 4), memory),
              'large': made('f8', order, (70, 300), memory)}
    told(f'whole_{save.__name__}_{"lb"["<>".index(order)]}_{memory}', save, wholes)
open(f'{out}/cases', 'w').write('\n'.join(names) + '\n')
)python";

// Changes bytes of archives at random and writes what NumPy reads: all arrays, one after another, in NAME.bin, or no such file.
constexpr std::string_view kDamageScript = R"python(
import io, random, sys, warnings, numpy as np
out = sys.argv[1]
warnings.simplefilter('ignore')
rng = random.Random(11)
bases = []
for save in (np.savez, np.savez_compressed):
    file = io.BytesIO()
    save(file, x=np.arange(12, dtype='<u2').reshape(4, 3), y=np.arange(4, dtype='u1'))
    bases.append(file.getvalue())
for n in range(700):
    data = bytearray(rng.choice(bases))
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.choice([rng.randrange(len(data)), len(data) - 1 - rng.randrange(130)])
        data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), 0, 255, rng.randrange(256)])
    open(f'{out}/{n}.npz', 'wb').write(data)
    try:
        with np.load(f'{out}/{n}.npz', allow_pickle=False) as archive:
            arrays = [archive[name] for name in archive.files]
        data = b''.join(np.ascontiguousarray(a).astype(a.dtype.newbyteorder('=')).tobytes() for a in arrays)
        open(f'{out}/{n}.bin', 'wb').write(data)
    except Exception:
        pass
)python";

bool run_python(const TempDir& dir, std::string_view script) {
  if (std::system((std::string(kPython) + " -c 'import numpy' 2>/dev/null").c_str()) != 0) return false;
  const std::string command = std::string(kPython) + " " + dir.write("make.py", script) + " " + dir.path();
  const bool ran = std::system(command.c_str()) == 0;
  EXPECT_TRUE(ran);
  return ran;
}

bool inflates() {
  return inflate_start("/x.gz", std::as_bytes(std::span(std::string_view(gzip_stored(""))))).is_ok();
}

std::string dims_text(std::vector<int64_t> dims) { return dims.empty() ? "-" : shape_text(dims); }

TEST(NpzOracle, EverythingNumPyWritesIsReadAsNumPyReadsIt) {
  TempDir dir;
  if (!run_python(dir, kScript)) GTEST_SKIP() << kPython << " has no numpy: the oracle for npz is not run";
  std::ifstream cases(dir.path("cases"));
  std::string name, array, dtype, shape;
  int read = 0;
  while (cases >> name >> array >> dtype >> shape) {
    if (name.find("compressed") != std::string::npos && !inflates()) continue;
    for (IoMode io : kIoModes) {
      for (const bool rows : {true, false}) {
        if (rows && name.starts_with("whole")) continue;
        Result<SourceRef> source =
            open_source(concat("npz:", dir.path(name + ".npz"), rows ? "" : "?rows=false"), context_for(io));
        ASSERT_TRUE(source.is_ok()) << source.status().message();
        const std::vector<Field>& fields = source.value()->schema().fields;
        const auto field =
            std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == array; });
        ASSERT_NE(field, fields.end()) << array;
        std::vector<int64_t> dims = field->shape;
        if (rows) dims.insert(dims.begin(), source.value()->count());
        EXPECT_EQ(dims_text(dims), shape) << name;
        EXPECT_EQ(dtype_name(field->dtype), dtype) << name;
        const auto which = static_cast<size_t>(field - fields.begin());
        ASSERT_TRUE(all_samples(*source.value(), which) == read_whole(dir.path(name + "." + array + ".bin")))
            << name << " " << array << ": not NumPy's bytes";
      }
    }
    ++read;
  }
  EXPECT_EQ(read, (inflates() ? 2 : 1) * 2 * 2 * (14 + 4));
}

TEST(NpzOracle, WhatIsReadOfDamagedArchivesNumPyReadsAlike) {
  TempDir dir;
  if (!run_python(dir, kDamageScript))
    GTEST_SKIP() << kPython << " has no numpy: the oracle for npz is not run";
  int both = 0, ours_only = 0;
  for (int n = 0; n < 700; ++n) {
    const std::string name = dir.path(std::to_string(n));
    Result<SourceRef> source = open_source("npz:" + name + ".npz?rows=false", context_for(IoMode::kAuto));
    if (!source.is_ok()) continue;
    // NumPy compares the CRC-32 of stored members too, which would read them.
    if (!std::filesystem::exists(name + ".bin")) {
      ++ours_only;
      continue;
    }
    std::string got;
    for (size_t f = 0; f < source.value()->schema().fields.size(); ++f)
      got += all_samples(*source.value(), f);
    EXPECT_TRUE(got == read_whole(name + ".bin")) << name;
    ++both;
  }
  EXPECT_GT(both, 100) << "the damage was too great to show anything";
  EXPECT_LT(ours_only, both);
}

}  // namespace
}  // namespace dataline::npz_oracle_test
