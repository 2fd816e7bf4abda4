// The heap for everything that is not a slot: mimalloc, called by its own names, where the build has it, else malloc. A
// translation unit of its own, so that a build can replace it.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dataline {

constexpr int64_t kMaxHeapAlignment = 4096;

// Null when there is no memory. `alignment` is a power of two up to kMaxHeapAlignment; `bytes` > 0.
std::byte* heap_allocate(int64_t bytes, int64_t alignment) noexcept;
void heap_release(std::byte* data) noexcept;

}  // namespace dataline
