// malloc, calloc, realloc and free of the whole process: they count the bytes that are out while armed, and fail at a
// chosen call, once or for ever, as glibc's do (null, errno is ENOMEM). What libjpeg, libspng, zlib and libwebp take is
// seen only so. Included by one source file of a program.
//
// Under sanitizers, which have a malloc of their own, nothing is replaced: kMallocIsOurs says so, and tests skip.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace dataline::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
inline constexpr bool kMallocIsOurs = false;
#else
inline constexpr bool kMallocIsOurs = true;
#endif

// Since arm_malloc(), of the thread that called it: calls, and the most bytes that were asked for and out at once.
struct MallocCounters {
  struct Block {
    void* memory;
    size_t bytes;
  };
  bool armed = false, for_ever = false;
  int64_t calls = 0, live_bytes = 0, peak_bytes = 0, fail_at = -1;
  int64_t spared_bytes = 0;  // a malloc of just so many never fails
  int32_t count = 0;
  Block blocks[4096];  // that are out: allocators round up what they hand out, each in its own way
};
inline thread_local MallocCounters mallocs;

inline void arm_malloc(int64_t fail_at, bool for_ever) {
  mallocs.calls = mallocs.live_bytes = mallocs.peak_bytes = 0;
  mallocs.count = 0;
  mallocs.fail_at = fail_at;
  mallocs.for_ever = for_ever;
  mallocs.armed = true;
}
inline void disarm_malloc() { mallocs.armed = false; }

inline bool malloc_fails_now(size_t bytes) {
  if (!mallocs.armed || static_cast<int64_t>(bytes) == mallocs.spared_bytes) return false;
  const int64_t call = mallocs.calls++, fail_at = mallocs.fail_at;
  if (fail_at < 0 || call < fail_at || (call > fail_at && !mallocs.for_ever)) return false;
  errno = ENOMEM;
  return true;
}
inline void* count_taken(void* memory, size_t bytes) {
  if (!mallocs.armed || memory == nullptr) return memory;
  if (mallocs.count == static_cast<int32_t>(std::size(mallocs.blocks))) std::abort();
  mallocs.blocks[mallocs.count++] = {memory, bytes};
  mallocs.live_bytes += static_cast<int64_t>(bytes);
  mallocs.peak_bytes = std::max(mallocs.peak_bytes, mallocs.live_bytes);
  return memory;
}
inline void count_given(void* memory) {
  if (!mallocs.armed || memory == nullptr) return;
  for (int32_t i = mallocs.count - 1; i >= 0; --i) {
    if (mallocs.blocks[i].memory != memory) continue;
    mallocs.live_bytes -= static_cast<int64_t>(mallocs.blocks[i].bytes);
    mallocs.blocks[i] = mallocs.blocks[--mallocs.count];
    return;
  }
}

}  // namespace dataline::tests

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)

namespace hook = dataline::tests;

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);

void* malloc(size_t bytes) {
  return hook::malloc_fails_now(bytes) ? nullptr : hook::count_taken(__libc_malloc(bytes), bytes);
}
void* calloc(size_t count, size_t bytes) {
  return hook::malloc_fails_now(count * bytes)
             ? nullptr
             : hook::count_taken(__libc_calloc(count, bytes), count * bytes);
}
void* realloc(void* memory, size_t bytes) {
  if (hook::malloc_fails_now(bytes)) return nullptr;
  hook::count_given(memory);
  return hook::count_taken(__libc_realloc(memory, bytes), bytes);
}
void free(void* memory) {
  hook::count_given(memory);
  __libc_free(memory);
}
}

#endif
