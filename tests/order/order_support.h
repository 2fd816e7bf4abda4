// Makes orders and whole epochs for the tests of core/order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/simd.h"
#include "core/memory/host_memory.h"
#include "core/order/order.h"

namespace dataline {

// Sanitized and unoptimized builds look for errors in the code, not in the numbers: they do less of the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

inline OrderSpec order_spec(int64_t sample_count, Shuffle shuffle = Shuffle::kFull, uint64_t seed = 0) {
  OrderSpec spec;
  spec.sample_count = sample_count;
  spec.shuffle = shuffle;
  spec.seed = seed;
  spec.memory = HostMemory::create(AllocatorTable{});
  return spec;
}

inline std::unique_ptr<const Order> make_order(const OrderSpec& spec) {
  Result<std::unique_ptr<const Order>> order = Order::create(spec);
  if (!order.is_ok()) {
    ADD_FAILURE() << order.status().message();
    return nullptr;
  }
  return order.take();
}

// An epoch's table in memory of its own. `slice`: steps of one advance_table().
class TestTable {
 public:
  explicit TestTable(const Order& order) : lines_(static_cast<size_t>((order.table_bytes() + 63) / 64)) {
    table_.memory = lines_.empty() ? nullptr : lines_[0].bytes;
  }
  void build(const Order& order, int64_t epoch, int64_t slice = INT64_MAX) {
    order.begin_table(table_, epoch);
    while (table_.done < order.table_steps()) order.advance_table(table_, slice);
  }
  EpochTable& get() { return table_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  EpochTable table_;
};

inline std::vector<int64_t> slots_of(const Order& order, int64_t epoch, int64_t first, int64_t count) {
  TestTable table(order);
  table.build(order, epoch);
  std::vector<int64_t> out(static_cast<size_t>(count));
  order.samples(epoch, &table.get(), first, count, out.data());
  return out;
}

inline std::vector<int64_t> whole_epoch(const Order& order, int64_t epoch) {
  return slots_of(order, epoch, 0, order.slots());
}

// Every target that runs on this machine, the plain one first.
inline std::vector<SimdTarget> runnable_targets() {
  const SimdTarget best = best_simd_target();
  if (best == SimdTarget::kNeon) return {SimdTarget::kPlain, SimdTarget::kNeon};
  std::vector<SimdTarget> targets;
  for (int32_t i = 0; i <= static_cast<int32_t>(best); ++i) targets.push_back(static_cast<SimdTarget>(i));
  return targets;
}

// Whether the values are 0 .. n - 1, each once.
inline bool is_permutation(std::span<const int64_t> values) {
  std::vector<bool> seen(values.size());
  for (const int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(values.size())) return false;
    if (seen[static_cast<size_t>(value)]) return false;
    seen[static_cast<size_t>(value)] = true;
  }
  return true;
}

// How far a chi-square statistic lies from its mean, in standard deviations (good for 30 cells and more).
// The tests below use fixed seeds: a bound of 5 cannot fail now and then, only for ever.
class ChiSquare {
 public:
  void add(double observed, double expected) {
    sum_ += (observed - expected) * (observed - expected) / expected;
    ++cells_;
  }
  double deviations() const {
    const double freedom = static_cast<double>(cells_ - 1);
    return (sum_ - freedom) / std::sqrt(2 * freedom);
  }

 private:
  double sum_ = 0;
  int64_t cells_ = 0;
};

constexpr double kFarDeviations = 5;

}  // namespace dataline
