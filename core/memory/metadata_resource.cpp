// SPDX-License-Identifier: Apache-2.0
#include "core/memory/metadata_resource.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/checked.h"
#include "core/memory/heap.h"

namespace dataline {

void* MetadataResource::do_allocate(size_t bytes, size_t alignment) {
  // Containers may ask for 0 bytes and then want a pointer of their own.
  std::optional<int64_t> wanted = to_i64(std::max<size_t>(bytes, 1));
  if (!wanted || alignment > static_cast<size_t>(kMostHeapAlignment) || !memory_->reserve(*wanted)) {
    throw std::bad_alloc();
  }
  std::byte* data = memory_->obtain(*wanted, static_cast<int64_t>(alignment), kind_);
  if (data == nullptr) {
    memory_->in_use_.fetch_sub(*wanted, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  return data;
}

void MetadataResource::do_deallocate(void* memory, size_t bytes, size_t) {
  const auto taken = static_cast<int64_t>(std::max<size_t>(bytes, 1));
  memory_->release(static_cast<std::byte*>(memory), taken, taken, kind_);
}

}  // namespace dataline
