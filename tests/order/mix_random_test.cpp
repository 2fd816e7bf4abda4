// Mixes of many shapes with shuffle=window, drawn from fixed seeds: each pass has each sample once, and every block is found before
// it is needed, also after a seek.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/random.h"
#include "tests/order/mix_support.h"
#include "tests/order/window_support.h"

namespace dataline::mix_random_test {
namespace {

constexpr uint64_t kMixes = kSlowBuild ? 40 : 200;

class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(
                     random_below(random_bits(seed_, ++count_), static_cast<uint64_t>(high - low + 1)));
  }

 private:
  uint64_t seed_, count_ = 0;
};

TestMix drawn_mix(Draws& draws, uint64_t seed) {
  TestMix mix{.shuffle = Shuffle::kWindow, .seed = seed};
  const int64_t parts = draws.between(1, 5);
  for (int64_t k = 0; k < parts; ++k) {
    mix.cuts.push_back(draws.between(0, 1) == 0 ? even_ends(draws.between(1, 40), draws.between(1, 30))
                                                : uneven_ends(draws.between(1, 60), draws.between(1, 40)));
  }
  mix.global_batch = draws.between(1, 60);
  mix.open_blocks = draws.between(1, 40);
  mix.drops_last = draws.between(0, 1) == 1;
  if (draws.between(0, 3) == 0) {
    for (int64_t k = 0; k < parts; ++k)
      mix.repeats.push_back(static_cast<double>(draws.between(10, 25)) / 10);
    return mix;
  }
  mix.homogeneous = draws.between(0, 1) == 1;
  mix.samples_per_epoch = mix.homogeneous ? draws.between(1, 60) * mix.global_batch : draws.between(1, 3000);
  int64_t step = 0;
  for (int64_t stage = draws.between(1, 4); stage > 0; --stage, step += draws.between(1, 80)) {
    std::vector<double> weights;
    for (int64_t k = 0; k < parts; ++k) {
      const int64_t weight = draws.between(0, 10);  // some 0, some tiny
      weights.push_back(weight < 3 ? 0 : weight < 5 ? 1e-4 : static_cast<double>(weight));
    }
    weights[static_cast<size_t>(draws.between(0, parts - 1))] += 1;
    mix.stages.push_back({step, weights});
  }
  return mix;
}

class FoundFirsts final : public RecordRanges {
 public:
  void add(RecordRange range) override {
    EXPECT_GT(range.count, 0);
    firsts.insert(range.first);
  }
  std::set<int64_t> firsts;
};

// As a loader that begins at step `begin`; `piece`: steps of one sweep.
void expect_found_in_time(const TestMix& mix, const MixOrder& order, const EpochTable& table, int64_t begin,
                          int64_t piece) {
  const int64_t width = mix.global_batch, slots = order.slots();
  const int64_t steps = slots / width + (slots % width != 0 && !mix.drops_last ? 1 : 0);
  Order::Sweep sweep{.row = 0, .rows = width, .begins = true};
  sweep.from = std::max<int64_t>(begin - order.steps_per_block(), 0);
  FoundFirsts found;
  std::vector<int64_t> samples(static_cast<size_t>(width));
  for (int64_t step = begin; step < steps; ++step) {
    sweep.now = step;
    for (const int64_t target = std::min(step + 1 + order.steps_per_block(), steps); sweep.from < target;) {
      sweep.to = std::min(sweep.from + piece, target);
      order.find_blocks(table, sweep, found);
      sweep.begins = false;
      sweep.from = sweep.to;
    }
    const int64_t count = std::min(width, slots - step * width);
    // By repeats the short step's rows come from other lanes.
    if (count < width && !mix.repeats.empty()) continue;
    order.samples(table.epoch, &table, step * width, count, samples.data());
    for (int64_t i = 0; i < count; ++i) {
      const auto end =
          std::upper_bound(mix.block_ends.begin(), mix.block_ends.end(), samples[static_cast<size_t>(i)]);
      const int64_t first = end == mix.block_ends.begin() ? 0 : *std::prev(end);
      ASSERT_TRUE(found.firsts.count(first))
          << "epoch " << table.epoch << ", step " << step << " from " << begin << ", part "
          << mix.name(samples[static_cast<size_t>(i)]).first;
    }
  }
}

TEST(MixRandom, EachPassHasEachSampleOnceAndEachBlockIsFoundInTime) {
  for (uint64_t seed = 0; seed < kMixes; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    TestMix mix = drawn_mix(draws, seed);
    const auto order = mix.make();
    std::vector<std::vector<int64_t>> walks(mix.counts.size());
    for (int64_t epoch = 0; epoch < 6; ++epoch) {
      TestTable table(*order);
      table.build(*order, epoch, draws.between(1, 50));
      std::vector<int64_t> samples(static_cast<size_t>(order->slots()));
      order->samples(epoch, &table.get(), 0, order->slots(), samples.data());
      for (const int64_t sample : samples) {
        const auto [part, index] = mix.name(sample);
        walks[static_cast<size_t>(part)].push_back(index);
      }
      const int64_t last = std::max<int64_t>(order->slots() / mix.global_batch - 1, 0);
      const int64_t begin = draws.between(0, 1) == 0 ? 0 : draws.between(0, last);
      expect_found_in_time(mix, *order, table.get(), begin, draws.between(1, 7));
      if (testing::Test::HasFatalFailure()) return;
    }
    if (!mix.repeats.empty()) continue;
    for (size_t k = 0; k < walks.size(); ++k) {
      const int64_t n = mix.counts[k];
      for (auto at = walks[k].begin(); walks[k].end() - at >= n; at += n)
        ASSERT_TRUE(is_permutation({&*at, static_cast<size_t>(n)})) << "part " << k;
    }
  }
}

}  // namespace
}  // namespace dataline::mix_random_test
