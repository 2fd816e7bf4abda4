// Full shuffle of fewer than 65,536 samples: an exact Fisher-Yates shuffle, every permutation equally likely given random
// words. The epoch's order is a table of 2-byte entries.
//
// Step i swaps entry i with entry i + below(n - i), after which slot i is final. It uses 32 random bits: half i % 2 of
// word i / 2 of splitmix64, keyed by seed, epoch and n. The bounded draw is Lemire's unbiased multiply and reject; attempt
// k > 0 of step i draws random_bits(key, i, k).
//
// Costs: 2 bytes per sample and open epoch, 1 ns per slot in the background, 0.15 ns to read one.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/order/order.h"

namespace dataline {

constexpr int64_t kFisherYatesEnd = 65536;  // from here on: the Feistel bijection, without a table

// Writes words first, first + 1, ... of splitmix64 from `key`: mix64(key + (i + 1) * kGolden64).
using WordsFunction = void (*)(uint64_t key, int64_t first, int64_t count, uint64_t* out);
WordsFunction words_function(SimdTarget target);

class FisherYatesOrder final : public Order {
 public:
  // sample_count in [2, kFisherYatesEnd). `target` must run on this machine; tests choose it.
  FisherYatesOrder(int64_t sample_count, uint64_t seed, SimdTarget target)
      : sample_count_(sample_count), seed_(seed), words_(words_function(target)) {}

  int64_t slots() const override { return sample_count_; }
  int64_t table_bytes() const override { return round_up(2 * sample_count_, 64); }
  int64_t table_steps() const override { return sample_count_ - 1; }  // the last entry needs no swap
  void begin_table(EpochTable& table, int64_t epoch) const override;
  void advance_table(EpochTable& table, int64_t steps) const override;
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;

 private:
  int64_t sample_count_;
  uint64_t seed_;
  WordsFunction words_;
};

}  // namespace dataline
