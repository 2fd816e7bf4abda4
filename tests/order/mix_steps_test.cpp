// Homogeneous steps of a mix by repeats: each of one part, together the samples of an epoch.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/order/mix_support.h"

namespace dataline::mix_steps_test {
namespace {

TEST(MixRepeats, HomogeneousStepsAreOfOnePartAndHoldTheSamplesOfAnEpoch) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kFull}) {
    TestMix mix{.counts = {100, 41, 7, 1000, 3},
                .repeats = {2.5, 1, 0.3, 1.0004, 0.1},  // of the last none
                .shuffle = shuffle,
                .global_batch = 32,
                .homogeneous = true};
    const auto order = mix.make();
    std::vector<std::vector<int64_t>> parts_of_epochs;
    for (const int64_t epoch : {0, 1, 7}) {
      std::map<int64_t, int64_t> times;
      std::vector<int64_t> counts(5), parts, short_steps(5);
      for (const std::vector<int64_t>& step : epoch_steps(*order, epoch)) {
        parts.push_back(mix.name(step[0]).first);
        short_steps[static_cast<size_t>(parts.back())] += step.size() < 32 ? 1 : 0;
        for (const int64_t sample : step) {
          ASSERT_EQ(mix.name(sample).first, parts.back());
          ++times[sample];
          ++counts[static_cast<size_t>(parts.back())];
        }
      }
      EXPECT_EQ(counts, (std::vector<int64_t>{250, 41, 2, 1000, 0}));
      EXPECT_EQ(short_steps, (std::vector<int64_t>{1, 1, 1, 1, 0}));
      for (const auto& [sample, count] : times) {
        const double repeat = mix.repeats[static_cast<size_t>(mix.name(sample).first)];
        EXPECT_GE(static_cast<double>(count), std::floor(repeat));
        EXPECT_LE(static_cast<double>(count), std::ceil(repeat));
      }
      EXPECT_EQ(std::is_sorted(parts.begin(), parts.end()), shuffle == Shuffle::kNone);
      parts_of_epochs.push_back(parts);
    }
    EXPECT_EQ(parts_of_epochs[0] == parts_of_epochs[1], shuffle == Shuffle::kNone);
  }
}

TEST(MixRepeats, HomogeneousStepsBeginEachPartAtAWholeStep) {
  TestMix mix{.counts = {10, 1, 64}, .repeats = {1, 1, 1}, .global_batch = 32, .homogeneous = true};
  const auto order = mix.make();
  std::vector<int64_t> begins;
  for (const SlotGroup& group : order->steps()->groups()) begins.push_back(group.first_slot);
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 32, 64}));
  EXPECT_EQ(order->slots(), 128);
  mix.shuffle = Shuffle::kWindow;
  const auto windows = mix.create();
  EXPECT_EQ(windows.status().code(), Code::kUnsupported);
  EXPECT_NE(windows.status().message().find("or a mix with weights"), std::string::npos);
  TestMix large{.counts = {int64_t{1} << 61, 1},
                .repeats = {1.99, 1},
                .global_batch = int64_t{1} << 40,
                .homogeneous = true};
  EXPECT_TRUE(large.create().is_ok());
  large.global_batch = int64_t{1} << 62;
  large.counts = {1, 1, 1};
  large.repeats = {1, 1, 1};
  EXPECT_EQ(large.create().status().code(), Code::kTooLarge);
}

}  // namespace
}  // namespace dataline::mix_steps_test
