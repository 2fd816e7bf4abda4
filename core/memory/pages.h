// Whole pages from the operating system: sizes, anonymous maps, prefaulting.
// Threads: plain functions, callable from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"

namespace dataline {

// The large page of x86-64 and of arm64 with 4 KiB pages. Elsewhere the advice below is merely useless.
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

int64_t page_bytes();

// Zeroed anonymous memory, aligned at kHugePageBytes and advised to use 2 MiB pages; null when the system
// refuses. A last page that would be less than half full stays in small pages, so that thousands of small
// blocks do not take 2 MiB each: the waste is below 1 MiB a block. `bytes` > 0.
std::byte* map_huge_pages(int64_t bytes) noexcept;
void unmap_huge_pages(std::byte* data, int64_t bytes) noexcept;  // the same `bytes`

// Makes every page of writable private memory present now, so that no page fault is left for the first batch.
// Contents stay. kNoMemory when the system cannot.
Status prefault(std::byte* data, int64_t bytes);

}  // namespace dataline
