// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/shard_index.h"

#include <limits>
#include <optional>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kMaxExactInDouble = int64_t{1} << 53;
constexpr int64_t kFewShards = 256;

// The count of every shard but the last; 0 if they differ.
int64_t common_count(std::span<const int64_t> counts) {
  for (size_t i = 1; i + 1 < counts.size(); ++i) {
    if (counts[i] != counts[0]) return 0;
  }
  return counts[0];
}

}  // namespace

Result<ShardIndex> ShardIndex::create(std::span<const int64_t> counts) {
  if (counts.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return error(Code::kTooLarge, counts.size(), " parts, at most 2147483647");
  }
  ShardIndex index;
  index.starts_.reserve(counts.size() + 1);
  index.starts_.push_back(0);
  for (int64_t count : counts) {
    std::optional<int64_t> next = checked_add(index.starts_.back(), count);
    if (!next) return error(Code::kTooLarge, "more than 2^63 - 1 samples in all parts together");
    index.starts_.push_back(*next);
  }
  index.last_ = index.shard_count() - 1;
  if (index.total() < kMaxExactInDouble) index.equal_ = common_count(counts);
  if (index.equal_ > 0) {
    index.reciprocal_ = 1.0 / static_cast<double>(index.equal_);
  } else {
    index.build_cells();
  }
  return index;
}

void ShardIndex::build_cells() {
  // With many cells per shard most cells are within one shard and need no search, but the table should fit the L1 cache.
  const int64_t cells_per_shard = shard_count() <= kFewShards ? 16 : 2;
  while ((total() >> cell_shift_) > cells_per_shard * shard_count()) ++cell_shift_;
  size_t cell_count = static_cast<size_t>(total() >> cell_shift_) + 2;
  cells_.resize(cell_count);
  int64_t shard = 0;
  for (size_t cell = 0; cell < cell_count; ++cell) {
    int64_t first = static_cast<int64_t>(cell) << cell_shift_;
    while (shard < last_ && end(shard) <= first) ++shard;
    cells_[cell] = static_cast<int32_t>(shard);
  }
}

}  // namespace dataline
