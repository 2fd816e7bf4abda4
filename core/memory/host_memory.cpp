// SPDX-License-Identifier: Apache-2.0
#include "core/memory/host_memory.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "core/base/checked.h"
#include "core/base/over_budget.h"
#include "core/memory/pages.h"

#ifdef DATALINE_HAS_MIMALLOC
#include <mimalloc.h>
#elif defined(_WIN32)
#include <malloc.h>
#else
#include <cstdlib>
#endif

namespace dataline {
namespace {

constexpr int64_t kMaxHeapAlignment = 4096;

// The heap for everything that is not in pages: mimalloc, called by its own names, where the build has it, else malloc.
// Null when there is no memory. `alignment` is a power of two up to kMaxHeapAlignment; `bytes` > 0.
std::byte* heap_allocate(int64_t bytes, int64_t alignment) noexcept {
  // Rounding up must not overflow; half of the address space is never available.
  if (bytes > std::numeric_limits<ptrdiff_t>::max() / 2) return nullptr;
#ifdef DATALINE_HAS_MIMALLOC
  return static_cast<std::byte*>(
      mi_malloc_aligned(static_cast<size_t>(bytes), static_cast<size_t>(alignment)));
#elif defined(_WIN32)
  return static_cast<std::byte*>(_aligned_malloc(static_cast<size_t>(bytes), static_cast<size_t>(alignment)));
#else
  // aligned_alloc requires at least a pointer's alignment and a size that is a multiple of it.
  const int64_t unit = std::max<int64_t>(alignment, static_cast<int64_t>(sizeof(void*)));
  return static_cast<std::byte*>(
      std::aligned_alloc(static_cast<size_t>(unit), static_cast<size_t>(round_up(bytes, unit))));
#endif
}

void heap_release(std::byte* data) noexcept {
#ifdef DATALINE_HAS_MIMALLOC
  mi_free(data);
#elif defined(_WIN32)
  _aligned_free(data);
#else
  std::free(data);
#endif
}

bool in_pages(MemoryKind kind) {
  return kind == MemoryKind::kArena || kind == MemoryKind::kData || kind == MemoryKind::kFrames;
}

}  // namespace

Block& Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  reset();
  owner_ = std::move(other.owner_);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  alignment_ = other.alignment_;
  counted_.store(other.counted_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  kind_ = other.kind_;
  return *this;
}

void Block::reset() noexcept {
  if (data_ != nullptr) {
    owner_->release(data_, bytes_, alignment_, kind_);
    owner_->in_use_.fetch_sub(counted_bytes(), std::memory_order_relaxed);
  }
  data_ = nullptr;
  bytes_ = 0;
  counted_.store(0, std::memory_order_relaxed);
  owner_.reset();
}

bool Block::count(int64_t bytes) {
  if (!owner_->reserve(bytes)) return false;
  counted_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

std::shared_ptr<HostMemory> HostMemory::create(const AllocatorTable& table, int64_t limit_bytes) {
  return std::shared_ptr<HostMemory>(new HostMemory(table, limit_bytes));
}

Result<Block> HostMemory::allocate(int64_t bytes, int64_t alignment, MemoryKind kind, const char* what) {
  if (in_pages(kind)) alignment = std::max(alignment, kHugePageBytes);
  int64_t max_alignment = in_pages(kind) ? kHugePageBytes : kMaxHeapAlignment;
  if (bytes < 0 || alignment < 1 || alignment > max_alignment ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    return error(Code::kInternal, what, ": ", bytes, " bytes aligned at ", alignment,
                 " is an invalid request");
  }
  if (!reserve(bytes)) {
    return OverBudget(bytes, in_use_bytes(), limit_).status(what);
  }
  return make_block(bytes, alignment, bytes, kind, what);
}

Result<Block> HostMemory::allocate_address_space(int64_t bytes, const char* what) {
  return make_block(bytes, kHugePageBytes, 0, MemoryKind::kFrames, what);
}

Result<Block> HostMemory::make_block(int64_t bytes, int64_t alignment, int64_t counted, MemoryKind kind,
                                     const char* what) {
  Block block;
  block.kind_ = kind;
  if (bytes == 0) return block;
  const bool from_host = table_.allocate != nullptr;
  std::byte* data = counted == 0 && !from_host ? map_address_space(bytes) : obtain(bytes, alignment, kind);
  if (data == nullptr) {
    in_use_.fetch_sub(counted, std::memory_order_relaxed);
    return error(Code::kNoMemory, what, ": the ", from_host ? "host's allocator" : "system", " refused ",
                 bytes, counted == 0 ? " bytes of address space" : " bytes", " aligned at ", alignment);
  }
  block.owner_ = shared_from_this();
  block.data_ = data;
  block.bytes_ = bytes;
  block.alignment_ = alignment;
  block.counted_.store(counted, std::memory_order_relaxed);
  return block;
}

bool HostMemory::reserve(int64_t bytes) {
  int64_t used = in_use_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) return false;
  } while (!in_use_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < used + bytes && !peak_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

std::byte* HostMemory::obtain(int64_t bytes, int64_t alignment, MemoryKind kind) {
  if (table_.allocate == nullptr)
    return in_pages(kind) ? map_huge_pages(bytes) : heap_allocate(bytes, alignment);
  void* memory = table_.allocate(table_.context, static_cast<size_t>(bytes), static_cast<size_t>(alignment),
                                 static_cast<int32_t>(kind));
  if ((reinterpret_cast<uintptr_t>(memory) & static_cast<uintptr_t>(alignment - 1)) == 0) {
    return static_cast<std::byte*>(memory);
  }
  // Misaligned memory would fault in a vector store much later: treated as a refusal.
  release_to_host(memory, bytes, alignment, kind);
  return nullptr;
}

void HostMemory::release_to_host(void* data, int64_t bytes, int64_t alignment, MemoryKind kind) noexcept {
  table_.release(table_.context, data, static_cast<size_t>(bytes), static_cast<size_t>(alignment),
                 static_cast<int32_t>(kind));
}

void HostMemory::release(std::byte* data, int64_t bytes, int64_t alignment, MemoryKind kind) noexcept {
  if (table_.allocate != nullptr) {
    release_to_host(data, bytes, alignment, kind);
  } else if (in_pages(kind)) {
    unmap_huge_pages(data, bytes);
  } else {
    heap_release(data);
  }
}

void* MetadataResource::do_allocate(size_t bytes, size_t alignment) {
  // Containers may ask for 0 bytes and expect a pointer of their own.
  std::optional<int64_t> wanted = to_i64(std::max<size_t>(bytes, 1));
  if (!wanted || alignment > static_cast<size_t>(kMaxHeapAlignment)) throw std::bad_alloc();
  if (!memory_->reserve(*wanted)) throw OverBudget(*wanted, memory_->in_use_bytes(), memory_->limit_bytes());
  std::byte* data = memory_->obtain(*wanted, static_cast<int64_t>(alignment), kind_);
  if (data == nullptr) {
    memory_->in_use_.fetch_sub(*wanted, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  return data;
}

void MetadataResource::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  const auto taken = static_cast<int64_t>(std::max<size_t>(bytes, 1));
  memory_->release(static_cast<std::byte*>(memory), taken, static_cast<int64_t>(alignment), kind_);
  memory_->in_use_.fetch_sub(taken, std::memory_order_relaxed);
}

}  // namespace dataline
