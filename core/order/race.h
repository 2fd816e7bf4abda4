// Weighted draws without replacement: an exponential race (Efraimidis and Spirakis 2006). Sample i finishes at time
// E_i / w_i, E_i exponentially distributed; the order of finishing is distributed as successive weighted draws. Weight 0
// never finishes.
//
// The epoch's table is built in steps of constant cost: a key for each sample, packed above its index into one word, then
// a radix sort of the keys, 11 bits per pass. So advance_table() does exactly the steps asked for.
// Costs: 16 bytes per sample of weight > 0 (two buffers) and 64 KiB for each open epoch; 35 to 45 ns per sample to build,
// for the key and four moves (bench/micro/order_bench.cpp). Resuming needs the epoch's whole table.
//
// Keys have 44 bits (fewer above 2^20 samples): 12 of exponent, at least 12 of fraction up to 2^40 samples. Equal keys are
// ordered by index, which changes the odds of one pair by less than one part in 2^fraction. Only IEEE operations in a
// fixed order and no libm: the same order on every machine.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/order/order.h"

namespace dataline {

// -log(1 - U) for the uniform U in (0, 1) given by the bits, with full relative precision at both ends.
double exponential_draw(uint64_t bits);

// A word that compares as time / weight does, without overflow or underflow, for time > 0 and every weight that can be
// drawn.
uint64_t race_key(double time, double weight);

class RaceOrder final : public Order {
 public:
  // `weights` is borrowed, checked by Order::create(), and must not change; `finishers` of them can be drawn, at least
  // samples_per_epoch.
  RaceOrder(std::span<const double> weights, int64_t finishers, int64_t samples_per_epoch, uint64_t seed);

  int64_t slots() const override { return samples_per_epoch_; }
  int64_t table_bytes() const override;
  int64_t table_steps() const override { return sample_count() + kPasses * finishers_; }
  void begin_table(EpochTable& table, int64_t epoch) const override;
  void advance_table(EpochTable& table, int64_t steps) const override;
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;

 private:
  static constexpr int64_t kPasses = 4;  // even, so that the sorted entries are back in the first buffer
  static constexpr int kDigitBits = 11;
  static constexpr int64_t kDigits = int64_t{1} << kDigitBits;
  static constexpr int kMaxKeyBits = kPasses * kDigitBits;

  struct Layout;  // the table's memory: counts, then two buffers of entries

  int64_t sample_count() const { return static_cast<int64_t>(weights_.size()); }
  static int64_t digit(uint64_t key, int64_t pass) {
    return static_cast<int64_t>(key >> (pass * kDigitBits)) & (kDigits - 1);
  }
  void make_keys(const Layout& layout, uint64_t key, int64_t begin, int64_t end) const;
  void move_entries(const Layout& layout, int64_t pass, int64_t begin, int64_t end) const;

  std::span<const double> weights_;
  int64_t finishers_;
  int64_t samples_per_epoch_;
  uint64_t seed_;
  int index_bits_;
  int key_bits_;
};

}  // namespace dataline
