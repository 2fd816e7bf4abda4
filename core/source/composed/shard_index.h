// Maps a global index to (shard, index in the shard), for 10^5 shards and more.
//
// Threads: immutable.
// Cost: one multiplication if all shards but the last have the same length; otherwise a lookup in a small table and a search
// among the few shards that share a cell. 8 to 72 bytes per shard.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"

namespace dataline {

class ShardIndex {
 public:
  // kTooLarge when the sum of counts does not fit. Counts are >= 0; there is at least one.
  static Result<ShardIndex> create(std::span<const int64_t> counts);

  int64_t total() const { return starts_.back(); }
  int64_t shard_count() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::span<const int64_t> starts() const { return starts_; }  // of each shard, and the total
  int64_t start(int64_t shard) const { return starts_[static_cast<size_t>(shard)]; }
  int64_t end(int64_t shard) const { return starts_[static_cast<size_t>(shard) + 1]; }

  // 0 <= index < total().
  int64_t shard_of(int64_t index) const { return equal_ > 0 ? by_division(index) : by_table(index); }

 private:
  // Both numbers are below 2^53, so the f64 quotient is off by at most one.
  int64_t by_division(int64_t index) const {
    auto shard = static_cast<int64_t>(static_cast<double>(index) * reciprocal_);
    int64_t rest = index - shard * equal_;
    shard += static_cast<int64_t>(rest >= equal_) - static_cast<int64_t>(rest < 0);
    return shard < last_ ? shard : last_;
  }

  // The last shard that starts at or before the index is between those of the cell's ends.
  int64_t by_table(int64_t index) const {
    auto cell = static_cast<size_t>(index >> cell_shift_);
    int64_t low = cells_[cell], high = cells_[cell + 1];
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      if (start(middle) <= index) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  void build_cells();

  std::vector<int64_t> starts_;  // [shards + 1], the last is total()
  int64_t equal_ = 0;            // > 0: the count of every shard but the last
  int64_t last_ = 0;             // the last shard
  double reciprocal_ = 0;
  std::vector<int32_t> cells_;  // per cell of 2^cell_shift_ indices: the shard of its first index
  int32_t cell_shift_ = 0;
};

}  // namespace dataline
