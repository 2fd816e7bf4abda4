// Orders of buckets: every sample once, all of a step in one bucket, the same pieces in every epoch, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/base/random.h"
#include "tests/support/places.h"

namespace dataline::buckets_test {
namespace {

using testing::ElementsAre;

struct Case {
  std::vector<int64_t> lengths, edges, rows;
  bool drop = false;
  Shuffle shuffle = Shuffle::kFull;
  uint64_t seed = 7;
};

Result<BucketOrder> made(const Case& c, HostMemory& memory) {
  DL_RETURN_IF_ERROR(check_lengths(c.lengths, c.edges));
  const auto bucket_of = [&c](int64_t sample) {
    return bucket_of_length(c.edges, c.lengths[static_cast<size_t>(sample)]);
  };
  return bucket_order({.samples = static_cast<int64_t>(c.lengths.size()),
                       .bucket_of = bucket_of,
                       .rows = c.rows,
                       .drop_short_steps = c.drop,
                       .shuffle = c.shuffle,
                       .seed = c.seed,
                       .memory = &memory});
}

struct Piece {
  size_t bucket;
  std::vector<int64_t> samples;
};

// An epoch step by step, as a loader of one rank reads it.
std::vector<Piece> epoch_of(const BucketOrder& made, const Case& c, int64_t epoch) {
  std::vector<Piece> pieces;
  for (size_t b = 0; b < made.steps->groups().size(); ++b) {
    const SlotGroup& group = made.steps->groups()[b];
    for (int64_t begin = 0; begin < group.slots; begin += group.rows) {
      const int64_t count = std::min(group.rows, group.slots - begin);
      if (c.drop && count < group.rows) break;
      Piece piece{b, std::vector<int64_t>(static_cast<size_t>(count))};
      made.order->samples(epoch, nullptr, group.first_slot + begin, count, piece.samples.data());
      pieces.push_back(std::move(piece));
    }
  }
  std::vector<Piece> steps;
  for (size_t t = 0; t < pieces.size(); ++t)
    steps.push_back(pieces.at(static_cast<size_t>(made.steps->piece(epoch, static_cast<int64_t>(t)))));
  return steps;
}

std::vector<int64_t> all_of(const std::vector<Piece>& steps) {
  std::vector<int64_t> all;
  for (const Piece& step : steps) all.insert(all.end(), step.samples.begin(), step.samples.end());
  return all;
}

// Lengths, edges and rows of any kind; each case differs.
Case random_case(uint64_t number) {
  uint64_t draw = 0;
  const auto below = [&](uint64_t bound) {
    return static_cast<int64_t>(random_below(random_bits(number, ++draw), bound));
  };
  Case c;
  c.seed = number;
  c.drop = below(3) == 0;
  c.shuffle = below(3) == 0 ? Shuffle::kNone : Shuffle::kFull;
  int64_t edge = 0;
  for (int64_t buckets = 1 + below(8); buckets > 0; --buckets) {
    c.edges.push_back(edge += 1 + below(50));
    c.rows.push_back(1 + below(40));
  }
  for (int64_t samples = below(400); samples > 0; --samples)
    c.lengths.push_back(below(static_cast<uint64_t>(edge) + 1));
  return c;
}

TEST(BucketOrder, TakesEverySampleOnceAndEachStepFromOneBucket) {
  for (uint64_t number = 0; number < 400; ++number) {
    SCOPED_TRACE(number);
    const auto memory = HostMemory::create({});
    const Case c = random_case(number);
    const BucketOrder order = made(c, *memory).take();
    EXPECT_EQ(order.order->slots(), static_cast<int64_t>(c.lengths.size()));
    for (const int64_t epoch : {0, 1, 1000}) {
      const std::vector<Piece> steps = epoch_of(order, c, epoch);
      std::vector<int64_t> all = all_of(steps);
      std::sort(all.begin(), all.end());
      ASSERT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a sample twice";
      if (!c.drop) {
        ASSERT_EQ(all.size(), c.lengths.size());
      }
      for (const Piece& step : steps) {
        ASSERT_LE(static_cast<int64_t>(step.samples.size()), c.rows[step.bucket]);
        for (const int64_t sample : step.samples) {
          const int64_t length = c.lengths[static_cast<size_t>(sample)];
          ASSERT_LE(length, c.edges[step.bucket]);
          ASSERT_TRUE(step.bucket == 0 || length > c.edges[step.bucket - 1]) << "a smaller bucket takes it";
        }
      }
    }
  }
}

TEST(BucketOrder, DropsAtMostOneShortStepOfEachBucketAndOthersInTheNextEpoch) {
  const auto memory = HostMemory::create({});
  Case c{std::vector<int64_t>(103, 5), {10}, {10}, /*drop=*/true};
  const BucketOrder order = made(c, *memory).take();
  std::set<int64_t> delivered;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int64_t> all = all_of(epoch_of(order, c, epoch));
    EXPECT_EQ(all.size(), 100u);
    delivered.insert(all.begin(), all.end());
  }
  EXPECT_EQ(delivered.size(), 103u) << "none is left out for ever";
}

TEST(BucketOrder, WithoutShuffleKeepsFileOrderInBucketsAndStepsComeByTheirFirstSample) {
  const auto memory = HostMemory::create({});
  const Case c{{9, 1, 9, 2, 9, 3, 1, 9}, {4, 10}, {2, 2}, false, Shuffle::kNone};
  const std::vector<Piece> steps = epoch_of(made(c, *memory).take(), c, 5);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_THAT(steps[0].samples, ElementsAre(0, 2));
  EXPECT_THAT(steps[1].samples, ElementsAre(1, 3));
  EXPECT_THAT(steps[2].samples, ElementsAre(4, 7));
  EXPECT_THAT(steps[3].samples, ElementsAre(5, 6));
}

std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "]";
}

