// Builds the alias table in one sweep with two cursors: no work lists, no sorting, and the same on every machine (only
// IEEE operations, in a fixed order).
// SPDX-License-Identifier: Apache-2.0
#include "core/order/alias.h"

#include <algorithm>

#include "core/base/random.h"

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

// The heavy sample under the cursor fills light columns until what is left of it is light itself; its own column is then
// filled from the next heavy one. `rest` never falls below 0: before 1 is subtracted it is > 1, or a share > 1 is added.
void fill_columns(const Shares& shares, AliasOrder::Column* columns) {
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

}  // namespace

Result<std::unique_ptr<const Order>> AliasOrder::create(std::span<const double> weights,
                                                        int64_t samples_per_epoch, uint64_t seed,
                                                        HostMemory& memory) {
  const int64_t count = static_cast<int64_t>(weights.size());
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(count * static_cast<int64_t>(sizeof(Column)), 64,
                                                   MemoryKind::kTable, "the table of weights"));
  std::unique_ptr<AliasOrder> order(new AliasOrder(std::move(block), count, samples_per_epoch, seed));
  fill_columns(Shares(weights), reinterpret_cast<Column*>(order->block_.data()));
  return std::unique_ptr<const Order>(std::move(order));
}

bool AliasOrder::samples(int64_t epoch, const EpochTable*, int64_t first, int64_t count, int64_t* out) const {
  __extension__ typedef unsigned __int128 u128;
  const uint64_t key = random_key(seed_, static_cast<uint64_t>(epoch), Domain::kWeighted);
  const Column* table = columns().data();
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
      const Column& column = table[out[i]];
      out[i] = heights[i - begin] < column.keep ? out[i] : column.alias;
    }
  }
  return false;
}

}  // namespace dataline
