// Record -> sample: a text grammar, parsed once and compiled to one program per field, run by any worker.
//
//   [field, field:] op, op(1, name=2), ...; field: op
//
// README.md draws how the folders below depend on each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/decode/decoder.h"
#include "core/transform/grammar/arguments.h"
#include "core/transform/mix/mix.h"
#include "core/transform/passes/program.h"

namespace dataline {

// What a text makes of each field, in the order of the fields.
struct CompiledTransforms {
  std::vector<std::unique_ptr<const Program>> programs;
  // The same programs in two parts. Nothing for a field without operators, whose last pass no device can run, or that is
  // mixed on the host.
  std::vector<std::optional<DeviceSplit>> splits;
  std::vector<std::string> texts;  // the operators as written, "" for none
  std::vector<bool> upright;       // decoded as their Exif orientation says
  std::vector<BatchMix> mixes;     // mixup and cutmix, which the caller runs on finished batches
};

// Fields without operators get a plain copy (with row prefetch). `text` may be empty. `target` is chosen by tests and
// benchmarks. Errors: kBadTransform with column; kNoSuchField with column, listing the fields.
Result<CompiledTransforms> compile_transforms(std::string_view text, std::span<const Field> fields,
                                              const TransformSettings& settings = {},
                                              SimdTarget target = best_simd_target());

// The operators of `text` after those of `first`, as of one list a field. Columns in errors are those of the text that has the fault.
Result<CompiledTransforms> compile_transforms(std::string_view first, std::string_view text,
                                              std::span<const Field> fields,
                                              const TransformSettings& settings,
                                              SimdTarget target = best_simd_target());

// The operators that `text` has for each field, as written, in order.
using OperatorTexts = std::vector<std::vector<std::string>>;
Result<OperatorTexts> operators_of(std::string_view text, std::span<const Field> fields,
                                   const TransformSettings& settings);

// Rows of `field` as they are stored.
std::unique_ptr<const Program> make_copy_program(const Field& field);

}  // namespace dataline
