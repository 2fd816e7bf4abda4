// Lets standard containers (std::pmr::vector, std::pmr::string) keep their elements in a HostMemory, so that
// long-lived tables are counted and come from the host's allocator.
// Threads: as HostMemory, internally synchronized.
// Lifetime: keeps the HostMemory alive; must itself outlive the containers that use it.
// Failure: throws std::bad_alloc, as containers expect, when the memory is refused or past the limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <memory_resource>

#include "core/memory/host_memory.h"

namespace dataline {

class MetadataResource final : public std::pmr::memory_resource {
 public:
  explicit MetadataResource(std::shared_ptr<HostMemory> memory, MemoryKind kind = MemoryKind::kMetadata)
      : memory_(std::move(memory)), kind_(kind) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::shared_ptr<HostMemory> memory_;
  MemoryKind kind_;
};

}  // namespace dataline
