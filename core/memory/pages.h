// Pages from the operating system: sizes, anonymous mappings, prefaulting; and the one that tells a fork.
// Threads: plain functions, callable from any thread; a ForkGuard is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"

namespace dataline {

// The huge page of x86-64 and of arm64 with 4 KiB pages; elsewhere the advice below has no effect.
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

int64_t page_bytes();

// Zeroed anonymous memory, aligned to kHugePageBytes and advised MADV_HUGEPAGE; null when the system refuses. A last huge
// page that would be less than half full stays in small pages, so that thousands of small blocks do not take 2 MiB each:
// the waste is below 1 MiB per block. `bytes` > 0.
std::byte* map_huge_pages(int64_t bytes) noexcept;
void unmap_huge_pages(std::byte* data, int64_t bytes) noexcept;  // the same `bytes`

// Reserved address space that becomes memory as it is touched, in small pages: a touched byte costs one page, not 2 MiB.
// Zeroed, aligned to kHugePageBytes, not charged against overcommit (Windows: charged like all memory); null when the system refuses (RLIMIT_AS). Freed by
// unmap_huge_pages(). `bytes` > 0.
std::byte* map_address_space(int64_t bytes) noexcept;
#if defined(_WIN32)
inline constexpr bool kAddressSpaceIsFree = false;
#else
inline constexpr bool kAddressSpaceIsFree = true;
#endif

// Returns the whole pages inside [data, data + bytes) to the system; they read as zeros when touched again, on Windows as
// anything.
void discard_pages(std::byte* data, int64_t bytes) noexcept;

// Faults in every page of writable private memory, so that the first batch takes no page faults. Contents stay. kNoMemory
// when the system is out of memory; where it rejects the request itself (an old kernel, a sandbox), the pages are touched
// one by one.
Status prefault(std::byte* data, int64_t bytes);

// Detects that this process was forked from the one that created the guard. Usually costs one load, of a page that the
// kernel wipes in the child (MADV_WIPEONFORK). On Windows nothing forks.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  bool forked() const {
    // Relaxed: written once, in the constructor.
    return page_ != nullptr ? __atomic_load_n(page_, __ATOMIC_RELAXED) == 0 : ::getpid() != process_id_;
  }

 private:
  uint32_t* page_ = nullptr;  // null where the kernel has no wipe on fork
  pid_t process_id_;
};

}  // namespace dataline
