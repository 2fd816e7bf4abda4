// SPDX-License-Identifier: Apache-2.0
#include "core/memory/heap.h"

#include <algorithm>
#include <limits>

#include "core/base/checked.h"

#ifdef DATALINE_HAS_MIMALLOC
#include <mimalloc.h>
#else
#include <cstdlib>
#endif

namespace dataline {

std::byte* heap_allocate(int64_t bytes, int64_t alignment) noexcept {
  // Rounding up must not overflow; half of the address space is never available.
  if (bytes > std::numeric_limits<ptrdiff_t>::max() / 2) return nullptr;
#ifdef DATALINE_HAS_MIMALLOC
  return static_cast<std::byte*>(
      mi_malloc_aligned(static_cast<size_t>(bytes), static_cast<size_t>(alignment)));
#else
  // aligned_alloc requires at least a pointer's alignment and a size that is a multiple of it.
  int64_t unit = std::max<int64_t>(alignment, static_cast<int64_t>(sizeof(void*)));
  return static_cast<std::byte*>(
      std::aligned_alloc(static_cast<size_t>(unit), static_cast<size_t>(round_up(bytes, unit))));
#endif
}

void heap_release(std::byte* data) noexcept {
#ifdef DATALINE_HAS_MIMALLOC
  mi_free(data);
#else
  std::free(data);
#endif
}

}  // namespace dataline
