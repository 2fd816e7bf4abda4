// SPDX-License-Identifier: Apache-2.0
#include "core/memory/host_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dataline::metadata_resource_test {
namespace {

TEST(MetadataResource, ContainersAreCountedInTheirHostMemory) {
  auto memory = HostMemory::create({});
  MetadataResource resource(memory);
  {
    std::pmr::vector<int64_t> table(&resource);
    table.assign(1000, 7);
    EXPECT_GE(memory->in_use_bytes(), 8000);
    std::pmr::string name("a name that is too long to lie inside of the string itself", &resource);
    EXPECT_GT(memory->in_use_bytes(), 8000);
  }
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(MetadataResource, PastTheLimitThrowsBadAllocAndKeepsTheContents) {
  auto memory = HostMemory::create({}, 10000);
  MetadataResource resource(memory);
  std::pmr::vector<int64_t> table(&resource);
  table.assign(500, 3);
  EXPECT_THROW(table.resize(5000), std::bad_alloc);
  EXPECT_EQ(table, std::pmr::vector<int64_t>(500, 3));
  EXPECT_EQ(memory->in_use_bytes(), 4000);
}

TEST(MetadataResource, AlignmentIsKeptAndMoreThanAPageIsRefused) {
  MetadataResource resource(HostMemory::create({}));
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void* data = resource.allocate(3, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    resource.deallocate(data, 3, alignment);
  }
  EXPECT_THROW(static_cast<void>(resource.allocate(3, 8192)), std::bad_alloc);
}

TEST(MetadataResource, ZeroBytesAreADistinctPointer) {
  auto memory = HostMemory::create({});
  MetadataResource resource(memory);
  void* first = resource.allocate(0);
  void* second = resource.allocate(0);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  resource.deallocate(first, 0);
  resource.deallocate(second, 0);
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(MetadataResource, HostAllocatorSeesTheKind) {
  int32_t seen = -1;
  AllocatorTable table{&seen,
                       [](void* context, size_t bytes, size_t alignment, int32_t kind) -> void* {
                         *static_cast<int32_t*>(context) = kind;
                         return std::aligned_alloc(alignment,
                                                   (bytes + alignment - 1) / alignment * alignment);
                       },
                       [](void*, void* memory, size_t, size_t, int32_t) { std::free(memory); }};
  MetadataResource resource(HostMemory::create(table), MemoryKind::kTable);
  std::pmr::vector<int64_t> table_of_ones(100, 1, &resource);
  EXPECT_EQ(seen, static_cast<int32_t>(MemoryKind::kTable));
}

}  // namespace
}  // namespace dataline::metadata_resource_test
