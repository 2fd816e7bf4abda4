// The search for one token among many, as fast as memory is read.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/simd.h"

namespace dataline {

// Writes `first` + i + 1 for each token i that has the bits of `value`, ascending; returns how many. `data` is aligned to
// the tokens, `out` has room for `count` numbers.
using FindTokens = int64_t (*)(const std::byte* data, int64_t count, uint64_t value, uint32_t first,
                               uint32_t* out);

// For tokens of 1, 2, 4 or 8 bytes.
FindTokens find_tokens_function(int64_t token_bytes, SimdTarget target);

}  // namespace dataline
