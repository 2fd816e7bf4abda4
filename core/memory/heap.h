// The heap behind everything that is not a slot: mimalloc by its own names where the build has it, else the C
// library. One small object, so that a build may replace just this one.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dataline {

constexpr int64_t kMostHeapAlignment = 4096;

// Null when there is no memory. `alignment` is a power of two up to kMostHeapAlignment; `bytes` > 0.
std::byte* heap_allocate(int64_t bytes, int64_t alignment) noexcept;
void heap_release(std::byte* data) noexcept;

}  // namespace dataline
