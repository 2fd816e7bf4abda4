// The order of a mix: exact shares, each sample of a part once a pass, random access, stages, homogeneous steps, repeats.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tests/order/mix_support.h"

namespace dataline::mix_test {
namespace {

constexpr int64_t kPeriod = int64_t{1} << kMixSlotBits;

uint64_t reversed(uint64_t value, int32_t bits) {
  uint64_t out = 0;
  for (int32_t bit = 0; bit < bits; ++bit) out |= (value >> bit & 1) << (bits - 1 - bit);
  return out;
}

std::vector<int64_t> part_counts(const TestMix& mix, const std::vector<int64_t>& samples) {
  std::vector<int64_t> counts(mix.counts.size());
  for (const int64_t sample : samples) ++counts[static_cast<size_t>(mix.name(sample).first)];
  return counts;
}

TEST(MixShares, AddUpAndFollowTheWeights) {
  for (const std::vector<double>& weights : std::vector<std::vector<double>>{
           {1}, {0.7, 0.3}, {1, 1, 1}, {0, 5, 0}, {1e-300, 1e300}, {3e-308, 3e-308}}) {
    std::vector<uint64_t> ends(weights.size());
    mix_shares(weights, ends);
    EXPECT_EQ(ends.back(), uint64_t{1} << kMixShareBits);
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    const double largest = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (const double weight : weights) total += weight / largest;
    for (size_t k = 0; k < weights.size(); ++k) {
      const double share =
          static_cast<double>(ends[k] - (k == 0 ? 0 : ends[k - 1])) / std::ldexp(1.0, kMixShareBits);
      EXPECT_NEAR(share, weights[k] / largest / total, 1e-15);
    }
  }
}

TEST(MixCarries, AreCountedAsTheyFall) {
  for (const int32_t bits : {3, 5}) {
    const uint64_t cycle = uint64_t{1} << bits;
    for (uint64_t fraction = 0; fraction < cycle; ++fraction) {
      uint64_t expected = 0;
      for (uint64_t period = 0; period < 3 * cycle; ++period) {
        ASSERT_EQ(mix_carries(period, fraction, bits), expected) << bits << " " << fraction << " " << period;
        expected += reversed(period % cycle, bits) + fraction >= cycle ? 1 : 0;
      }
    }
  }
}

TEST(MixWeights, EveryPeriodHasEachPartsExactShareRoundedDownOrUp) {
  TestMix mix{.counts = {100, 70000, 3, 11}, .stages = {{0, {0.7, 0.2, 0.0999, 0.0001}}}};
  const auto order = mix.make();
  std::vector<int64_t> total(4);
  for (int64_t p = 0; p < 200; ++p) {
    const std::vector<int64_t> counts = part_counts(mix, job_samples(*order, p * kPeriod, kPeriod));
    for (size_t k = 0; k < 4; ++k) {
      const double share = mix.stages[0].weights[k] * static_cast<double>(kPeriod);
      EXPECT_GE(static_cast<double>(counts[k]), std::floor(share)) << p << " " << k;
      EXPECT_LE(static_cast<double>(counts[k]), std::ceil(share)) << p << " " << k;
      total[k] += counts[k];
      // Over the periods the share is exact: of the many that round, as many round up as must.
      EXPECT_NEAR(static_cast<double>(total[k]), share * static_cast<double>(p + 1), 3.0) << p << " " << k;
    }
  }
}

TEST(MixWeights, EachPassThroughAPartHasEachSampleOnceAndAnOrderOfItsOwn) {
  TestMix mix{.counts = {97, 1000, 2, 1}, .stages = {{0, {0.5, 0.25, 0.125, 0.125}}}};
  const auto order = mix.make();
  std::vector<std::vector<int64_t>> walks(4);
  for (const int64_t sample : job_samples(*order, 0, 40000)) {
    const auto [part, index] = mix.name(sample);
    walks[static_cast<size_t>(part)].push_back(index);
  }
  for (size_t k = 0; k < 4; ++k) {
    const auto n = static_cast<size_t>(mix.counts[k]);
    std::vector<std::vector<int64_t>> passes;
    for (size_t at = 0; at + n <= walks[k].size(); at += n) {
      std::vector<int64_t> pass(walks[k].begin() + static_cast<int64_t>(at),
                                walks[k].begin() + static_cast<int64_t>(at + n));
      std::vector<int64_t> sorted = pass;
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(sorted[i], static_cast<int64_t>(i)) << k << ", pass " << at / n;
      passes.push_back(std::move(pass));
    }
    if (n > 2) {
      EXPECT_NE(passes[0], passes[1]);
    }
  }
}

TEST(MixWeights, WithoutAShuffleEachPartIsGoneThroughInFileOrder) {
  TestMix mix{.counts = {100, 10}, .stages = {{0, {3, 1}}}, .shuffle = Shuffle::kNone};
  std::vector<int64_t> next(2);
  for (const int64_t sample : job_samples(*mix.make(), 0, 5 * kPeriod)) {
    const auto [part, index] = mix.name(sample);
    const auto k = static_cast<size_t>(part);
    ASSERT_EQ(index, next[k]++ % mix.counts[k]);
  }
}

TEST(MixWeights, AnySlotIsTheSameHoweverItIsAskedFor) {
  for (const size_t parts : {size_t{2}, size_t{31}, size_t{33}, size_t{300}}) {
    TestMix mix{.counts = std::vector<int64_t>(parts, 50),
                .stages = {{0, {}}, {7, {}}, {100, {}}},
                .samples_per_epoch = 1234,
                .global_batch = 100};
    for (size_t s = 0; s < 3; ++s) {
      for (size_t k = 0; k < parts; ++k)
        mix.stages[s].weights.push_back(static_cast<double>((k * 7 + s * 3) % 5));
    }
    const auto order = mix.make();
    const std::vector<int64_t> whole = job_samples(*order, 0, 20000, 1234);
    for (const int64_t piece : {1, 7, 100})
      EXPECT_EQ(job_samples(*order, 0, 20000, piece), whole) << parts << " " << piece;
    for (const int64_t at : {0, 699, 700, 701, 1233, 1234, 9999, 10003, 19999})
      EXPECT_EQ(job_samples(*order, at, 1)[0], whole[static_cast<size_t>(at)]) << parts << " " << at;
  }
}

TEST(MixWeights, AStageBeginsAtItsStepAndThePartsGoOnWhereTheyWere) {
  // 10 steps an epoch, the last one short.
  TestMix mix{.counts = {1000, 1000, 1000},
              .stages = {{0, {1, 1, 0}}, {13, {0, 1, 3}}},
              .shuffle = Shuffle::kNone,
              .samples_per_epoch = 95,
              .global_batch = 10};
  const auto order = mix.make();
  const std::vector<int64_t> samples = job_samples(*order, 0, 95 * 40);
  const int64_t change = 95 + 3 * 10;
  std::vector<std::set<int64_t>> before(3), after(3);
  for (int64_t slot = 0; slot < change + kPeriod / 2; ++slot) {
    const auto [part, index] = mix.name(samples[static_cast<size_t>(slot)]);
    (slot < change ? before : after)[static_cast<size_t>(part)].insert(index);
  }
  EXPECT_TRUE(before[2].empty());
  EXPECT_TRUE(after[0].empty());
  // Half of an odd number: one of the two has one more.
  EXPECT_EQ(before[0].size() + before[1].size(), static_cast<size_t>(change));
  EXPECT_NEAR(static_cast<double>(before[0].size()), change / 2.0, 1.0);
  EXPECT_EQ(*before[1].rbegin(), static_cast<int64_t>(before[1].size()) - 1);
  EXPECT_GE(*after[1].begin(), static_cast<int64_t>(before[1].size()));
  EXPECT_NEAR(order->share(2, 1, 29), 0.0, 1e-12);
  EXPECT_NEAR(order->share(2, 1, 30), 0.75, 1e-12);
}

TEST(MixWeights, APartsPassesAreCountedExactlyAtPeriods) {
  TestMix mix{.counts = {100, 900}, .stages = {{0, {0.25, 0.75}}}, .samples_per_epoch = kPeriod};
  const auto order = mix.make();
  EXPECT_NEAR(order->passes(0, 0, 0), 0.0, 1e-12);
  EXPECT_NEAR(order->passes(0, 3, 0), 3 * 256 / 100.0, 1e-9);
  EXPECT_NEAR(order->passes(1, 3, 512), 3.5 * 768 / 900.0, 1e-9);
}

TEST(MixWeights, HomogeneousStepsAreOfOnePartAndSharesAreExactOverSteps) {
  TestMix mix{.counts = {1000, 333, 77},
              .stages = {{0, {0.5, 0.3, 0.2}}},
              .shuffle = Shuffle::kNone,
              .global_batch = 32,
              .homogeneous = true};
  const auto order = mix.make();
  EXPECT_EQ(order->slots(), 1410 / 32 * 32);
  const int64_t steps = 10 << kMixStepBits;
  const std::vector<int64_t> samples = job_samples(*order, 0, steps * 32, 33);
  std::vector<int64_t> counts(3), drawn(3);
  std::vector<std::vector<int64_t>> times = {std::vector<int64_t>(1000), std::vector<int64_t>(333),
                                             std::vector<int64_t>(77)};
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t part = mix.name(samples[static_cast<size_t>(step * 32)]).first;
    ++counts[static_cast<size_t>(part)];
    for (int64_t i = 0; i < 32; ++i) {
      const auto [other, index] = mix.name(samples[static_cast<size_t>(step * 32 + i)]);
      ASSERT_EQ(other, part);
      ++times[static_cast<size_t>(part)][static_cast<size_t>(index)];
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(static_cast<double>(counts[k]), mix.stages[0].weights[k] * static_cast<double>(steps), 2.0);
    const auto [least, most] = std::minmax_element(times[k].begin(), times[k].end());
    EXPECT_LE(*most - *least, 1);  // at the end of a period what was drawn is whole
  }
}

TEST(MixWeights, HomogeneousStepsNeedWholeStepsInAnEpoch) {
  TestMix mix{.counts = {10, 10},
              .stages = {{0, {1, 1}}},
              .samples_per_epoch = 33,
              .global_batch = 32,
              .homogeneous = true};
  const auto order = mix.create();
  ASSERT_FALSE(order.is_ok());
  EXPECT_EQ(order.status().code(), Code::kBadOption);
  EXPECT_NE(order.status().message().find("samples_per_epoch of the mix is 33"), std::string::npos);
}

TEST(MixWeights, SeedsAndPeriodsDiffer) {
  TestMix mix{.counts = {5000, 5000}, .stages = {{0, {1, 1}}}};
  const auto order = mix.make();
  TestMix other = mix;
  other.seed = 2;
  EXPECT_NE(job_samples(*order, 0, 1000), job_samples(*other.make(), 0, 1000));
  // Two parts of one size do not walk in step, and a part's passes differ.
  std::vector<std::vector<int64_t>> walks(2);
  for (const int64_t sample : job_samples(*order, 0, 30000)) {
    const auto [part, index] = mix.name(sample);
    walks[static_cast<size_t>(part)].push_back(index);
  }
  EXPECT_NE(std::vector<int64_t>(walks[0].begin(), walks[0].begin() + 1000),
            std::vector<int64_t>(walks[1].begin(), walks[1].begin() + 1000));
  EXPECT_NE(std::vector<int64_t>(walks[0].begin(), walks[0].begin() + 1000),
            std::vector<int64_t>(walks[0].begin() + 5000, walks[0].begin() + 6000));
}

// --- Repeats ---

TEST(MixRepeats, EachSampleComesFloorOrCeilTimesInEveryEpoch) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kFull}) {
    TestMix mix{.counts = {100, 41, 7, 1000}, .repeats = {2.5, 1, 0.3, 1.0004}, .shuffle = shuffle};
    const auto order = mix.make();
    EXPECT_EQ(order->slots(), 250 + 41 + 2 + 1000);
    std::vector<std::set<int64_t>> more(4);
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      std::map<int64_t, int64_t> times;
      for (const int64_t sample : job_samples(*order, epoch * order->slots(), order->slots()))
        ++times[sample];
      std::vector<int64_t> counts(4);
      for (int64_t sample = 0; sample < mix.starts.back(); ++sample) {
        const auto [part, index] = mix.name(sample);
        const double repeat = mix.repeats[static_cast<size_t>(part)];
        const auto here = static_cast<double>(times[sample]);
        EXPECT_GE(here, std::floor(repeat));
        EXPECT_LE(here, std::ceil(repeat));
        if (here > std::floor(repeat)) more[static_cast<size_t>(part)].insert(index);
        counts[static_cast<size_t>(part)] += times[sample];
      }
      EXPECT_EQ(counts, (std::vector<int64_t>{250, 41, 2, 1000}));
    }
    EXPECT_GT(more[0].size(), 90u);  // drawn anew in each epoch
    EXPECT_EQ(more[2].size(), 7u);
  }
}

