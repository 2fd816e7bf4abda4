// SPDX-License-Identifier: Apache-2.0
#include "core/memory/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/memory/temp_files.h"

namespace dataline::host_memory_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr MemoryKind kAllKinds[] = {MemoryKind::kMetadata, MemoryKind::kTable,    MemoryKind::kArena,
                                    MemoryKind::kData,     MemoryKind::kOverflow, MemoryKind::kFrames};

bool aligned(const std::byte* data, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) == 0;
}

// A host that writes down what it is asked, and refuses or misplaces on demand.
struct Host {
  struct Call {
    void* memory;
    size_t bytes;
    int32_t kind;
    bool operator==(const Call&) const = default;
  };
  std::vector<Call> allocated;
  std::vector<Call> released;
  size_t alignment = 0;
  bool refuse = false;
  size_t misplace = 0;

  AllocatorTable table() {
    return {this,
            [](void* context, size_t bytes, size_t unit, int32_t kind) -> void* {
              auto& host = *static_cast<Host*>(context);
              host.alignment = unit;
              if (host.refuse) return nullptr;
              size_t rounded = (bytes + 2 * unit - 1) / unit * unit;
              void* memory = static_cast<char*>(std::aligned_alloc(unit, rounded)) + host.misplace;
              host.allocated.push_back({memory, bytes, kind});
              return memory;
            },
            [](void* context, void* memory, size_t bytes, size_t, int32_t kind) {
              auto& host = *static_cast<Host*>(context);
              host.released.push_back({memory, bytes, kind});
              std::free(static_cast<char*>(memory) - host.misplace);
            }};
  }
};

TEST(HostMemory, BlocksAreCountedUntilTheyAreGone) {
  auto memory = HostMemory::create({});
  {
    Block first = memory->allocate(100, 8, MemoryKind::kTable, "first").take();
    Block second = memory->allocate(23, 8, MemoryKind::kArena, "second").take();
    EXPECT_EQ(memory->in_use_bytes(), 123);
    first.reset();
    EXPECT_EQ(memory->in_use_bytes(), 23);
  }
  EXPECT_EQ(memory->in_use_bytes(), 0);
  EXPECT_EQ(memory->peak_bytes(), 123);
}

TEST(HostMemory, PastTheLimitNamesWhatWantedInUseAndLimit) {
  auto memory = HostMemory::create({}, 1000);
  Block held = memory->allocate(600, 1, MemoryKind::kTable, "held").take();
  Result<Block> refused = memory->allocate(401, 1, MemoryKind::kArena, "arena");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOverBudget);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("arena"), HasSubstr("401"), HasSubstr("600"), HasSubstr("1000")));
  EXPECT_EQ(memory->in_use_bytes(), 600);
  EXPECT_TRUE(memory->allocate(400, 1, MemoryKind::kArena, "arena").is_ok())
      << "the limit itself can be reached";
}

TEST(HostMemory, LimitHoldsWhenThreadsCompete) {
  constexpr int64_t kLimit = 64 * 1000;
  auto memory = HostMemory::create({}, kLimit);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      std::vector<Block> held;
      for (int i = 0; i < 200; ++i) {
        Result<Block> block = memory->allocate(1000, 64, MemoryKind::kMetadata, "piece");
        EXPECT_LE(memory->in_use_bytes(), kLimit);
        block.is_ok() ? held.push_back(block.take()) : void(++refused);
        if (held.size() > 16) held.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory->in_use_bytes(), 0);
  EXPECT_LE(memory->peak_bytes(), kLimit);
}

TEST(HostMemory, EveryKindIsAlignedAndWritable) {
  auto memory = HostMemory::create({});
  for (MemoryKind kind : kAllKinds) {
    for (int64_t alignment : {1, 2, 64, 256, 4096}) {
      for (int64_t bytes : {1, 63, 4096, 100000}) {
        Block block = memory->allocate(bytes, alignment, kind, "block").take();
        EXPECT_TRUE(aligned(block.data(), alignment));
        EXPECT_EQ(block.bytes(), bytes);
        std::fill_n(block.data(), bytes, std::byte{0xdd});
      }
    }
  }
}

