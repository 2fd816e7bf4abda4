// Golden vectors of mixes. They were made by the Python of docs/pages/reference/order.md, not by this library, and never change.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "tests/order/golden_mixes.h"
#include "tests/order/golden_order.h"
#include "tests/order/mix_support.h"
#include "tests/order/window_support.h"
#include "tests/support/places.h"

namespace dataline::mix_golden_test {
namespace {

using Rows = std::vector<std::pair<int64_t, int64_t>>;  // part and index

Rows rows_of(TestMix mix, int64_t first, int64_t count) {
  const auto order = mix.make();
  Rows rows;
  for (const int64_t sample : job_samples(*order, first, count, 100)) rows.push_back(mix.name(sample));
  return rows;
}

uint64_t digest_of(const Rows& rows) {
  constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
  uint64_t digest = 0;
  for (const auto& [part, index] : rows) {
    digest = static_cast<uint64_t>(
        (static_cast<u128>(digest) * 1000003 + static_cast<u128>(part) * 1000 + static_cast<u128>(index)) %
        kPrime);
  }
  return digest;
}

const std::vector<int64_t> kCounts = {7, 300, 1, 64};

TEST(MixGolden, Weights) {
  const TestMix mix{.counts = kCounts, .stages = {{0, {0.5, 0.3, 0.2, 0.0}}}, .seed = 3};
  EXPECT_EQ(rows_of(mix, 0, 8), (Rows{{0, 1}, {0, 6}, {1, 167}, {1, 45}, {2, 0}, {1, 77}, {0, 5}, {1, 112}}));
  EXPECT_EQ(rows_of(mix, 1020, 8), (Rows{{0, 5}, {0, 4}, {0, 2}, {2, 0}, {2, 0}, {0, 4}, {1, 38}, {0, 3}}));
  EXPECT_EQ(digest_of(rows_of(mix, 0, 3000)), 517206399597608147u);
}

TEST(MixGolden, Stages) {
  const TestMix mix{.counts = kCounts,
                    .stages = {{0, {1, 1, 1, 1}}, {100, {0, 1e-9, 1, 3}}, {3333, {5, 4, 3, 2}}},
                    .seed = (uint64_t{1} << 63) - 1};
  EXPECT_EQ(rows_of(mix, 96, 8), (Rows{{2, 0}, {2, 0}, {0, 2}, {3, 54}, {3, 12}, {3, 55}, {2, 0}, {2, 0}}));
  EXPECT_EQ(rows_of(mix, 3329, 8),
            (Rows{{3, 15}, {3, 58}, {2, 0}, {3, 17}, {1, 6}, {1, 263}, {0, 1}, {2, 0}}));
  EXPECT_EQ(digest_of(rows_of(mix, 0, 6000)), 947515236355221612u);
}

TEST(MixGolden, Repeats) {
  TestMix mix{.counts = kCounts, .repeats = {2.5, 1, 3, 0.3}, .seed = 5};
  EXPECT_EQ(rows_of(mix, 680, 8),
            (Rows{{1, 53}, {1, 12}, {1, 209}, {1, 5}, {1, 69}, {1, 109}, {1, 93}, {1, 117}}));
  EXPECT_EQ(digest_of(rows_of(mix, 680, 340)), 360580990206598710u);
  mix.shuffle = Shuffle::kNone;
  EXPECT_EQ(rows_of(mix, 692, 8), (Rows{{0, 5}, {0, 6}, {0, 1}, {0, 3}, {0, 4}, {0, 6}, {1, 0}, {1, 1}}));
  EXPECT_EQ(digest_of(rows_of(mix, 680, 340)), 767661941130454394u);
}

TEST(MixGolden, HomogeneousSteps) {
  // Steps of one slot in file order: what a part's step is, is its number.
  const TestMix mix{.counts = {100000, 100000, 100000},
                    .stages = {{0, {1, 2, 3}}},
                    .shuffle = Shuffle::kNone,
                    .seed = 9,
                    .homogeneous = true};
  EXPECT_EQ(digest_of(rows_of(mix, 0, 2000)), 1761632427782938220u);
}

TEST(MixGolden, Windows) {
  for (const GoldenMix& golden : golden_mixes()) {
    TestMix mix{.repeats = golden.repeats,
                .shuffle = Shuffle::kWindow,
                .seed = golden.seed,
                .samples_per_epoch = golden.samples_per_epoch,
                .global_batch = golden.step_slots,
                .homogeneous = golden.homogeneous,
                .open_blocks = golden.open_blocks};
    for (const auto& [blocks, spread] : golden.parts) mix.cuts.push_back(uneven_ends(blocks, spread));
    for (const auto& [step, weights] : golden.stages) mix.stages.push_back({step, weights});
    std::vector<int64_t> whole = whole_epoch(*mix.make(), golden.epoch);
    EXPECT_EQ(golden_digest(whole), golden.digest);
    whole.resize(golden.first.size());
    EXPECT_EQ(whole, golden.first);
  }
}

TEST(MixGolden, HomogeneousStepsByRepeats) {
  for (const GoldenSteps& golden : golden_steps()) {
    TestMix mix{.counts = golden.counts,
                .repeats = golden.repeats,
                .seed = golden.seed,
                .global_batch = golden.rows,
                .homogeneous = true};
    EXPECT_EQ(epoch_steps(*mix.make(), golden.epoch), golden.steps);
  }
}

// What check_golden_order.py computes a second time is what is pinned here.
TEST(MixGolden, TheJsonHasTheSameOrders) {
  std::ifstream file(tests::in_repository("tests/order/golden_mixes.json"), std::ios::binary);
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str();
  size_t found = 0;
  for (const GoldenMix& golden : golden_mixes()) {
    std::ostringstream line;
    line << "\"open_blocks\": " << golden.open_blocks << ", \"step_slots\": " << golden.step_slots
         << ", \"seed\": " << golden.seed << ", \"epoch\": " << golden.epoch << ", \"first\": [";
    for (const int64_t sample : golden.first) line << (sample == golden.first[0] ? "" : ", ") << sample;
    line << "], \"digest\": \"" << std::hex << golden.digest << '"';
    EXPECT_NE(text.find(line.str()), std::string::npos) << line.str();
    found += text.find(line.str()) != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(found, golden_mixes().size());
  size_t lines = 0;
  for (size_t at = text.find("\"digest\": \""); at != std::string::npos;
       at = text.find("\"digest\": \"", at + 1))
    ++lines;
  EXPECT_EQ(lines, golden_mixes().size());
}

}  // namespace
}  // namespace dataline::mix_golden_test
