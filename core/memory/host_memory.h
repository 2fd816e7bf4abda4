// The memory of one dataset or loader, from the host's allocator or our own pages, counted against a limit. Blocks keep
// their HostMemory alive.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <utility>

#include "core/base/status.h"

namespace dataline {

// What a block is used for; passed to the host's allocator. Values of DL_MEMORY_*.
enum class MemoryKind : int32_t {
  kMetadata = 0,  // descriptions, names, small tables
  kTable = 1,     // orders, indices, weights
  kArena = 2,     // the batch slots; 2 MiB aligned
  kData = 3,      // datasets held in memory; 2 MiB aligned
  kOverflow = 4,  // a batch beyond max_leases
  kFrames = 5,    // images being decoded: reserved address space, touched as needed; 2 MiB aligned
};

// The host's allocator; null functions: ours. `allocate` returns null on failure; alignment is a power of two.
struct AllocatorTable {
  void* context = nullptr;
  void* (*allocate)(void* context, size_t bytes, size_t alignment, int32_t kind) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes, size_t alignment, int32_t kind) = nullptr;
  std::shared_ptr<const void> life = nullptr;  // of the context: the host is told when the last copy is gone
};

class HostMemory;

// An owned allocation. Null (and false) when of 0 bytes or moved from.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept;
  ~Block() { reset(); }
  void reset() noexcept;
  void leak() noexcept { data_ = nullptr; }  // never freed, and stays counted
  // For address space: counts `bytes` more as touched. False past the limit, then nothing is counted.
  bool count(int64_t bytes);

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  int64_t counted_bytes() const { return counted_.load(std::memory_order_relaxed); }  // a statistic
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class HostMemory;
  std::shared_ptr<HostMemory> owner_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0, alignment_ = 1;
  std::atomic<int64_t> counted_{0};  // relaxed, as HostMemory's
  MemoryKind kind_ = MemoryKind::kMetadata;
};

class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  static std::shared_ptr<HostMemory> create(const AllocatorTable& table, int64_t limit_bytes = kNoLimit);

  // kNoMemory when the allocator fails, kOverBudget past the limit (core/base/over_budget.h, about `what`). `alignment`
  // is a power of two; kArena, kData and kFrames get at least 2 MiB, the other kinds may ask for at most 4096. Our own
  // blocks of those three kinds are fresh pages (core/memory/pages.h), zeroed and advised MADV_HUGEPAGE; others are
  // uninitialized. `bytes` may be 0; counted are the bytes asked for, without rounding.
  Result<Block> allocate(int64_t bytes, int64_t alignment, MemoryKind kind, const char* what);
  // Address space of kind kFrames, counted only as Block::count() reports it touched. kNoMemory.
  Result<Block> allocate_address_space(int64_t bytes, const char* what);

  int64_t in_use_bytes() const { return in_use_.load(std::memory_order_relaxed); }  // a statistic
  int64_t peak_bytes() const { return peak_.load(std::memory_order_relaxed); }
  int64_t limit_bytes() const { return limit_; }
  const AllocatorTable& table() const { return table_; }

 private:
  friend class Block;
  friend class MetadataResource;
  HostMemory(const AllocatorTable& table, int64_t limit_bytes) : table_(table), limit_(limit_bytes) {}
  bool reserve(int64_t bytes);                                           // false past the limit; else counted
  std::byte* obtain(int64_t bytes, int64_t alignment, MemoryKind kind);  // null when refused; not counted
  // `counted` of the bytes are reserved; none: address space.
  Result<Block> make_block(int64_t bytes, int64_t alignment, int64_t counted, MemoryKind kind,
                           const char* what);
  void release(std::byte* data, int64_t bytes, int64_t alignment, MemoryKind kind) noexcept;  // not counted
  void release_to_host(void* data, int64_t bytes, int64_t alignment, MemoryKind kind) noexcept;

  AllocatorTable table_;
  int64_t limit_;
  std::atomic<int64_t> in_use_{0};  // relaxed: a counter that publishes no memory
  std::atomic<int64_t> peak_{0};
};

// A memory resource for std::pmr containers, so that long-lived tables are counted and come from the host's allocator.
// Keeps the HostMemory alive and must outlive its containers. Throws OverBudget (core/base/over_budget.h) past the limit, and
// std::bad_alloc when the allocator fails.
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
