// operator new that fails at a chosen allocation, once or for ever, and counts; and an allocator table that fails with
// it. Included by one source file of a program that links the library statically: its operator new is the library's too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "capi/dataline.h"

namespace dataline::tests {

// The n-th allocation fails, counted from arm(); `forever`: all after it too. Negative: none.
inline std::atomic<int64_t> countdown{-1};
inline std::atomic<bool> forever{false};
inline std::atomic<bool> counting{false};
inline std::atomic<int64_t> allocations{0};
inline std::atomic<int64_t> live_blocks{0};  // of operator new, whether counting or not

inline bool fails_now() {
  if (!counting.load()) return false;
  allocations.fetch_add(1);
  if (countdown.load() < 0) return false;
  if (countdown.load() == 0) {
    if (!forever.load()) countdown.store(-1);
    return true;
  }
  countdown.fetch_sub(1);
  return false;
}

inline void arm(int64_t fail_at, bool for_ever) {
  allocations.store(0);
  countdown.store(fail_at);
  forever.store(for_ever);
  counting.store(true);
}
inline void disarm() { counting.store(false); }

// A table that counts what is out, and fails with operator new.
struct CountingAllocator {
  std::atomic<int64_t> blocks{0};
  dl_allocator table() {
    dl_allocator allocator = {};
    allocator.struct_size = sizeof allocator;
    allocator.context = this;
    allocator.allocate = [](void* context, size_t bytes, size_t alignment, int32_t) -> void* {
      if (fails_now()) return nullptr;
      void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      if (memory != nullptr) static_cast<CountingAllocator*>(context)->blocks.fetch_add(1);
      return memory;
    };
    allocator.release = [](void* context, void* memory, size_t, size_t, int32_t) {
      static_cast<CountingAllocator*>(context)->blocks.fetch_sub(1);
      std::free(memory);
    };
    return allocator;
  }
};

}  // namespace dataline::tests

void* operator new(size_t bytes) {
  void* memory = dataline::tests::fails_now() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  dataline::tests::live_blocks.fetch_add(1);
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept {
  if (memory != nullptr) dataline::tests::live_blocks.fetch_sub(1);
  std::free(memory);
}
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, size_t) noexcept { operator delete(memory); }
