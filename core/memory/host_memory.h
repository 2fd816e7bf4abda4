// Memory of one dataset or loader: from the host's allocator table or our own pages, counted, and refused
// past a limit. Blocks keep their HostMemory alive.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/base/status.h"

namespace dataline {

// What a block is for; the host's allocator sees it. Values of DL_MEMORY_*.
enum class MemoryKind : int32_t {
  kMetadata = 0,  // descriptions, names, small tables
  kTable = 1,     // orders, indices, weights
  kArena = 2,     // the batch slots; 2 MiB aligned
  kData = 3,      // datasets held in memory; 2 MiB aligned
  kOverflow = 4,  // a batch beyond max_leases
  kFrames = 5,    // images being decoded: address space of which images touch what they need; 2 MiB aligned
};

// The host's table; all functions null means ours. `allocate` returns null when it cannot; alignment is a
// power of two.
struct AllocatorTable {
  void* context = nullptr;
  void* (*allocate)(void* context, size_t bytes, size_t alignment, int32_t kind) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes, int32_t kind) = nullptr;
};

class HostMemory;

// One owned allocation. data() is null, and the block false, when it was asked for 0 bytes or moved from.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept;
  ~Block() { reset(); }
  void reset() noexcept;
  void leak() noexcept { data_ = nullptr; }  // never given back, and counted for good
  // Of address space: counts `bytes` more of it as touched. False past the limit, and nothing is counted.
  bool count(int64_t bytes);

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  int64_t counted_bytes() const { return counted_.load(std::memory_order_relaxed); }  // a statistic
  explicit operator bool() const { return data_ != nullptr; }

 private:
  friend class HostMemory;
  std::shared_ptr<HostMemory> owner_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  std::atomic<int64_t> counted_{0};  // relaxed, as HostMemory's
  MemoryKind kind_ = MemoryKind::kMetadata;
};

class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  static std::shared_ptr<HostMemory> create(const AllocatorTable& table, int64_t limit_bytes = kNoLimit);

  // kNoMemory when the allocator refuses, kOverBudget past the limit (naming `what`, wanted, in use and
  // limit). Alignment: a power of two; kArena, kData and kFrames get 2 MiB at least, the other kinds may ask for 4096
  // at most. Our own blocks of those kinds are fresh pages (core/memory/pages.h): zeroed, MADV_HUGEPAGE
  // advised; others are as malloc leaves them. `bytes` may be 0. Counted are the bytes asked for, whatever
  // they are rounded to.
  Result<Block> allocate(int64_t bytes, int64_t alignment, MemoryKind kind, const char* what);
  // Address space, of kind kFrames: nothing is counted until Block::count() says that it was touched. kNoMemory.
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
  std::byte* obtain_from_host(int64_t bytes, int64_t alignment, MemoryKind kind);
  void release(std::byte* data, int64_t bytes, int64_t counted, MemoryKind kind) noexcept;

  AllocatorTable table_;
  int64_t limit_;
  std::atomic<int64_t> in_use_{0};  // relaxed: a count of its own, it publishes no memory
  std::atomic<int64_t> peak_{0};
};

}  // namespace dataline
