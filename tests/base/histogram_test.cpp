// SPDX-License-Identifier: Apache-2.0
#include "core/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/random.h"

namespace dataline::histogram_test {
namespace {

TEST(HistogramBins, EachDurationIsInTheBinWhoseLimitsHoldIt) {
  std::vector<int64_t> durations = {0,  1,  7,  8,  9,     15,          16,
                                    17, 18, 31, 32, 1'000, 123'456'789, int64_t{1} << 42};
  for (int shift = 3; shift < 43; ++shift) {
    for (const int64_t off : {-1, 0, 1}) durations.push_back((int64_t{1} << shift) + off);
  }
  for (const int64_t ns : durations) {
    const size_t bin = histogram_bin(ns);
    if (bin + 1 == kHistogramBins) continue;  // holds all that is longer
    EXPECT_LE(ns, histogram_limit(bin)) << ns;
    if (bin > 0) {
      EXPECT_GT(ns, histogram_limit(bin - 1)) << ns;
    }
    EXPECT_LE(histogram_limit(bin), ns + ns / 8) << "at most an eighth too long";
  }
}

TEST(HistogramBins, WhatCannotBeIsPutAtTheEnds) {
  EXPECT_EQ(histogram_bin(-5), 0u);
  EXPECT_EQ(histogram_bin(std::numeric_limits<int64_t>::max()), kHistogramBins - 1);
}

TEST(Histogram, QuantilesAreThoseOfTheSortedDurationsUpToAnEighth) {
  Histogram histogram;
  std::vector<int64_t> durations;
  for (uint64_t i = 0; i < 10'000; ++i) {
    durations.push_back(static_cast<int64_t>(random_key(i, 1, Domain::kAugment) % 5'000'000));
    histogram.add(durations.back());
  }
  std::sort(durations.begin(), durations.end());
  HistogramSum sum;
  histogram.add_to(sum);
  EXPECT_EQ(sum.count, 10'000);
  EXPECT_EQ(sum.max_ns, durations.back());
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const int64_t exact = durations[static_cast<size_t>(share * 10'000) - 1];
    EXPECT_GE(sum.quantile(share), exact) << share;
    EXPECT_LE(sum.quantile(share), exact + exact / 8) << share;
  }
}

TEST(Histogram, OfNothingSaysZero) {
  const HistogramSum sum;
  EXPECT_EQ(sum.quantile(0.5), 0);
}

TEST(Histogram, SeveralAddUp) {
  Histogram first, second;
  first.add(100);
  second.add(300);
  second.add(500);
  HistogramSum sum;
  first.add_to(sum);
  second.add_to(sum);
  EXPECT_EQ(sum.count, 3);
  EXPECT_EQ(sum.sum_ns, 900);
  EXPECT_EQ(sum.max_ns, 500);
  EXPECT_EQ(sum.quantile(0), sum.quantile(0.2)) << "the least";
}

}  // namespace
}  // namespace dataline::histogram_test