TEST(MixRepeats, WithoutAShuffleThePartsFollowOneAnotherInFileOrder) {
  TestMix mix{.counts = {4, 3}, .repeats = {2, 1}, .shuffle = Shuffle::kNone};
  EXPECT_EQ(job_samples(*mix.make(), 0, 11), (std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6}));
}

TEST(MixRepeats, ThatLeaveNothingOrTooMuchAreErrors) {
  TestMix nothing{.counts = {1}, .repeats = {0.1}};
  EXPECT_EQ(nothing.create().status().code(), Code::kEmpty);
  TestMix much{.counts = {1000}, .repeats = {1e18}};
  EXPECT_EQ(much.create().status().code(), Code::kTooLarge);
}

// --- Against Megatron-LM's blended index: each slot goes to the dataset that is furthest behind its share. ---

std::vector<int64_t> largest_error_first(const std::vector<double>& weights, int64_t slots) {
  std::vector<int64_t> drawn(weights.size()), parts;
  for (int64_t slot = 0; slot < slots; ++slot) {
    size_t behind = 0;
    double most = -1e300;
    for (size_t k = 0; k < weights.size(); ++k) {
      const double lag =
          weights[k] * static_cast<double>(std::max<int64_t>(slot, 1)) - static_cast<double>(drawn[k]);
      if (lag > most) most = lag, behind = k;
    }
    ++drawn[behind];
    parts.push_back(static_cast<int64_t>(behind));
  }
  return parts;
}

