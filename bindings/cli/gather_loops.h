// Loops that copy rows at given places into one run of memory: the ways known to be fast somewhere. Which
// is best depends on row, cache and machine, so `bench` tries them all and counts against the best.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataline::cli {

// Bytes [from, from + bytes) of rows order[0..count), `stride` bytes apart, to out. `order` is readable for
// RowOrder::kSpare entries past count.
using GatherLoop = void (*)(const std::byte* rows, size_t stride, size_t from, size_t bytes,
                            const uint32_t* order, size_t count, std::byte* out);

// Those that this processor runs, for rows of `bytes` bytes; never empty.
std::vector<GatherLoop> gather_loops(size_t bytes);

}  // namespace dataline::cli
