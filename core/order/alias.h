// Weighted draws with replacement: Walker's alias table, built once at create and used for every epoch.
//
// Column c of n equal columns belongs to sample c below `keep` and to `alias` above it. Slot s draws 64 bits; the high
// word of bits * n is the column, the low word the height in it. Probabilities are exact to about n * 2^-64 and the
// rounding of doubles; weight 0 is never drawn.
//
// Costs: create is O(n), 10 to 35 ns per weight; 16 bytes per sample for the loader's lifetime; a draw takes 3 ns, 10 ns
// when the table exceeds the cache (bench/micro/order_bench.cpp).
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/memory/host_memory.h"
#include "core/order/order.h"

namespace dataline {

class AliasOrder final : public Order {
 public:
  struct Column {
    uint64_t keep;  // below this height: the column's own sample
    int64_t alias;
  };

  // The weights are finite, >= 0 and at least one is > 0 (Order::create() checked); they are not kept.
  static Result<std::unique_ptr<const Order>> create(std::span<const double> weights,
                                                     int64_t samples_per_epoch, uint64_t seed,
                                                     HostMemory& memory);

  int64_t slots() const override { return samples_per_epoch_; }
  int64_t held_bytes() const override { return block_.bytes(); }
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;

  // For tests, which sum up the share of each sample.
  std::span<const Column> columns() const {
    return {reinterpret_cast<const Column*>(block_.data()), static_cast<size_t>(sample_count_)};
  }

 private:
  AliasOrder(Block block, int64_t sample_count, int64_t samples_per_epoch, uint64_t seed)
      : block_(std::move(block)),
        sample_count_(sample_count),
        samples_per_epoch_(samples_per_epoch),
        seed_(seed) {}

  Block block_;
  int64_t sample_count_;
  int64_t samples_per_epoch_;
  uint64_t seed_;
};

}  // namespace dataline
