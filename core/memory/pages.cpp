// SPDX-License-Identifier: Apache-2.0
#include "core/memory/pages.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <limits>

#include "core/base/checked.h"

#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23  // Linux 5.14, absent from older C libraries
#endif

namespace dataline {
namespace {

// What a request of `bytes` maps.
int64_t mapped_bytes(int64_t bytes) {
  int64_t last = bytes & (kHugePageBytes - 1);
  return round_up(bytes, last >= kHugePageBytes / 2 ? kHugePageBytes : page_bytes());
}

std::byte* map_anonymous(int64_t bytes, int flags) {
  void* data = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

void unmap(std::byte* data, int64_t bytes) noexcept {
  if (bytes > 0) ::munmap(data, static_cast<size_t>(bytes));
}

// Maps mapped_bytes(bytes), aligned to kHugePageBytes; null when refused.
std::byte* map_aligned(int64_t bytes, int flags) {
  constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 2;
  if (bytes <= 0 || bytes > kMaxBytes) return nullptr;
  // Maps one huge page more, then unmaps the unaligned ends.
  const int64_t wanted = mapped_bytes(bytes);
  std::byte* raw = map_anonymous(wanted + kHugePageBytes, flags);
  if (raw == nullptr) return nullptr;
  const auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(raw));
  const int64_t before = round_up(address, kHugePageBytes) - address;
  std::byte* data = raw + before;
  unmap(raw, before);
  unmap(data + wanted, kHugePageBytes - before);
  return data;
}

// For systems without MADV_POPULATE_WRITE. An atomic OR with 0 is a write that leaves concurrent writes of other threads
// intact and is not optimized away.
void touch(std::byte* data, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += page_bytes()) {
    std::atomic_ref(reinterpret_cast<unsigned char&>(data[at])).fetch_or(0, std::memory_order_relaxed);
  }
  std::atomic_ref(reinterpret_cast<unsigned char&>(data[bytes - 1])).fetch_or(0, std::memory_order_relaxed);
}

}  // namespace

int64_t page_bytes() { return static_cast<int64_t>(::sysconf(_SC_PAGESIZE)); }

std::byte* map_huge_pages(int64_t bytes) noexcept {
  std::byte* data = map_aligned(bytes, 0);
#ifdef MADV_HUGEPAGE
  // A hint; fails harmlessly where transparent huge pages are off.
  if (data != nullptr) ::madvise(data, static_cast<size_t>(mapped_bytes(bytes)), MADV_HUGEPAGE);
#endif
  return data;
}

std::byte* map_address_space(int64_t bytes) noexcept {
  std::byte* data = map_aligned(bytes, MAP_NORESERVE);
#ifdef MADV_NOHUGEPAGE
  // Otherwise, with transparent huge pages set to always, one touched byte would take 2 MiB.
  if (data != nullptr) ::madvise(data, static_cast<size_t>(mapped_bytes(bytes)), MADV_NOHUGEPAGE);
#endif
  return data;
}

void discard_pages(std::byte* data, int64_t bytes) noexcept {
  const auto begin = static_cast<int64_t>(reinterpret_cast<intptr_t>(data));
  const int64_t first = round_up(begin, page_bytes()) - begin;
  const int64_t last = (begin + bytes) / page_bytes() * page_bytes() - begin;
  if (last > first) ::madvise(data + first, static_cast<size_t>(last - first), MADV_DONTNEED);
}

void unmap_huge_pages(std::byte* data, int64_t bytes) noexcept { unmap(data, mapped_bytes(bytes)); }

Status prefault(std::byte* data, int64_t bytes) {
  if (bytes <= 0) return Status::ok();
#ifdef MADV_POPULATE_WRITE
  auto address = reinterpret_cast<uintptr_t>(data);
  uintptr_t into_page = address & static_cast<uintptr_t>(page_bytes() - 1);
  int64_t span = round_up(bytes + static_cast<int64_t>(into_page), page_bytes());
  int result;
  do {
    result = ::madvise(data - into_page, static_cast<size_t>(span), MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return Status::ok();
  // Only these mean out of memory (madvise(2)); EINVAL is a kernel before 5.14, EPERM and ENOSYS a sandbox.
  if (errno == ENOMEM || errno == EFAULT || errno == EHWPOISON) {
    return error(Code::kNoMemory, "prefault: the system provided fewer than ", bytes, " bytes")
        .with_os_error(errno);
  }
#endif
  touch(data, bytes);
  return Status::ok();
}

ForkGuard::ForkGuard() : process_id_(::getpid()) {
#if defined(MADV_WIPEONFORK)
  const int64_t bytes = page_bytes();
  std::byte* page = map_anonymous(bytes, 0);
  if (page == nullptr) return;
  if (::madvise(page, static_cast<size_t>(bytes), MADV_WIPEONFORK) != 0) {
    unmap(page, bytes);
    return;
  }
  page_ = reinterpret_cast<uint32_t*>(page);
  *page_ = 1;
#endif
}

ForkGuard::~ForkGuard() {
  if (page_ != nullptr) unmap(reinterpret_cast<std::byte*>(page_), page_bytes());
}

}  // namespace dataline