// The stream for ever: check_golden_order.py computes the file a second time, from the definition alone.
TEST(BucketOrder, IsTheGoldenOne) {
  struct Golden {
    int64_t samples;
    std::vector<int64_t> edges, rows;
    uint64_t seed;
    int64_t epoch;
  };
  const Golden goldens[] = {{0, {16}, {2}, 0, 0},
                            {1, {16}, {2}, 0, 0},
                            {20, {16}, {20}, 0, 0},
                            {20, {4, 8, 16}, {3, 2, 2}, 42, 3},
                            {20, {4, 8, 16}, {3, 2, 2}, 42, 4},
                            {40, {3, 16}, {8, 5}, 9223372036854775807u, 1000000}};
  const auto memory = HostMemory::create({});
  std::string text;
  for (const Golden& golden : goldens) {
    Case c{{}, golden.edges, golden.rows, false, Shuffle::kFull, golden.seed};
    for (int64_t i = 0; i < golden.samples; ++i) c.lengths.push_back(i * 7 % 17);
    std::string steps;
    for (const Piece& step : epoch_of(made(c, *memory).take(), c, golden.epoch))
      steps += (steps.empty() ? "" : ", ") + list_text(step.samples);
    text += (text.empty() ? "[\n" : ",\n");
    text += "{\"n\": " + std::to_string(golden.samples) + ", \"edges\": " + list_text(golden.edges) +
            ", \"rows\": " + list_text(golden.rows) + ", \"seed\": " + std::to_string(golden.seed) +
            ", \"epoch\": " + std::to_string(golden.epoch) + ", \"steps\": [" + steps + "]}";
  }
  std::ifstream file(tests::in_repository("tests/order/golden_buckets.json"), std::ios::binary);
  std::ostringstream wanted;
  wanted << file.rdbuf();
  EXPECT_EQ(text + "\n]\n", wanted.str());
}

TEST(BucketOrder, BucketsOfOneSizeHaveOrdersOfTheirOwnAndEpochsToo) {
  const auto memory = HostMemory::create({});
  Case c{{}, {1, 2}, {1000, 1000}};
  for (int64_t i = 0; i < 2000; ++i) c.lengths.push_back(1 + i % 2);
  const BucketOrder order = made(c, *memory).take();
  std::map<size_t, std::vector<int64_t>> of_bucket[2];
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    for (const Piece& step : epoch_of(order, c, epoch)) {
      for (const int64_t sample : step.samples) of_bucket[epoch][step.bucket].push_back(sample / 2);
    }
  }
  EXPECT_NE(of_bucket[0][0], of_bucket[0][1]);
  EXPECT_NE(of_bucket[0][0], of_bucket[1][0]);
}

