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
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/random.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
constexpr double kOneLessSqrtHalf = 0x1.2bec333018866p-2;  // 1 - 1/sqrt(2)
constexpr int kFractionBits = 52;
constexpr int kExponentBias = 1023;
constexpr uint64_t kFractionMask = (uint64_t{1} << kFractionBits) - 1;

// 2 atanh(s) = log((1 + s) / (1 - s)) for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1) = 0.172: the series up to s^23, the next
// term is below half an ulp.
double twice_atanh(double s) {
  const double square = s * s;
  double sum = 0;
  for (int power = 23; power >= 3; power -= 2) sum = sum * square + 1.0 / power;
  return 2.0 * (s + s * (sum * square));
}

struct Parts {
  double fraction;  // [1, 2)
  int64_t exponent;
};

// value > 0, finite, not denormal.
Parts parts_of(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t one = static_cast<uint64_t>(kExponentBias) << kFractionBits;
  return {std::bit_cast<double>((bits & kFractionMask) | one),
          static_cast<int64_t>(bits >> kFractionBits) - kExponentBias};
}

constexpr int64_t kPasses = 4;  // even, so that the sorted entries are back in the first buffer
constexpr int kDigitBits = 11;
constexpr int64_t kDigits = int64_t{1} << kDigitBits;
constexpr int kMaxKeyBits = kPasses * kDigitBits;

int64_t digit(uint64_t key, int64_t pass) {
  return static_cast<int64_t>(key >> (pass * kDigitBits)) & (kDigits - 1);
}

// A table's memory: counts, then two buffers of entries.
struct Layout {
  explicit Layout(std::byte* memory, int64_t finishers)
      : filled(reinterpret_cast<int64_t*>(memory)),
        counts(reinterpret_cast<int64_t*>(memory + kHeaderBytes)),
        first(reinterpret_cast<uint64_t*>(memory + kHeaderBytes + kCountBytes)),
        second(first + finishers) {}

  int64_t* counts_of(int64_t pass) const { return counts + pass * kDigits; }

  static constexpr int64_t kHeaderBytes = 64;
  static constexpr int64_t kCountBytes = kPasses * kDigits * static_cast<int64_t>(sizeof(int64_t));

  int64_t* filled;  // number of entries so far
  int64_t* counts;  // of each digit, for each pass; output positions once the pass has begun
  uint64_t* first;
  uint64_t* second;
};

class RaceOrder final : public Order {
 public:
  RaceOrder(std::span<const double> weights, int64_t finishers, int64_t samples_per_epoch, uint64_t seed)
      : weights_(weights), finishers_(finishers), samples_per_epoch_(samples_per_epoch), seed_(seed) {
    index_bits_ = std::max(1, static_cast<int>(std::bit_width(weights.size() - 1)));
    key_bits_ = std::min(kMaxKeyBits, 64 - index_bits_);
  }

  int64_t slots() const override { return samples_per_epoch_; }
  int64_t table_bytes() const override {
    const int64_t entries = 2 * finishers_ * static_cast<int64_t>(sizeof(uint64_t));
    return Layout::kHeaderBytes + Layout::kCountBytes + entries;
  }
  int64_t table_steps() const override { return sample_count() + kPasses * finishers_; }
  void begin_table(EpochTable& table, int64_t epoch) const override {
    std::memset(table.memory, 0, Layout::kHeaderBytes + Layout::kCountBytes);
    Order::begin_table(table, epoch);
  }
  void advance_table(EpochTable& table, int64_t steps) const override {
    const uint64_t key = random_key(seed_, static_cast<uint64_t>(table.epoch), Domain::kWeighted);
    const Layout layout(table.memory, finishers_);
    const int64_t end = table.done + std::clamp<int64_t>(steps, 0, table_steps() - table.done);
    if (table.done < sample_count()) {
      const int64_t stop = std::min(end, sample_count());
      make_keys(layout, key, table.done, stop);
      table.done = stop;
    }
    while (table.done < end) {
      const int64_t pass = (table.done - sample_count()) / finishers_;
      const int64_t begin_of_pass = sample_count() + pass * finishers_;
      const int64_t stop = std::min(end, begin_of_pass + finishers_);
      move_entries(layout, pass, table.done - begin_of_pass, stop - begin_of_pass);
      table.done = stop;
    }
  }
  bool samples(int64_t, const EpochTable* table, int64_t first, int64_t count, int64_t* out) const override {
    const Layout layout(table->memory, finishers_);
    const uint64_t index_mask = (uint64_t{1} << index_bits_) - 1;
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(layout.first[first + i] & index_mask);
    return false;
  }

