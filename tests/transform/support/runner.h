// Compiles a transform text for one field and runs it over rows, the way workers do: in runs of chosen sizes, from
// unaligned places, into a target that is filled with 0xDD and guarded on both sides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/transform.h"
#include "tests/transform/support/tensor.h"

namespace dataline::tests {

// Every vector target that this machine runs, plain first.
std::vector<SimdTarget> simd_targets();

struct RunSetup {
  SimdTarget target = best_simd_target();
  int64_t run_rows = 64;
  int64_t misalignment = 0;    // bytes that each row starts after an aligned place
  int64_t source_offset = 0;   // bytes before each row that the program is told to skip
  bool contiguous = false;     // rows side by side, and said so
  int64_t target_stride = -1;  // -1: the output's bytes, which then must be known
  TransformSettings settings;
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t first_slot = 0;
  std::vector<int64_t> absent;  // rows that failed before, or are another program's
  RowExtent bucket;             // of the batch
};

struct RunResult {
  Field output;
  bool identity = false;
  std::vector<std::vector<std::byte>> rows;  // ragged and varying: as long as reported
  std::vector<RowExtent> extents;            // varying only
  std::vector<RowError> errors;              // rows counted over all runs
};

// `field` describes the rows; dense rows have its bytes. Fails the test when the text does not compile, when
// guards are overwritten, or when an absent row's place is touched.
RunResult run_transform(std::string_view text, const Field& field,
                        const std::vector<std::vector<std::byte>>& rows, const RunSetup& setup = {});

// The same with a program that is compiled already; `text` is for messages.
RunResult run_program(const Program& program, std::string_view text,
                      const std::vector<std::vector<std::byte>>& rows, const RunSetup& setup = {});

// One sample in, one out.
Tensor transform_one(std::string_view text, const Tensor& in, const RunSetup& setup = {});

// "": equal. Else the first element that differs, with both sides in hexadecimal.
std::string difference(const Tensor& expected, const Tensor& got);

// Bytes that make every kind of value of a dtype: zeros, ones, extremes, subnormals, infinities, NaNs, random bits.
Tensor random_tensor(DType dtype, std::vector<int64_t> shape, std::string axes, uint64_t seed);
// As it is delivered: bools are 0 or 1.
Tensor settled(Tensor tensor);
// The same without NaN and infinity.
Tensor finite_tensor(DType dtype, std::vector<int64_t> shape, std::string axes, uint64_t seed);

}  // namespace dataline::tests
