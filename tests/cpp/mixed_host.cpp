// Half of a program whose halves are compiled differently: with exceptions and std::span, or without (WITHOUT=1). The
// linker must not take one half's functions for the other's.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <dataline.hpp>
#include <vector>

int64_t sum_without();

namespace {

int64_t sum() {
  const std::vector<int64_t> values = {1, 2, 3};
  dataline::Loader loader(dataline::Dataset::copy_arrays({dataline::Array("x", values)}), {{"epochs", 1}});
  int64_t total = 0;
  for (const dataline::Batch& batch : loader) {
    for (const int64_t value : batch["x"].as<int64_t>()) total += value;
  }
  return total;
}

}  // namespace

#if defined(WITHOUT)

#if DATALINE_CPP_EXCEPTIONS || DATALINE_CPP_STD_SPAN
#error "this half is compiled as C++17 without exceptions"
#endif
int64_t sum_without() { return sum(); }

#else

#if !DATALINE_CPP_EXCEPTIONS || !DATALINE_CPP_STD_SPAN
#error "this half is compiled as C++20 with exceptions"
#endif
int main() {
  int caught = 0;
  try {
    dataline::Dataset("idx:/no/such/file");
  } catch (const dataline::Error& error) {
    caught = error.code() == DL_ERR_NOT_FOUND ? 1 : 0;
  }
  const bool fine = caught == 1 && sum() == 6 && sum_without() == 6;
  std::printf("%s\n", fine ? "fine" : "the halves were mixed");
  return fine ? 0 : 1;
}

#endif
