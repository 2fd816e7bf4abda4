// Global index -> shard, against counting through the shards one by one.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/shard_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

#include "tests/source/source_support.h"

namespace dataline::shard_index_test {
namespace {

int64_t shard_by_counting(const std::vector<int64_t>& counts, int64_t index) {
  for (size_t shard = 0; shard < counts.size(); ++shard) {
    if (index < counts[shard]) return static_cast<int64_t>(shard);
    index -= counts[shard];
  }
  return -1;
}

RC_GTEST_PROP(ShardIndex, FindsTheShardThatCountingFinds, ()) {
  auto counts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::oneOf(
      rc::gen::inRange<int64_t>(0, 4), rc::gen::inRange<int64_t>(0, 300), rc::gen::just<int64_t>(7))));
  Result<ShardIndex> index = ShardIndex::create(counts);
  RC_ASSERT(index.is_ok());
  for (int64_t i = 0; i < index.value().total(); ++i) {
    int64_t shard = index.value().shard_of(i);
    RC_ASSERT(shard == shard_by_counting(counts, i));
    RC_ASSERT(index.value().start(shard) <= i);
    RC_ASSERT(i < index.value().end(shard));
  }
}

RC_GTEST_PROP(ShardIndex, EqualShardsWithAnyLastOne, ()) {
  auto count = *rc::gen::inRange<int64_t>(1, 50);
  auto shards = *rc::gen::inRange<size_t>(1, 20);
  std::vector<int64_t> counts(shards, count);
  counts.back() = *rc::gen::inRange<int64_t>(0, 120);
  Result<ShardIndex> index = ShardIndex::create(counts);
  RC_ASSERT(index.is_ok());
  for (int64_t i = 0; i < index.value().total(); ++i) {
    RC_ASSERT(index.value().shard_of(i) == shard_by_counting(counts, i));
  }
}

// Borders are where a quotient in floating point could be off by one.
TEST(ShardIndex, BordersOfHugeEqualShardsAreExact) {
  constexpr int64_t kMostInDouble = (int64_t{1} << 53) - 1;
  for (int64_t count : {int64_t{3}, int64_t{7}, int64_t{999'999'937}, int64_t{1} << 40, kMostInDouble / 3}) {
    auto shards = static_cast<size_t>(std::min<int64_t>(kMostInDouble / count, 10'000));
    ShardIndex index = ShardIndex::create(std::vector<int64_t>(shards, count)).take();
    for (int64_t shard = 0; shard < index.shard_count(); ++shard) {
      ASSERT_EQ(index.shard_of(shard * count), shard) << count;
      ASSERT_EQ(index.shard_of(shard * count + count - 1), shard) << count;
    }
  }
}

TEST(ShardIndex, TotalsAboveWhatADoubleHoldsStillWork) {
  constexpr int64_t kCount = (int64_t{1} << 60) - 1;
  ShardIndex index = ShardIndex::create(std::vector<int64_t>(7, kCount)).take();
  for (int64_t shard = 0; shard < 7; ++shard) {
    EXPECT_EQ(index.shard_of(shard * kCount), shard);
    EXPECT_EQ(index.shard_of(shard * kCount + kCount - 1), shard);
  }
}

TEST(ShardIndex, ATotalAbove63BitsIsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  expect_error(ShardIndex::create(std::vector<int64_t>{kMost, 1}), Code::kTooLarge, {"2^63"});
  EXPECT_EQ(ShardIndex::create(std::vector<int64_t>{kMost, 0}).value().shard_of(kMost - 1), 0);
}

TEST(ShardIndex, ShardsOfVeryUnequalSizesAreFound) {
  std::vector<int64_t> counts(50'000, 1);
  counts[25'000] = 1'000'000'000'000;
  ShardIndex index = ShardIndex::create(counts).take();
  EXPECT_EQ(index.shard_of(24'999), 24'999);
  EXPECT_EQ(index.shard_of(25'000), 25'000);
  EXPECT_EQ(index.shard_of(25'000 + 999'999'999'999), 25'000);
  EXPECT_EQ(index.shard_of(25'000 + 1'000'000'000'000), 25'001);
  EXPECT_EQ(index.shard_of(index.total() - 1), 49'999);
}

}  // namespace
}  // namespace dataline::shard_index_test
