// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/bare.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace bench {

namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

constexpr int64_t kOrderSlack = 64;  // entries that loops may read past the end of an order

// Always inlined: GCC drops calls of a function that only prefetches. Into L2, because L1 supports few outstanding
// misses.
[[gnu::always_inline]] inline void prefetch_row(const std::byte* row, int64_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(row) & ~uintptr_t{63};
  const auto end = reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(bytes);
  for (uintptr_t line = first; line < end; line += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
  }
}

}  // namespace

HugeBuffer::HugeBuffer(int64_t bytes) : bytes_((bytes + kHugePage - 1) / kHugePage * kHugePage) {
  data_ = static_cast<std::byte*>(std::aligned_alloc(kHugePage, static_cast<size_t>(bytes_)));
  if (data_ == nullptr) fail("no memory for " + std::to_string(bytes_) + " bytes of slots");
  ::madvise(data_, static_cast<size_t>(bytes_), MADV_HUGEPAGE);
  std::memset(data_, 0, static_cast<size_t>(bytes_));
}

HugeBuffer::~HugeBuffer() { std::free(data_); }

BareGather::BareGather(GatherWork work, int threads) : work_(std::move(work)), threads_(threads) {
  batches_ = static_cast<int64_t>(work_.order.size()) / work_.batch_size;
  work_.order.resize(work_.order.size() + kOrderSlack, work_.order[0]);
  const int64_t own_slots = std::max<int64_t>(1, work_.slot_count / threads_);
  for (int thread = 0; thread < threads_; ++thread) {
    slots_.push_back(std::make_unique<HugeBuffer>(own_slots * work_.batch_size * work_.row_bytes));
  }
  // The best of three short runs each: noise only ever makes a loop slower.
  const auto loops = dataline::cli::gather_loops(static_cast<size_t>(work_.row_bytes));
  std::vector<double> best(loops.size());
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (size_t i = 0; i < loops.size(); ++i) {
      loop_ = loops[i];
      const Throughput done = run(0.01);
      best[i] = std::max(best[i], static_cast<double>(done.rows) / static_cast<double>(done.elapsed_ns));
    }
  }
  const auto chosen = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
  loop_ = loops[chosen];
  loop_name_ = "loop " + std::to_string(chosen + 1) + " of " + std::to_string(loops.size());
}

Throughput BareGather::run_thread(int thread, int64_t deadline_ns) const {
  Throughput done;
  const int64_t own_slots = std::max<int64_t>(1, work_.slot_count / threads_);
  const int64_t slot_bytes = work_.batch_size * work_.row_bytes;
  std::byte* slots = slots_[static_cast<size_t>(thread)]->data();
  int64_t batch = thread % batches_;
  for (int64_t slot = 0; now_ns() < deadline_ns; slot = (slot + 1) % own_slots) {
    loop_(work_.base, static_cast<size_t>(work_.stride_bytes), 0, static_cast<size_t>(work_.row_bytes),
          work_.order.data() + batch * work_.batch_size, static_cast<size_t>(work_.batch_size),
          slots + slot * slot_bytes);
    ++done.batches;
    batch = (batch + threads_) % batches_;
  }
  done.rows = done.batches * work_.batch_size;
  done.bytes = done.rows * work_.row_bytes;
  return done;
}

Throughput BareGather::run(double seconds) const {
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  std::vector<Throughput> parts(static_cast<size_t>(threads_));
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads_; ++thread) {
    others.emplace_back([this, thread, deadline, &parts] {
      parts[static_cast<size_t>(thread)] = run_thread(thread, deadline);
    });
  }
  parts[0] = run_thread(0, deadline);
  for (std::thread& other : others) other.join();
  Throughput done;
  for (const Throughput& part : parts) {
    done.batches += part.batches;
    done.rows += part.rows;
    done.bytes += part.bytes;
  }
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

Throughput bare_memcpy(const std::byte* from, int64_t bytes, int64_t slot_bytes, int64_t slot_count,
                       double seconds) {
  const HugeBuffer slots(slot_bytes * slot_count);
  const int64_t pieces = std::max<int64_t>(1, bytes / slot_bytes);
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  constexpr int64_t kLeastBytes = int64_t{64} << 20;
  Throughput done;
  int64_t piece = 0;
  int64_t slot = 0;
  while (done.bytes < kLeastBytes || now_ns() < deadline) {
    std::memcpy(slots.data() + slot * slot_bytes, from + piece * slot_bytes, static_cast<size_t>(slot_bytes));
    done.bytes += slot_bytes;
    ++done.batches;
    piece = piece + 1 == pieces ? 0 : piece + 1;
    slot = slot + 1 == slot_count ? 0 : slot + 1;
  }
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

BareNormalize::BareNormalize(GatherWork work, float scale, float bias)
    : work_(std::move(work)),
      scale_(scale),
      bias_(bias),
      slots_(work_.slot_count * work_.batch_size * work_.row_bytes * 4) {
  work_.order.resize(work_.order.size() + kOrderSlack, work_.order[0]);
}

namespace {

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
void normalize_row(const uint8_t* from, int64_t count, float scale, float bias, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]) * scale + bias;
}

}  // namespace

Throughput BareNormalize::run(double seconds) const {
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  const int64_t batches = (static_cast<int64_t>(work_.order.size()) - kOrderSlack) / work_.batch_size;
  const int64_t slot_values = work_.batch_size * work_.row_bytes;
  auto* slots = reinterpret_cast<float*>(slots_.data());
  constexpr int64_t kAhead = 16;
  Throughput done;
  for (; now_ns() < deadline; ++done.batches) {
    const uint32_t* order = work_.order.data() + done.batches % batches * work_.batch_size;
    float* target = slots + done.batches % work_.slot_count * slot_values;
    for (int64_t i = 0; i < work_.batch_size; ++i, target += work_.row_bytes) {
      prefetch_row(work_.base + int64_t{order[i + kAhead]} * work_.stride_bytes, work_.row_bytes);
      normalize_row(reinterpret_cast<const uint8_t*>(work_.base) + int64_t{order[i]} * work_.stride_bytes,
                    work_.row_bytes, scale_, bias_, target);
    }
  }
  done.rows = done.batches * work_.batch_size;
  done.bytes = done.rows * work_.row_bytes * 4;
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

std::vector<uint32_t> shuffled_order(int64_t count) {
  std::vector<uint32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0u);
  uint64_t state = 88172645463325252u;
  for (size_t i = order.size(); i > 1; --i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

}  // namespace bench