TEST(HostMemory, ArenaAndDataStartAtTwoMebibytesAndAreZero) {
  auto memory = HostMemory::create({});
  for (MemoryKind kind : {MemoryKind::kArena, MemoryKind::kData, MemoryKind::kFrames}) {
    for (int64_t bytes : {int64_t{1}, int64_t{5000}, int64_t{3} << 20, (int64_t{4} << 20) - 1}) {
      Block block = memory->allocate(bytes, 64, kind, "block").take();
      EXPECT_TRUE(aligned(block.data(), 2 << 20));
      EXPECT_TRUE(
          std::all_of(block.data(), block.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST(HostMemory, AddressSpaceIsCountedAsItIsTouchedUpToTheLimit) {
  auto memory = HostMemory::create({}, 10'000);
  Block block = memory->allocate_address_space(int64_t{1} << 35, "rows").take();
  EXPECT_TRUE(aligned(block.data(), 2 << 20));
  EXPECT_EQ(memory->in_use_bytes(), 0);
  EXPECT_TRUE(block.count(4096));
  EXPECT_TRUE(block.count(5904));
  EXPECT_FALSE(block.count(1)) << "nothing is left of the limit";
  EXPECT_EQ(block.counted_bytes(), 10'000);
  EXPECT_EQ(memory->in_use_bytes(), 10'000);
  Block moved = std::move(block);
  EXPECT_EQ(moved.counted_bytes(), 10'000);
  EXPECT_EQ(memory->in_use_bytes(), 10'000);
  moved.reset();
  EXPECT_EQ(memory->in_use_bytes(), 0);
  EXPECT_FALSE(memory->allocate_address_space(0, "rows").take());
}

TEST(HostMemory, HostTableServesEveryKindWithItsAlignment) {
  Host host;
  auto memory = HostMemory::create(host.table());
  for (MemoryKind kind : kAllKinds) {
    Block block = memory->allocate(777, 128, kind, "block").take();
    bool pages = kind == MemoryKind::kArena || kind == MemoryKind::kData || kind == MemoryKind::kFrames;
    EXPECT_EQ(host.alignment, pages ? size_t{2} << 20 : size_t{128});
    EXPECT_EQ(host.allocated.back(), (Host::Call{block.data(), 777, static_cast<int32_t>(kind)}));
  }
  EXPECT_EQ(host.allocated, host.released) << "memory, bytes and kind come back as they were given";
}

TEST(HostMemory, HostThatRefusesIsNoMemoryAndNothingIsCounted) {
  Host host;
  auto memory = HostMemory::create(host.table());
  host.refuse = true;
  Result<Block> block = memory->allocate(10, 8, MemoryKind::kTable, "weights");
  ASSERT_FALSE(block.is_ok());
  EXPECT_EQ(block.status().code(), Code::kNoMemory);
  EXPECT_THAT(block.status().message(),
              AllOf(HasSubstr("weights"), HasSubstr("host"), HasSubstr("10 bytes")));
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(HostMemory, MisalignedHostMemoryIsGivenBackAndRefused) {
  Host host;
  host.misplace = 8;
  auto memory = HostMemory::create(host.table());
  Result<Block> block = memory->allocate(100, 64, MemoryKind::kTable, "table");
  ASSERT_FALSE(block.is_ok());
  EXPECT_EQ(block.status().code(), Code::kNoMemory);
  EXPECT_EQ(host.allocated, host.released);
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(HostMemory, WhatTheMachineDoesNotHaveIsNoMemory) {
  auto memory = HostMemory::create({});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (MemoryKind kind : kAllKinds) {
    if (kSanitized && kind != MemoryKind::kArena && kind != MemoryKind::kData && kind != MemoryKind::kFrames)
      continue;  // their malloc aborts
    for (int64_t bytes : {int64_t{1} << 60, kMost - 4096, kMost}) {
      Result<Block> block = memory->allocate(bytes, 64, kind, "block");
      ASSERT_FALSE(block.is_ok());
      EXPECT_EQ(block.status().code(), Code::kNoMemory);
      EXPECT_EQ(memory->in_use_bytes(), 0);
    }
  }
}

TEST(HostMemory, ZeroBytesIsAnEmptyBlockAndAsksNobody) {
  Host host;
  auto memory = HostMemory::create(host.table(), 0);
  Result<Block> block = memory->allocate(0, 64, MemoryKind::kData, "empty file");
  ASSERT_TRUE(block.is_ok());
  EXPECT_FALSE(block.value());
  EXPECT_EQ(block.value().bytes(), 0);
  EXPECT_TRUE(host.allocated.empty());
}

TEST(HostMemory, ImpossibleRequestsAreADefectOfTheCaller) {
  auto memory = HostMemory::create({});
  for (auto [bytes, alignment] : {std::pair<int64_t, int64_t>{-1, 8}, {8, 0}, {8, 3}, {8, 8192}, {8, -8}}) {
    Result<Block> block = memory->allocate(bytes, alignment, MemoryKind::kTable, "table");
    ASSERT_FALSE(block.is_ok());
    EXPECT_EQ(block.status().code(), Code::kInternal);
  }
}

TEST(HostMemory, BlockKeepsItsMemoryAlive) {
  Host host;
  Block block;
  {
    auto memory = HostMemory::create(host.table());
    block = memory->allocate(10, 8, MemoryKind::kOverflow, "block").take();
  }
  std::fill_n(block.data(), 10, std::byte{1});
  block.reset();
  EXPECT_EQ(host.allocated, host.released);
}

TEST(HostMemory, MovingABlockReleasesWhatTheTargetHeldOnce) {
  Host host;
  auto memory = HostMemory::create(host.table());
  Block first = memory->allocate(10, 8, MemoryKind::kTable, "first").take();
  Block second = memory->allocate(20, 8, MemoryKind::kTable, "second").take();
  std::byte* kept = second.data();
  first = std::move(second);
  EXPECT_EQ(host.released.size(), 1u);
  EXPECT_EQ(first.data(), kept);
  EXPECT_EQ(first.bytes(), 20);
  Block& same = first;
  first = std::move(same);
  EXPECT_EQ(first.data(), kept) << "a move to itself changes nothing";
  EXPECT_EQ(memory->in_use_bytes(), 20);
}

}  // namespace
}  // namespace dataline::host_memory_test
