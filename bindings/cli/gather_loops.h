// Loops that copy rows into consecutive memory. Which is fastest depends on row, cache and machine, so `bench` tries them all and
// compares with the fastest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataline::cli {

// Copies bytes [from, from + bytes) of rows order[0..count), which are `stride` bytes apart, to out. `order` is readable for
// RowOrder::kSpare entries past count.
using GatherLoop = void (*)(const std::byte* rows, size_t stride, size_t from, size_t bytes,
                            const uint32_t* order, size_t count, std::byte* out);

// The loops that this processor can run for rows of `bytes` bytes; never empty.
std::vector<GatherLoop> gather_loops(size_t bytes);

}  // namespace dataline::cli
