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

// Address space of which only what is touched becomes memory, in small pages: a touched byte costs one page, not
// 2 MiB. Zeroed, aligned at kHugePageBytes, not charged against overcommit; null when the system refuses (RLIMIT_AS).
// Given back by unmap_huge_pages(). `bytes` > 0.
std::byte* map_address_space(int64_t bytes) noexcept;

// Gives the whole pages inside [data, data + bytes) back to the system; they read as zeros when touched again.
void discard_pages(std::byte* data, int64_t bytes) noexcept;

// Makes every page of writable private memory present now, so that no page fault is left for the first batch.
// Contents stay. kNoMemory when the system says that there is no memory; where it refuses the request itself (an old
// kernel, a sandbox), the pages are touched one by one.
Status prefault(std::byte* data, int64_t bytes);

}  // namespace dataline
