// Writes the fields of a packed row, piece by piece.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"

namespace dataline {

// How y is delivered: signed, and wide enough for the tokens and for kNoTarget.
DType target_dtype(DType tokens);

// The targets of `count` tokens: the tokens after each, of which there is one more than `count` if `more`, else the last
// target is kNoTarget.
using WriteTargets = void (*)(const std::byte* tokens, int64_t count, bool more, std::byte* out);
WriteTargets write_targets_function(DType tokens);
// kNoTarget, `count` times.
using WriteNoTargets = void (*)(std::byte* out, int64_t count);
WriteNoTargets write_no_targets_function(DType tokens);

void fill_i32(int32_t* out, int64_t count, int32_t value);
void count_i32(int32_t* out, int64_t count);  // 0, 1, 2, ...

}  // namespace dataline
