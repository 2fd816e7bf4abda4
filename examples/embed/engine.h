// What a game engine brings along: a heap with a budget, a log, a frame clock. Stand-ins for the host's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

// A heap that knows who uses it and refuses what is beyond its budget. Dataline calls it from its threads
// too.
class EngineHeap {
 public:
  explicit EngineHeap(int64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  // The heap must outlive what is made with the table.
  dl_allocator table() {
    dl_allocator table = {};
    table.struct_size = sizeof table;
    table.context = this;
    table.allocate = [](void* context, size_t bytes, size_t alignment, int32_t) -> void* {
      return static_cast<EngineHeap*>(context)->allocate(bytes, alignment);
    };
    table.release = [](void* context, void* memory, size_t bytes, size_t, int32_t) {
      static_cast<EngineHeap*>(context)->release(memory, bytes);
    };
    return table;
  }

  int64_t used_bytes() const { return used_bytes_.load(); }
  int64_t peak_bytes() const { return peak_bytes_.load(); }
  int64_t allocations() const { return allocations_.load(); }

 private:
  void* allocate(size_t bytes, size_t alignment) {
    const int64_t used = used_bytes_.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
    void* memory = nullptr;
    if (alignment < sizeof(void*)) alignment = sizeof(void*);
    if (used > budget_bytes_ || posix_memalign(&memory, alignment, bytes) != 0) {
      used_bytes_.fetch_sub(static_cast<int64_t>(bytes));
      return nullptr;  // dl_* then returns DL_ERR_NO_MEMORY
    }
    allocations_.fetch_add(1);
    int64_t peak = peak_bytes_.load();
    while (used > peak && !peak_bytes_.compare_exchange_weak(peak, used)) {
    }
    return memory;
  }

  void release(void* memory, size_t bytes) {
    std::free(memory);
    used_bytes_.fetch_sub(static_cast<int64_t>(bytes));
  }

  const int64_t budget_bytes_;
  std::atomic<int64_t> used_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
  std::atomic<int64_t> allocations_{0};
};

// Remarks go where the engine's own do; here to stderr, one line each.
inline dl_log engine_log() {
  dl_log table = {};
  table.struct_size = sizeof table;
  table.write = [](void*, int32_t level, const char* message, size_t length) {
    static constexpr const char* kLevels[] = {"progress", "info", "warning"};
    const char* name = level >= 0 && level <= DL_LOG_WARNING ? kLevels[level] : "remark";
    std::fprintf(stderr, "[dataline %s] %.*s\n", name, static_cast<int>(length), message);
  };
  return table;
}

// Frames begin at fixed times; one that took too long does not delay those after it.
class FrameClock {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FrameClock(int frames_per_second)
      : period_(std::chrono::nanoseconds(1000000000 / frames_per_second)), next_(Clock::now()) {}

  void wait_for_next_frame() {
    next_ += period_;
    std::this_thread::sleep_until(next_);
  }

 private:
  Clock::duration period_;
  Clock::time_point next_;
};
