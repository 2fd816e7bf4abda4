// Mixes with shuffle=window: shares and passes as with a full shuffle, samples from a few open blocks of each part, tables, and which
// blocks are read ahead.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/order/mix_support.h"
#include "tests/order/window_support.h"

namespace dataline::mix_windows_test {
namespace {

// Of three parts: blocks of 50, of uneven, and so few that they may all be open.
TestMix weighted(bool homogeneous = false) {
  return {.stages = {{0, {0.5, 0.375, 0.125}}},
          .shuffle = Shuffle::kWindow,
          .samples_per_epoch = 960,
          .global_batch = 24,
          .homogeneous = homogeneous,
          .cuts = {even_ends(40, 50), uneven_ends(60, 13), even_ends(2, 30)},
          .open_blocks = 20};
}
TestMix repeated() {
  return {.repeats = {2.5, 1, 0.3, 0.02},
          .shuffle = Shuffle::kWindow,
          .global_batch = 32,
          .cuts = {even_ends(40, 50), uneven_ends(60, 13), even_ends(2, 30), uneven_ends(100, 2)},
          .open_blocks = 24};
}

int64_t block_of(const TestMix& mix, int64_t sample) {
  return std::upper_bound(mix.block_ends.begin(), mix.block_ends.end(), sample) - mix.block_ends.begin();
}

TEST(MixWindows, PartsComeAsWithAFullShuffleAndEachPassHasEachSampleOnce) {
  for (const bool homogeneous : {false, true}) {
    TestMix mix = weighted(homogeneous), full = mix;
    full.shuffle = Shuffle::kFull;
    const auto order = mix.make(), other = full.make();
    const std::vector<int64_t> samples = job_samples(*order, 0, 30 * 960);
    const std::vector<int64_t> of_full = job_samples(*other, 0, 30 * 960);
    std::vector<std::vector<int64_t>> walks(3);
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto [part, index] = mix.name(samples[i]);
      ASSERT_EQ(part, full.name(of_full[i]).first) << i;
      walks[static_cast<size_t>(part)].push_back(index);
    }
    for (size_t k = 0; k < 3; ++k) {
      const int64_t n = mix.counts[k];
      std::set<std::vector<int64_t>> passes;
      for (auto at = walks[k].begin(); walks[k].end() - at >= n; at += n) {
        ASSERT_TRUE(is_permutation({&*at, static_cast<size_t>(n)})) << k;
        ASSERT_TRUE(passes.emplace(at, at + n).second) << "each pass has an order of its own";
      }
      EXPECT_GE(passes.size(), 5u);
    }
    EXPECT_EQ(order->share(0, 3, 7), other->share(0, 3, 7));
    EXPECT_EQ(order->passes(1, 3, 7), other->passes(1, 3, 7));
  }
}

// A part with few blocks is permuted whole, as with a full shuffle.
TEST(MixWindows, APartAllOfWhoseBlocksMayBeOpenIsPermutedWhole) {
  TestMix mix = weighted(), full = mix;
  full.shuffle = Shuffle::kFull;
  const std::vector<int64_t> samples = job_samples(*mix.make(), 0, 4800);
  const std::vector<int64_t> of_full = job_samples(*full.make(), 0, 4800);
  int64_t compared = 0, others = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const bool small = mix.name(samples[i]).first == 2;
    compared += small ? 1 : 0;
    if (small) {
      ASSERT_EQ(samples[i], of_full[i]);
    }
    others += !small && samples[i] == of_full[i] ? 1 : 0;
  }
  EXPECT_GT(compared, 500);
  EXPECT_LT(others, 100);
}

// Of each part, as many blocks have begun and not ended as its share of open_blocks says, within the rounding of windows.
TEST(MixWindows, AboutAsManyBlocksOfEachPartAreOpenAsItsShareSays) {
  TestMix mix{.stages = {{0, {3, 1}}, {20, {1, 1}}},  // the largest shares: 3/4 and 1/2
              .shuffle = Shuffle::kWindow,
              .cuts = {even_ends(200, 40), even_ends(200, 40)},
              .open_blocks = 32};
  const std::vector<int64_t> samples = job_samples(*mix.make(), 0, 14000);
  const double asked[] = {24, 16};
  for (size_t k = 0; k < 2; ++k) {
    std::map<int64_t, std::pair<int64_t, int64_t>> lives;  // block: first and last of the part's draws
    int64_t draws = 0;
    for (const int64_t sample : samples) {
      if (mix.name(sample).first != static_cast<int64_t>(k) || draws >= mix.counts[k]) continue;
      lives.try_emplace(block_of(mix, sample), draws, draws).first->second.second = draws;
      ++draws;
    }
    std::vector<int64_t> open(static_cast<size_t>(draws) + 1);
    double mean = 0;
    for (const auto& [block, life] : lives) {
      for (int64_t at = life.first; at <= life.second; ++at) ++open[static_cast<size_t>(at)];
      mean += static_cast<double>(life.second - life.first) / static_cast<double>(draws);
    }
    EXPECT_GT(mean, asked[k] * 0.4) << k;
    EXPECT_LE(static_cast<double>(*std::max_element(open.begin(), open.end())), asked[k] * 1.5 + 1) << k;
  }
}

