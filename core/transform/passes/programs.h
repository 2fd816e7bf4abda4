// The implementations of Program: plain copies, one flat pass over many rows at once, and lists of passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/field.h"
#include "core/base/simd.h"
#include "core/transform/passes/flat_pass.h"
#include "core/transform/passes/pass.h"
#include "core/transform/passes/program.h"

namespace dataline {

// What all programs report about their rows.
struct ProgramOutput {
  Field field;
  std::vector<PixelScale> scales;
  bool draws = false;
};

std::unique_ptr<const Program> make_copy_program(const Field& input, ProgramOutput output, SimdTarget target);

// A dense field whose rows are mapped element by element, without padding.
std::unique_ptr<const Program> make_flat_program(const Field& input, ProgramOutput output,
                                                 std::shared_ptr<const FlatPass> pass, SimdTarget target);

// `pass_bytes`: the maximum each pass writes; the last one is not used.
std::unique_ptr<const Program> make_pass_program(const Field& input, ProgramOutput output,
                                                 std::vector<PassRef> passes,
                                                 const std::vector<int64_t>& pass_bytes);

}  // namespace dataline
