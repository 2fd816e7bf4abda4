// Pages by VirtualAlloc. Windows counts every page against RAM and the page file when it is asked for, not when it is touched,
// so address space is committed like other memory; RAM it takes only where touched. There is no fork.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/pages.h"

#include <windows.h>

#include <atomic>
#include <limits>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int kAttempts = 16;  // another thread may take the address between two calls

// Zeroed, aligned to kHugePageBytes: VirtualAlloc aligns to 64 KiB, so the place is found by a larger reservation.
std::byte* map_aligned(int64_t bytes) {
  constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 2;
  if (bytes <= 0 || bytes > kMaxBytes) return nullptr;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    void* room =
        VirtualAlloc(nullptr, static_cast<SIZE_T>(bytes + kHugePageBytes), MEM_RESERVE, PAGE_NOACCESS);
    if (room == nullptr) return nullptr;
    const int64_t place = round_up(static_cast<int64_t>(reinterpret_cast<intptr_t>(room)), kHugePageBytes);
    VirtualFree(room, 0, MEM_RELEASE);
    void* data = VirtualAlloc(reinterpret_cast<void*>(static_cast<intptr_t>(place)),
                              static_cast<SIZE_T>(bytes), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (data != nullptr) return static_cast<std::byte*>(data);
    if (GetLastError() != ERROR_INVALID_ADDRESS) return nullptr;
  }
  return nullptr;
}

}  // namespace

int64_t page_bytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return static_cast<int64_t>(info.dwPageSize);
}

std::byte* map_huge_pages(int64_t bytes) noexcept { return map_aligned(bytes); }
std::byte* map_address_space(int64_t bytes) noexcept { return map_aligned(bytes); }

void unmap_huge_pages(std::byte* data, int64_t) noexcept {
  if (data != nullptr) VirtualFree(data, 0, MEM_RELEASE);
}

void discard_pages(std::byte* data, int64_t bytes) noexcept {
  const auto begin = static_cast<int64_t>(reinterpret_cast<intptr_t>(data));
  const int64_t page = page_bytes();
  const int64_t first = round_up(begin, page) - begin;
  const int64_t last = (begin + bytes) / page * page - begin;
  if (last <= first) return;
  const auto size = static_cast<SIZE_T>(last - first);
  VirtualAlloc(data + first, size, MEM_RESET,
               PAGE_READWRITE);  // they need not be kept, nor written to the page file
}

// An atomic OR with 0 is a write that leaves concurrent writes of other threads intact and is not optimized away.
Status prefault(std::byte* data, int64_t bytes) {
  if (bytes <= 0) return Status::ok();
  const int64_t page = page_bytes();
  for (int64_t at = 0; at < bytes; at += page) {
    std::atomic_ref(reinterpret_cast<unsigned char&>(data[at])).fetch_or(0, std::memory_order_relaxed);
  }
  std::atomic_ref(reinterpret_cast<unsigned char&>(data[bytes - 1])).fetch_or(0, std::memory_order_relaxed);
  return Status::ok();
}

ForkGuard::ForkGuard() : process_id_(::getpid()) {}
ForkGuard::~ForkGuard() = default;

}  // namespace dataline