TEST(MixWindows, ByRepeatsEachSampleComesFloorOrCeilTimesAndAnewInEachEpoch) {
  TestMix mix = repeated();
  const auto order = mix.make();
  std::vector<std::map<int64_t, int64_t>> once_more(4);  // of each part, by sample: epochs
  constexpr int64_t kEpochs = 200;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::map<int64_t, int64_t> times;
    std::vector<int64_t> counts(4);
    for (const int64_t sample : whole_epoch(*order, epoch)) ++times[sample];
    for (int64_t sample = 0; sample < mix.starts.back(); ++sample) {
      const auto k = static_cast<size_t>(mix.name(sample).first);
      const auto here = static_cast<double>(times[sample]);
      ASSERT_GE(here, std::floor(mix.repeats[k]));
      ASSERT_LE(here, std::ceil(mix.repeats[k]));
      counts[k] += times[sample];
      if (here > std::floor(mix.repeats[k])) ++once_more[k][sample];
    }
    for (size_t k = 0; k < 4; ++k) {
      const double n = static_cast<double>(mix.counts[k]), whole = std::floor(mix.repeats[k]);
      const double more = std::floor((mix.repeats[k] - whole) * n + 0.5);
      ASSERT_EQ(static_cast<double>(counts[k]), whole * n + more) << k;
    }
  }
  // Each sample with the same chance: 100 of 200 epochs, and a standard deviation of 7.
  EXPECT_EQ(static_cast<int64_t>(once_more[0].size()), mix.counts[0]);
  for (const auto& [sample, epochs] : once_more[0])
    EXPECT_NEAR(static_cast<double>(epochs), 100, 36) << sample;
  for (const auto& [sample, epochs] : once_more[2])
    EXPECT_NEAR(static_cast<double>(epochs), 60, 33) << sample;
  EXPECT_EQ(once_more[1].size(), 0u);
  EXPECT_GT(static_cast<int64_t>(once_more[3].size()),
            mix.counts[3] * 9 / 10);  // blocks of one or two samples
}

TEST(MixWindows, AnySlotIsTheSameHoweverItIsAskedForAndItsTableMade) {
  TestMix mixes[] = {weighted(), weighted(true), repeated()};
  mixes[0].stages.push_back({30, {1, 5, 0}});
  mixes[0].stages.push_back({100, {1, 0, 2}});
  for (TestMix& mix : mixes) {
    const auto order = mix.make();
    for (const int64_t epoch : {0, 1, 2, 9}) {
      const std::vector<int64_t> whole = whole_epoch(*order, epoch);
      TestTable table(*order);
      table.build(*order, epoch, 7);
      for (const int64_t piece : {1, 5, 24}) {
        std::vector<int64_t> out(whole.size());
        for (int64_t at = 0; at < order->slots(); at += piece)
          order->samples(epoch, &table.get(), at, std::min(piece, order->slots() - at), out.data() + at);
        ASSERT_EQ(out, whole) << epoch << " " << piece;
      }
    }
  }
}

