// Order::create, the orders without randomness, tables and the ranks' parts.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/order/order_support.h"

namespace dataline::create_test {
namespace {

using testing::ElementsAre;

struct Refusal {
  Code code;
  std::string message;
};

Refusal refusal(const OrderSpec& spec) {
  Result<std::unique_ptr<const Order>> order = Order::create(spec);
  if (order.is_ok()) return {Code::kOk, ""};
  return {order.status().code(), order.status().message()};
}

#define EXPECT_REFUSED(spec, expected_code, expected_text) \
  do {                                                     \
    const Refusal got = refusal(spec);                     \
    EXPECT_EQ(got.code, expected_code);                    \
    EXPECT_EQ(got.message, expected_text);                 \
  } while (false)

TEST(Order, WithoutShuffleIsFileOrderAndSaysThatItIsConsecutive) {
  const auto order = make_order(order_spec(10, Shuffle::kNone));
  EXPECT_EQ(order->slots(), 10);
  EXPECT_EQ(order->table_bytes(), 0);
  int64_t out[4];
  EXPECT_TRUE(order->samples(3, nullptr, 5, 4, out));
  EXPECT_THAT(out, ElementsAre(5, 6, 7, 8));
}

TEST(Order, OfNoSamplesHasNoSlotsAndNoTable) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kFull}) {
    const auto order = make_order(order_spec(0, shuffle));
    EXPECT_EQ(order->slots(), 0);
    EXPECT_EQ(order->table_bytes(), 0);
    EXPECT_EQ(order->table_steps(), 0);
  }
}

TEST(Order, OfOneSampleIsThatSample) {
  EXPECT_THAT(whole_epoch(*make_order(order_spec(1)), 7), ElementsAre(0));
}

TEST(Order, TakesTablesBelow65536SamplesAndNoneFromThereOn) {
  EXPECT_EQ(make_order(order_spec(65535))->table_bytes(), 131072);
  EXPECT_EQ(make_order(order_spec(65535))->table_steps(), 65534);
  EXPECT_EQ(make_order(order_spec(65536))->table_bytes(), 0);
  EXPECT_EQ(make_order(order_spec(int64_t{1} << 62))->slots(), int64_t{1} << 62);
}

TEST(Order, RefusesMoreThanTwoToThe62Samples) {
  EXPECT_EQ(refusal(order_spec((int64_t{1} << 62) + 1)).code, Code::kOutOfRange);
  EXPECT_EQ(refusal(order_spec(-1)).code, Code::kOutOfRange);
}

TEST(Order, GivenIndicesAreDeliveredAsTheyStandInEveryEpoch) {
  const std::vector<int64_t> indices = {3, 0, 3, 9, 1};
  OrderSpec spec = order_spec(10, Shuffle::kNone);
  spec.has_indices = true;
  spec.indices = indices;
  const auto order = make_order(spec);
  EXPECT_EQ(whole_epoch(*order, 0), indices);
  EXPECT_EQ(whole_epoch(*order, 41), indices);
}

TEST(Order, GivenIndicesMayBeNone) {
  OrderSpec spec = order_spec(10, Shuffle::kNone);
  spec.has_indices = true;
  EXPECT_EQ(make_order(spec)->slots(), 0);
}

TEST(Order, AnIndexOutOfRangeIsRefusedWithItsPlaceAndValue) {
  OrderSpec spec = order_spec(10, Shuffle::kNone);
  spec.has_indices = true;
  const std::vector<int64_t> beyond = {3, 10};
  spec.indices = beyond;
  EXPECT_REFUSED(spec, Code::kOutOfRange, "sample_indices[1]: expected 0 to 9, got 10");
  const std::vector<int64_t> negative = {3, 4, -1};
  spec.indices = negative;
  EXPECT_REFUSED(spec, Code::kOutOfRange, "sample_indices[2]: expected 0 to 9, got -1");
  spec.sample_count = 0;
  EXPECT_REFUSED(spec, Code::kOutOfRange, "sample_indices[0] is 3, but the dataset has no samples");
}

TEST(Order, ContradictingOptionsAreRefused) {
  const std::vector<int64_t> indices = {0};
  const std::vector<double> weights = {1};
  OrderSpec spec = order_spec(1, Shuffle::kFull);
  spec.has_indices = true;
  spec.indices = indices;
  EXPECT_REFUSED(spec, Code::kBadOption, "sample_indices and shuffle: set only one of the two");
  spec.shuffle = Shuffle::kNone;
  spec.weights = weights;
  EXPECT_REFUSED(spec, Code::kBadOption, "sample_indices and weights: set only one of the two");
  spec = order_spec(1, Shuffle::kFull);
  spec.weights = weights;
  EXPECT_REFUSED(spec, Code::kBadOption, "weights and shuffle: set only one of the two");
  spec = order_spec(1, Shuffle::kNone);
  spec.samples_per_epoch = 5;
  EXPECT_REFUSED(spec, Code::kBadOption, "samples_per_epoch=5 needs weights");
}

