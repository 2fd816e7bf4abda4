// NumPy as a second opinion on casts.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/support/places.h"
#include "tests/support/read_whole.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::oracle_test {
namespace {

namespace fs = std::filesystem;

// The first Python that has NumPy, or "".
std::string python() {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (std::system(concat(candidate, " -c 'import numpy' 2>/dev/null").c_str()) == 0) return candidate;
  }
  return "";
}

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "dataline-oracle-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  void write(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<std::byte> read(const std::string& name) const {
    const std::string text = read_whole(path_ / name);
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Whole numbers and quarters from 0 to 100, which every type holds at least rounded toward zero.
Tensor small_tensor(DType dtype) {
  Tensor quarters = empty_tensor(DType::kF64, {401}, "");
  for (int64_t i = 0; i < 401; ++i) {
    const double value = static_cast<double>(i) / 4;
    std::memcpy(quarters.at(i), &value, sizeof value);
  }
  return transform_one(concat("cast(", dtype_name(dtype), ")"), quarters);
}

// NaNs compare equal: NumPy keeps payloads in its own way.
bool same_but_for_nan(const Tensor& expected, const Tensor& got, int64_t element) {
  const int64_t parts = is_complex(got.dtype) ? 2 : 1, bytes = dtype_bytes(got.dtype) / parts;
  for (int64_t part = 0; part < parts; ++part) {
    const std::byte* x = expected.at(element) + part * bytes;
    const std::byte* y = got.at(element) + part * bytes;
    const auto is_nan = [&](const std::byte* from) {
      uint64_t bits = 0;
      std::memcpy(&bits, from, static_cast<size_t>(bytes));
      if (bytes == 2) return (bits & 0x7fff) > 0x7c00;
      if (bytes == 4) return (bits & 0x7fffffff) > 0x7f800000;
      return (bits & ~(uint64_t{1} << 63)) > 0x7ff0000000000000;
    };
    const bool floating = dtype_is_float(got.dtype) || is_complex(got.dtype);
    if (floating && is_nan(x) && is_nan(y)) continue;
    if (std::memcmp(x, y, static_cast<size_t>(bytes)) != 0) return false;
  }
  return true;
}

TEST(NumPy, AgreesOnCastsWhereItsRuleIsTheSame) {
  const std::string program = python();
  if (program.empty()) GTEST_SKIP() << "no Python with NumPy here: the casts are not checked against it";
  const Folder folder;
  std::vector<DType> dtypes;
  for (DType dtype : kAllDtypes) {
    if (dtype != DType::kBf16) dtypes.push_back(dtype);
  }
  std::vector<Tensor> wide, small;
  for (DType dtype : dtypes) {
    wide.push_back(random_tensor(dtype, {20000}, "", 5));
    // NumPy takes every byte of a bool for what it is; ours are 0 or 1 here.
    if (dtype == DType::kBool) {
      for (std::byte& byte : wide.back().bytes) byte &= std::byte{1};
    }
    small.push_back(small_tensor(dtype));
    folder.write(concat(dtype_name(dtype), ".bin"), wide.back().bytes);
    folder.write(concat(dtype_name(dtype), ".small.bin"), small.back().bytes);
  }
  const std::string script = tests::in_repository("tests/transform/numpy_oracle.py");
  ASSERT_EQ(std::system(concat(program, " '", script, "' '", folder.path().string(), "'").c_str()), 0);
  for (size_t from = 0; from < dtypes.size(); ++from) {
    for (DType to : dtypes) {
      if (is_complex(dtypes[from]) && !is_complex(to)) continue;
      const bool by_small = dtype_is_integer(to) && dtypes[from] != DType::kBool;
      const Tensor& in = by_small ? small[from] : wide[from];
      const Tensor got = transform_one(concat("cast(", dtype_name(to), ")"), in);
      Tensor expected = got;
      expected.bytes = folder.read(concat(dtype_name(dtypes[from]), "-", dtype_name(to), ".bin"));
      ASSERT_EQ(expected.bytes.size(), got.bytes.size())
          << dtype_name(dtypes[from]) << " to " << dtype_name(to);
      int64_t differing = 0;
      for (int64_t i = 0; i < got.count(); ++i) differing += same_but_for_nan(expected, got, i) ? 0 : 1;
      EXPECT_EQ(differing, 0) << dtype_name(dtypes[from]) << " to " << dtype_name(to);
    }
  }
}

}  // namespace
}  // namespace dataline::tests::oracle_test