TEST(MixWindows, ATableHasRoomForTheBlocksOfThePassesThatAnEpochTouches) {
  TestMix mix{.stages = {{0, {1, 1}}},
              .shuffle = Shuffle::kWindow,
              .cuts = {even_ends(10'000, 100), even_ends(100, 10'000)},
              .open_blocks = 64};
  const auto order = mix.make();
  // Each part is gone through once in 2,000,000 slots: two passes touch an epoch, and there is room for a third.
  EXPECT_LE(order->table_bytes(), 3 * (12 * 10'100 + 32) + 128);
  EXPECT_GE(order->table_bytes(), 2 * 12 * 10'100);
  TestMix many = mix;
  many.samples_per_epoch = int64_t{1} << 60;
  const auto refused = many.create();
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kTooLarge);
  EXPECT_NE(refused.status().message().find("reads part 0 up to "), std::string::npos)
      << refused.status().message();
}

// Schedules that change the shares within and between epochs: no epoch draws more of a part than its table has room for, or
// memory beyond it would be written (a sanitizer sees it), and samples would come twice.
TEST(MixWindows, NoScheduleTouchesMorePassesThanTheTableHasRoomFor) {
  for (const int64_t per_epoch : {50, 333, 5000}) {
    TestMix mix{.stages = {{0, {1, 1, 0}}, {3, {0, 1, 9}}, {4, {9, 1, 0}}, {7, {1, 0, 1}}, {90, {1, 30, 1}}},
                .shuffle = Shuffle::kWindow,
                .samples_per_epoch = per_epoch,
                .global_batch = 17,
                .cuts = {even_ends(7, 3), uneven_ends(9, 11), even_ends(30, 1)},
                .open_blocks = 4};
    const auto order = mix.make();
    std::vector<std::vector<int64_t>> walks(3);
    for (const int64_t sample : job_samples(*order, 0, 12'000)) {
      const auto [part, index] = mix.name(sample);
      walks[static_cast<size_t>(part)].push_back(index);
    }
    for (size_t k = 0; k < 3; ++k) {
      const int64_t n = mix.counts[k];
      for (auto at = walks[k].begin(); walks[k].end() - at >= n; at += n)
        ASSERT_TRUE(is_permutation({&*at, static_cast<size_t>(n)})) << k << " " << per_epoch;
    }
  }
}

TEST(MixWindows, ABlockOfTwoPartsIsADefectOfTheSource) {
  for (const bool by_repeats : {false, true}) {
    TestMix mix = by_repeats ? repeated() : weighted();
    ASSERT_TRUE(mix.create().is_ok());
    std::vector<int64_t> starts = mix.starts;
    starts[1] += 10;
    std::vector<MixOrderStage> stages;
    for (const TestStage& stage : mix.stages) stages.push_back({stage.step, stage.weights});
    const auto order = MixOrder::create({.starts = starts,
                                         .shuffle = Shuffle::kWindow,
                                         .block_ends = mix.block_ends,
                                         .repeats = mix.repeats,
                                         .stages = stages,
                                         .memory = HostMemory::create({})});
    EXPECT_EQ(order.status().code(), Code::kInternal);
  }
}

TEST(MixWindows, ParametersSayHowItWasCut) {
  TestMix mix = weighted();
  const std::string here = mix.make()->parameters();
  EXPECT_EQ(here.rfind(" blocks=102 parts_in_windows=2 cut=", 0), 0u) << here;
  mix.open_blocks = 40;
  EXPECT_NE(mix.make()->parameters(), here);
  mix = weighted();
  mix.cuts[1][3] += 1;
  EXPECT_NE(mix.make()->parameters(), here);
  mix.shuffle = Shuffle::kFull;
  const auto full = mix.make();
  EXPECT_EQ(full->parameters(), "");
  EXPECT_EQ(full->table_steps(), 0);
  EpochTable none;
  full->advance_table(none, 1);
  EXPECT_EQ(none.done, 0);
}

// --- Reading ahead ---

class FoundBlocks final : public RecordRanges {
 public:
  void add(RecordRange range) override { ++blocks[range.first]; }
  std::map<int64_t, int64_t> blocks;  // by first record: how often found
};

// What a loader does from step `begin` on: before each step, blocks are found steps_per_block() ahead.
struct SweepResult {
  int64_t found = 0;
  int64_t missed = 0;  // samples whose block was not
};
SweepResult sweep_over(TestMix mix, int64_t epoch, int64_t rank, int64_t world, int64_t begin) {
  const auto order = mix.make();
  TestTable table(*order);
  table.build(*order, epoch);
  const int64_t width = mix.global_batch, steps = (order->slots() + width - 1) / width;
  const SlotRange rows = rank_slots(0, width, rank, world);
  Order::Sweep sweep{.row = rows.begin, .rows = rows.count(), .now = begin, .begins = true};
  sweep.from = std::max<int64_t>(begin - order->steps_per_block(), 0);
  FoundBlocks found;
  SweepResult result;
  for (int64_t step = begin; step < steps; ++step) {
    sweep.now = step;
    // In pieces, as a loader that catches up.
    for (const int64_t target = std::min(step + 1 + order->steps_per_block(), steps); sweep.from < target;) {
      sweep.to = std::min(sweep.from + 3, target);
      order->find_blocks(table.get(), sweep, found);
      sweep.begins = false;
      sweep.from = sweep.to;
    }
    const int64_t slots = std::min(width, order->slots() - step * width);
    if (slots < width && !order->ranks_share_blocks()) continue;  // the short step's shares are cut elsewhere
    const SlotRange mine = rank_slots(step * width, slots, rank, world);
    std::vector<int64_t> samples(static_cast<size_t>(mine.count()));
    order->samples(epoch, &table.get(), mine.begin, mine.count(), samples.data());
    for (const int64_t sample : samples) {
      const int64_t block = block_of(mix, sample);
      const int64_t first = block == 0 ? 0 : mix.block_ends[static_cast<size_t>(block) - 1];
      result.missed += found.blocks.count(first) ? 0 : 1;
    }
  }
  for (const auto& [first, times] : found.blocks) result.found += times;
  return result;
}

TEST(MixReadAhead, FindsEveryBlockBeforeItsFirstSample) {
  TestMix mixes[] = {weighted(), weighted(true), repeated(), weighted(), weighted(true)};
  for (const size_t staged : {size_t{3}, size_t{4}}) {
    mixes[staged].stages.push_back({30, {1, 5, 0}});
    mixes[staged].stages.push_back({50, {0.001, 0, 2}});
    mixes[staged].stages.push_back({70, {4, 1e-4, 1}});
  }
  for (TestMix& mix : mixes) {
    for (const int64_t epoch : {0, 1, 2, 7}) {
      for (const int64_t begin : {0, 1, 5, 39}) {
        ASSERT_EQ(sweep_over(mix, epoch, 0, 1, begin).missed, 0) << epoch << " from " << begin;
        for (int64_t rank = 0; rank < 3; ++rank) {
          // Of the short last steps of passes, of which few end in an epoch, a rank's share is cut elsewhere.
          const int64_t missed = sweep_over(mix, epoch, rank, 3, begin).missed;
          ASSERT_LE(missed, mix.homogeneous ? 3 * 8 : 0) << epoch << " from " << begin << ", rank " << rank;
        }
      }
    }
  }
}

// 4,000 samples of two parts with equal weights, whose passes are nearly the epoch's.
TEST(MixReadAhead, FindsABlockOnceAPassAndNotTheWholeSetAtOnce) {
  TestMix mix{.stages = {{0, {1, 1}}},
              .shuffle = Shuffle::kWindow,
              .global_batch = 20,
              .cuts = {even_ends(100, 20), even_ends(100, 20)},
              .open_blocks = 16};
  const auto order = mix.make();
  EXPECT_LE(sweep_over(mix, 0, 0, 1, 0).found, 202);
  TestTable table(*order);
  table.build(*order, 0);
  FoundBlocks first, behind;
  order->find_blocks(table.get(), {.rows = 20, .to = 1, .begins = true}, first);
  EXPECT_LE(first.blocks.size(), 4u) << "little by little";
  order->find_blocks(table.get(), {.rows = 20, .to = 1 + order->steps_per_block(), .begins = true}, behind);
  EXPECT_GE(behind.blocks.size(), 16u);
  EXPECT_LE(behind.blocks.size(), 48u);
}

// A part with a share below a block's would otherwise set the pace for all.
TEST(MixReadAhead, ARarePartDoesNotMakeTheOthersReadFarAhead) {
  TestMix mix{.stages = {{0, {1, 1e-5}}},
              .shuffle = Shuffle::kWindow,
              .global_batch = 20,
              .cuts = {even_ends(1000, 20), even_ends(5, 400)},
              .open_blocks = 16};
  EXPECT_LE(mix.make()->steps_per_block(), 40);
  EXPECT_LE(sweep_over(mix, 0, 0, 1, 0).found, 1110);
}

TEST(MixReadAhead, WithHomogeneousStepsRanksHaveBlocksOfTheirOwn) {
  TestMix mix{.stages = {{0, {1, 1}}},
              .shuffle = Shuffle::kWindow,
              .global_batch = 64,
              .homogeneous = true,
              .cuts = {even_ends(400, 16), even_ends(400, 16)},
              .open_blocks = 128};
  int64_t found = 0;
  for (int64_t rank = 0; rank < 4; ++rank) found += sweep_over(mix, 0, rank, 4, 0).found;
  EXPECT_GE(found, 800);
  EXPECT_LE(found, 1400) << "but for those at the borders of lanes, and of passes";
  mix.homogeneous = false;
  EXPECT_TRUE(mix.make()->ranks_share_blocks());
  EXPECT_GE(sweep_over(mix, 0, 3, 4, 0).found, 800);
}

TEST(MixReadAhead, OfVeryManyPartsRecordsAreRequestedOneByOne) {
  TestMix mix{.stages = {{0, std::vector<double>(1025, 1.0)}},
              .shuffle = Shuffle::kWindow,
              .cuts = std::vector<std::vector<int64_t>>(1025, even_ends(2, 2)),
              .open_blocks = 8};
  EXPECT_EQ(mix.make()->steps_per_block(), 0);
  mix.cuts.pop_back(), mix.stages[0].weights.pop_back();
  EXPECT_GT(mix.make()->steps_per_block(), 0);
}

}  // namespace
}  // namespace dataline::mix_windows_test