// The largest distance of a part's count from its share, at multiples of `every` slots.
double deviation(const std::vector<int64_t>& parts, const std::vector<double>& weights, int64_t every) {
  std::vector<int64_t> drawn(weights.size());
  double most = 0;
  for (size_t slot = 0; slot < parts.size(); ++slot) {
    ++drawn[static_cast<size_t>(parts[slot])];
    if (static_cast<int64_t>(slot + 1) % every != 0) continue;
    for (size_t k = 0; k < weights.size(); ++k)
      most = std::max(most,
                      std::abs(static_cast<double>(drawn[k]) - weights[k] * static_cast<double>(slot + 1)));
  }
  return most;
}

TEST(MixWeights, AtPeriodsTheSharesAreAsNearAsTheGreedyIndexBringsThem) {
  const std::vector<double> weights = {0.4999, 0.25, 0.15, 0.0701, 0.03};
  TestMix mix{.counts = {1000, 1000, 1000, 1000, 1000}, .stages = {{0, weights}}};
  const auto order = mix.make();
  const int64_t slots = 100 * kPeriod;
  std::vector<int64_t> parts;
  for (const int64_t sample : job_samples(*order, 0, slots)) parts.push_back(mix.name(sample).first);
  const std::vector<int64_t> greedy = largest_error_first(weights, slots);
  const double ours = deviation(parts, weights, kPeriod), theirs = deviation(greedy, weights, kPeriod);
  RecordProperty("deviation_ours", std::to_string(ours));
  RecordProperty("deviation_greedy", std::to_string(theirs));
  EXPECT_LT(ours, 4.0);
  EXPECT_LT(theirs, 2.0);
  // Between the ends of periods it is as far away as a random order: a few times sqrt(1024) / 4.
  EXPECT_LT(deviation(parts, weights, 1), 5 * 8.0);
}

}  // namespace
}  // namespace dataline::mix_test
