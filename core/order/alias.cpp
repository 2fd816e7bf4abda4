// Weighted draws with replacement: Walker's alias table, built once at create and used for every epoch.
//
// Column c of n equal columns belongs to sample c below `keep` and to `alias` above it. Slot s draws 64 bits; the high
// word of bits * n is the column, the low word the height in it. Probabilities are exact to about n * 2^-64 and the
// rounding of doubles; weight 0 is never drawn.
//
// The table is built in one sweep with two cursors: no work lists, no sorting, and the same on every machine (only IEEE
// operations, in a fixed order).
//
// Costs: create is O(n), 10 to 35 ns per weight; 16 bytes per sample for the loader's lifetime; a draw takes 3 ns, 10 ns
// when the table exceeds the cache (bench/micro/order_bench.cpp).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/random.h"
#include "core/order/orders.h"

namespace dataline {
namespace {

constexpr uint64_t kWhole = ~uint64_t{0};  // all heights but one of 2^64
constexpr int64_t kBlockDraws = 64;        // draws prefetched together: cache misses in flight

// share >= 0; saturates at a whole column.
uint64_t height(double share) { return share >= 1.0 ? kWhole : static_cast<uint64_t>(share * 0x1p64); }

// Weights scaled to a mean of 1. Divided by the largest first, so that no sum overflows.
class Shares {
 public:
  explicit Shares(std::span<const double> weights) : weights_(weights) {
    const auto at = std::max_element(weights.begin(), weights.end());
    largest_ = *at;
    largest_index_ = at - weights.begin();
    double sum = 0;
    for (int64_t i = 0; i < count(); ++i) sum += (*this)[i];
    factor_ = static_cast<double>(weights.size()) / sum;
  }
  double operator[](int64_t i) const {
    const double weight = weights_[static_cast<size_t>(i)];
    return can_be_drawn(weight) ? weight / largest_ * factor_ : 0.0;
  }
  int64_t count() const { return static_cast<int64_t>(weights_.size()); }
  int64_t largest_index() const { return largest_index_; }
  // The first i' >= i whose share is at most 1 (light) or above 1 (heavy).
  int64_t next_light(int64_t i) const { return next(i, false); }
  int64_t next_heavy(int64_t i) const { return next(i, true); }

 private:
  int64_t next(int64_t i, bool heavy) const {
    while (i < count() && ((*this)[i] > 1.0) != heavy) ++i;
    return i;
  }

  std::span<const double> weights_;
  double largest_ = 0;
  double factor_ = 1;
  int64_t largest_index_ = 0;
};

class AliasOrder final : public Order {
 public:
  AliasOrder(Block block, int64_t sample_count, int64_t samples_per_epoch, uint64_t seed)
      : block_(std::move(block)),
        sample_count_(sample_count),
        samples_per_epoch_(samples_per_epoch),
        seed_(seed) {}

  int64_t slots() const override { return samples_per_epoch_; }
  int64_t allocated_bytes() const override { return block_.bytes(); }
  bool samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    const uint64_t key = random_key(seed_, static_cast<uint64_t>(epoch), Domain::kWeighted);
    const auto* table = reinterpret_cast<const AliasColumn*>(block_.data());
    uint64_t heights[kBlockDraws];
    for (int64_t begin = 0; begin < count; begin += kBlockDraws) {
      const int64_t end = std::min(count, begin + kBlockDraws);
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t bits = random_bits(key, static_cast<uint64_t>(first + i));
        const u128 product = static_cast<u128>(bits) * static_cast<uint64_t>(sample_count_);
        out[i] = static_cast<int64_t>(product >> 64);
        heights[i - begin] = static_cast<uint64_t>(product);
        __builtin_prefetch(&table[out[i]]);
      }
      for (int64_t i = begin; i < end; ++i) {
        const AliasColumn& column = table[out[i]];
        out[i] = heights[i - begin] < column.keep ? out[i] : column.alias;
      }
    }
    return false;
  }

 private:
  Block block_;  // a column for each sample
  int64_t sample_count_;
  int64_t samples_per_epoch_;
  uint64_t seed_;
};

}  // namespace

// The heavy sample under the cursor fills light columns until what is left of it is light itself; its own column is then
// filled from the next heavy one. `rest` never falls below 0: before 1 is subtracted it is > 1, or a share > 1 is added.
void fill_alias_columns(std::span<const double> weights, AliasColumn* columns) {
  const Shares shares(weights);
  const int64_t count = shares.count();
  int64_t light = shares.next_light(0);
  int64_t heavy = shares.next_heavy(0);
  double rest = heavy < count ? shares[heavy] : 0;
  while (heavy < count) {
    if (rest > 1.0) {
      if (light == count) break;
      columns[light] = {height(shares[light]), heavy};
      rest = (rest + shares[light]) - 1.0;
      light = shares.next_light(light + 1);
    } else {
      const int64_t next = shares.next_heavy(heavy + 1);
      if (next == count) break;
      columns[heavy] = {height(rest), next};
      rest = (rest + shares[next]) - 1.0;
      heavy = next;
    }
  }
  // Rounding may leave heavy or light columns over. A light one keeps its own share, so that weight 0 stays 0, and gives
  // the rest to the largest sample.
  for (; heavy < count; heavy = shares.next_heavy(heavy + 1)) columns[heavy] = {kWhole, heavy};
  for (; light < count; light = shares.next_light(light + 1)) {
    columns[light] = {height(shares[light]), shares.largest_index()};
  }
}

Result<std::unique_ptr<const Order>> alias_order(std::span<const double> weights, int64_t samples_per_epoch,
                                                 uint64_t seed, HostMemory& memory) {
  const int64_t count = static_cast<int64_t>(weights.size());
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(count * static_cast<int64_t>(sizeof(AliasColumn)), 64,
                                                   MemoryKind::kTable, "the table of weights"));
  fill_alias_columns(weights, reinterpret_cast<AliasColumn*>(block.data()));
  return std::unique_ptr<const Order>(
      std::make_unique<AliasOrder>(std::move(block), count, samples_per_epoch, seed));
}

}  // namespace dataline