 private:
  int64_t sample_count() const { return static_cast<int64_t>(weights_.size()); }
  void make_keys(const Layout& layout, uint64_t key, int64_t begin, int64_t end) const {
    int64_t filled = *layout.filled;
    for (int64_t i = begin; i < end; ++i) {
      const double weight = weights_[static_cast<size_t>(i)];
      if (!can_be_drawn(weight)) continue;
      const double time = exponential_draw(random_bits(key, static_cast<uint64_t>(i)));
      const uint64_t bits = race_key(time, weight) >> (64 - key_bits_);
      layout.first[filled++] = (bits << index_bits_) | static_cast<uint64_t>(i);
      for (int64_t pass = 0; pass < kPasses; ++pass) ++layout.counts_of(pass)[digit(bits, pass)];
    }
    *layout.filled = filled;
  }
  void move_entries(const Layout& layout, int64_t pass, int64_t begin, int64_t end) const {
    int64_t* positions = layout.counts_of(pass);
    if (begin == 0) {
      int64_t position = 0;
      for (int64_t digit = 0; digit < kDigits; ++digit) {
        const int64_t count = positions[digit];
        positions[digit] = position;
        position += count;
      }
    }
    const uint64_t* from = pass % 2 == 0 ? layout.first : layout.second;
    uint64_t* to = pass % 2 == 0 ? layout.second : layout.first;
    for (int64_t i = begin; i < end; ++i) to[positions[digit(from[i] >> index_bits_, pass)]++] = from[i];
  }

  std::span<const double> weights_;
  int64_t finishers_;
  int64_t samples_per_epoch_;
  uint64_t seed_;
  int index_bits_;
  int key_bits_;
};

}  // namespace

double exponential_draw(uint64_t bits) {
  const uint64_t odd = bits | 1;  // U = odd / 2^64 is never 0 nor 1
  double complement;              // 1 - U, below 1/sqrt(2)
  if (odd < uint64_t{1} << 63) {
    const double u = static_cast<double>(odd) * 0x1p-64;
    if (u < kOneLessSqrtHalf) return twice_atanh(u / (2.0 - u));
    complement = 1.0 - u;
  } else {
    complement = static_cast<double>(uint64_t{0} - odd) * 0x1p-64;
  }
  Parts parts = parts_of(complement);
  if (parts.fraction > kSqrt2) {
    parts.fraction *= 0.5;
    ++parts.exponent;
  }
  const double s = (1.0 - parts.fraction) / (1.0 + parts.fraction);
  return static_cast<double>(-parts.exponent) * kLn2 + twice_atanh(s);
}

uint64_t race_key(double time, double weight) {
  // Exponents differ by less than 1,100 either way (time: 2^-64 to 2^6, weight: 2^-1022 to 2^1023).
  constexpr int64_t kShift = 1100;
  const Parts t = parts_of(time);
  const Parts w = parts_of(weight);
  const uint64_t quotient = std::bit_cast<uint64_t>(t.fraction / w.fraction);  // of (1/2, 2)
  return quotient + (static_cast<uint64_t>(t.exponent - w.exponent + kShift) << kFractionBits);
}

std::unique_ptr<const Order> race_order(std::span<const double> weights, int64_t finishers,
                                        int64_t samples_per_epoch, uint64_t seed) {
  return std::make_unique<RaceOrder>(weights, finishers, samples_per_epoch, seed);
}

}  // namespace dataline