// A step's place says nothing about its bucket: the mean place of the steps of either half differs by a standard error or two.
TEST(BucketOrder, MixesTheStepsOfAllBuckets) {
  const auto memory = HostMemory::create({});
  Case c{{}, {1, 2}, {1, 1}};
  for (int64_t i = 0; i < 20000; ++i) c.lengths.push_back(1 + i / 10000);
  const std::vector<Piece> steps = epoch_of(made(c, *memory).take(), c, 0);
  double sum = 0;
  int64_t changes = 0;
  for (size_t t = 0; t < steps.size(); ++t) {
    if (steps[t].bucket == 0) sum += static_cast<double>(t);
    if (t > 0 && steps[t].bucket != steps[t - 1].bucket) ++changes;
  }
  EXPECT_NEAR(sum / 10000 / 20000, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(changes) / 20000, 0.5, 0.015);
}

// All 24 orders of four samples, about equally often over epochs.
TEST(BucketOrder, OfAFewSamplesIsAsUniformAsAnyOther) {
  const auto memory = HostMemory::create({});
  const Case c{{1, 1, 1, 1}, {1}, {4}};
  const BucketOrder order = made(c, *memory).take();
  std::map<std::vector<int64_t>, int64_t> seen;
  for (int64_t epoch = 0; epoch < 24000; ++epoch) ++seen[all_of(epoch_of(order, c, epoch))];
  ASSERT_EQ(seen.size(), 24u);
  double chi = 0;
  for (const auto& [samples, count] : seen) {
    const double off = static_cast<double>(count) - 1000;
    chi += off * off / 1000;
  }
  EXPECT_LT(chi, 60) << "of 23 degrees of freedom";
}

TEST(BucketOrder, TakesFourBytesASample) {
  const auto memory = HostMemory::create({});
  const Case c{std::vector<int64_t>(1000, 1), {1}, {10}};
  const BucketOrder order = made(c, *memory).take();
  EXPECT_EQ(order.order->allocated_bytes(), 4000);
  EXPECT_EQ(memory->in_use_bytes(), 4000);
}

TEST(BucketOrder, CountsTheTableOfItsStepsInFileOrderToo) {
  const auto memory = HostMemory::create({});
  Case c{std::vector<int64_t>(1000, 1), {1}, {10}};
  c.shuffle = Shuffle::kNone;
  const BucketOrder order = made(c, *memory).take();
  EXPECT_EQ(order.order->allocated_bytes(), 4000 + 4 * 100);
  EXPECT_EQ(memory->in_use_bytes(), order.order->allocated_bytes());
}

TEST(BucketOrder, RefusesLengthsThatNoBucketHasByTheirSample) {
  const auto memory = HostMemory::create({});
  const Case beyond{{1, 2, 901}, {100, 900}, {1, 1}};
  Result<BucketOrder> order = made(beyond, *memory);
  EXPECT_EQ(order.status().code(), Code::kOutOfRange);
  EXPECT_EQ(order.status().message(), "sample 2: its length is 901, the last of bucket_edges is 900");
  EXPECT_EQ(order.status().sample_index(), 2);
  order = made({{1, -1}, {100}, {1}}, *memory);
  EXPECT_EQ(order.status().message(), "sample 1: its length is -1, expected 0 or more");
  const auto small = HostMemory::create({}, 100);
  EXPECT_EQ(made({std::vector<int64_t>(1000, 1), {1}, {1}}, *small).status().code(), Code::kOverBudget);
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(BucketOrder, OfNoSamplesHasNoSteps) {
  const auto memory = HostMemory::create({});
  const Case c{{}, {10, 20}, {1, 1}};
  const BucketOrder order = made(c, *memory).take();
  EXPECT_EQ(order.order->slots(), 0);
  EXPECT_TRUE(epoch_of(order, c, 0).empty());
}

}  // namespace
}  // namespace dataline::buckets_test