TEST(Order, AWrongWeightIsRefusedWithItsPlaceAndValue) {
  const double infinity = std::numeric_limits<double>::infinity();
  OrderSpec spec = order_spec(3, Shuffle::kNone);
  std::vector<double> weights = {1, 2, -0.5};
  spec.weights = weights;
  EXPECT_REFUSED(spec, Code::kOutOfRange, "weights[2]: expected a finite number >= 0, got -0.5");
  weights = {1, infinity, 1};
  EXPECT_REFUSED(spec, Code::kOutOfRange, "weights[1]: expected a finite number >= 0, got inf");
  weights = {std::nan(""), 1, 1};
  EXPECT_REFUSED(spec, Code::kOutOfRange, "weights[0]: expected a finite number >= 0, got nan");
  weights = {0, 0, -0.0};
  EXPECT_REFUSED(spec, Code::kOutOfRange, "weights: all 3 are 0, so nothing can be drawn");
  weights = {0, 1e-310, 0};  // denormal: counts as 0, whatever the host's floating-point mode
  EXPECT_REFUSED(spec, Code::kOutOfRange, "weights: all 3 are 0, so nothing can be drawn");
}

TEST(Order, AWrongCountOfWeightsOrDrawsIsRefusedWithBothNumbers) {
  const std::vector<double> weights = {1, 0, 2};
  OrderSpec spec = order_spec(4, Shuffle::kNone);
  spec.weights = weights;
  EXPECT_REFUSED(spec, Code::kBadOption, "weights: expected 4, one per sample, got 3");
  spec.sample_count = 3;
  spec.samples_per_epoch = 0;
  EXPECT_REFUSED(spec, Code::kBadOption, "samples_per_epoch: expected at least 1, got 0");
  spec.replacement = false;
  spec.samples_per_epoch = -1;
  EXPECT_REFUSED(spec, Code::kBadOption, "samples_per_epoch=3 without replacement: only 2 weights are not 0");
  spec.samples_per_epoch = 2;
  EXPECT_EQ(refusal(spec).code, Code::kOk);
}

TEST(Order, AnAliasTableThatDoesNotFitTheLimitIsRefused) {
  const std::vector<double> weights(1000, 1.0);
  OrderSpec spec = order_spec(1000, Shuffle::kNone);
  spec.memory = HostMemory::create(AllocatorTable{}, 4096);
  spec.weights = weights;
  EXPECT_EQ(refusal(spec).code, Code::kOverBudget);
}

TEST(Order, SeedAndEpochBothChangeTheOrder) {
  for (const int64_t n : {100, 100000}) {
    const auto order = make_order(order_spec(n, Shuffle::kFull, 5));
    const auto other_seed = make_order(order_spec(n, Shuffle::kFull, 6));
    EXPECT_EQ(slots_of(*order, 1, 0, 100), slots_of(*order, 1, 0, 100));
    EXPECT_NE(slots_of(*order, 1, 0, 100), slots_of(*order, 2, 0, 100));
    EXPECT_NE(slots_of(*order, 1, 0, 100), slots_of(*other_seed, 1, 0, 100));
    // A seed with its epochs is no shifted copy of its neighbour.
    EXPECT_NE(slots_of(*order, 1, 0, 100), slots_of(*other_seed, 0, 0, 100));
  }
}

TEST(Order, ATableIsReusedEpochAfterEpochWithoutATrace) {
  const std::vector<double> weights = {5, 0, 1, 2, 0.5, 3, 7};
  OrderSpec race = order_spec(7, Shuffle::kNone);
  race.weights = weights;
  race.replacement = false;
  race.samples_per_epoch = 6;
  for (const OrderSpec& spec : {order_spec(1000), race}) {
    const auto order = make_order(spec);
    TestTable table(*order);
    for (int64_t epoch = 0; epoch < 5; ++epoch) {
      table.build(*order, epoch);
      std::vector<int64_t> out(static_cast<size_t>(order->slots()));
      order->samples(epoch, &table.get(), 0, order->slots(), out.data());
      EXPECT_EQ(out, whole_epoch(*order, epoch));
    }
  }
}

TEST(RankSlots, PartsOfOneStepFollowEachOtherAndDifferByAtMostOne) {
  for (const int64_t world : {1, 2, 3, 7, 8, 64}) {
    for (const int64_t length : {0, 1, 5, 64, 500, 511}) {
      int64_t next = 1000;
      for (int64_t rank = 0; rank < world; ++rank) {
        const SlotRange part = rank_slots(1000, length, rank, world);
        EXPECT_EQ(part.begin, next);
        EXPECT_GE(part.count(), length / world);
        EXPECT_LE(part.count(), length / world + 1);
        next = part.end;
      }
      EXPECT_EQ(next, 1000 + length);
    }
  }
}

TEST(RankSlots, DoNotOverflowAtTheLargestSizes) {
  const int64_t slots = int64_t{1} << 62;
  const int64_t world = int64_t{1} << 31;
  EXPECT_EQ(rank_slots(0, slots, world - 1, world).end, slots);
  EXPECT_EQ(rank_slots(0, slots, 1, world).begin, slots / world);
}

}  // namespace
}  // namespace dataline::create_test
