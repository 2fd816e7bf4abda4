// Exponential draws, keys, and the incremental radix sort.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/race.h"

#include <algorithm>
#include <cstring>

#include "core/base/random.h"

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

struct RaceOrder::Layout {
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

RaceOrder::RaceOrder(std::span<const double> weights, int64_t finishers, int64_t samples_per_epoch,
                     uint64_t seed)
    : weights_(weights), finishers_(finishers), samples_per_epoch_(samples_per_epoch), seed_(seed) {
  index_bits_ = std::max(1, static_cast<int>(std::bit_width(weights.size() - 1)));
  key_bits_ = std::min(kMaxKeyBits, 64 - index_bits_);
}

int64_t RaceOrder::table_bytes() const {
  const int64_t entries = 2 * finishers_ * static_cast<int64_t>(sizeof(uint64_t));
  return Layout::kHeaderBytes + Layout::kCountBytes + entries;
}

void RaceOrder::begin_table(EpochTable& table, int64_t epoch) const {
  std::memset(table.memory, 0, Layout::kHeaderBytes + Layout::kCountBytes);
  table.epoch = epoch;
  table.done = 0;
}

void RaceOrder::make_keys(const Layout& layout, uint64_t key, int64_t begin, int64_t end) const {
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

void RaceOrder::move_entries(const Layout& layout, int64_t pass, int64_t begin, int64_t end) const {
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

void RaceOrder::advance_table(EpochTable& table, int64_t steps) const {
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

bool RaceOrder::samples(int64_t, const EpochTable* table, int64_t first, int64_t count, int64_t* out) const {
  const Layout layout(table->memory, finishers_);
  const uint64_t index_mask = (uint64_t{1} << index_bits_) - 1;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(layout.first[first + i] & index_mask);
  return false;
}

}  // namespace dataline
