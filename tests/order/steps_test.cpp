// How many rows steps have: over all ranks, on a rank, by bucket.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/order/step_config.h"

namespace dataline::steps_test {
namespace {

using ::testing::ElementsAre;

StepConfig job(int64_t global_batch, LastBatch last, int64_t rank = 0, int64_t world_size = 1) {
  return {{global_batch}, last, rank, world_size};
}

Steps cut(StepConfig config, int64_t slots) {
  Steps steps(std::move(config));
  steps.cut(slots);
  return steps;
}

// Two groups of 5 and 3 slots, in steps of 2 and 3 rows; the last piece comes first.
class TwoGroups final : public StepOrder {
 public:
  const std::vector<SlotGroup>& groups() const override { return groups_; }
  int64_t piece(int64_t, int64_t step) const override { return 3 - step; }

 private:
  std::vector<SlotGroup> groups_ = {{0, 5, 2}, {6, 3, 3}};
};

TEST(Steps, AnswerTheRowsOfAFullStepBeforeTheyAreCut) {
  const Steps steps(job(10, LastBatch::kKeep, 1, 4));
  EXPECT_EQ(steps.global_batch(), 10);
  EXPECT_THAT(steps.global_batches(), ElementsAre(10));
  EXPECT_EQ(steps.all_rows().begin, 0);
  EXPECT_EQ(steps.all_rows().end, 10);
  EXPECT_EQ(steps.rank_rows().begin, 2);
  EXPECT_EQ(steps.rank_rows().end, 5);
  EXPECT_EQ(steps.count(), 0);
}

TEST(Steps, CutWhatFollowsAndKeepTheShortStep) {
  const Steps steps = cut(job(4, LastBatch::kKeep), 10);
  EXPECT_EQ(steps.count(), 3);
  EXPECT_EQ(steps.rows_before(2), 8);
  EXPECT_EQ(steps.step(0, 1).first_slot, 4);
  EXPECT_EQ(steps.step(0, 2).rows, 2);
  EXPECT_EQ(steps.max_rows(), 4);
}

TEST(Steps, OfPadsAreFullAndTheRowsBeyondTheSlotsAreNotValid) {
  const StepRange last = cut(job(4, LastBatch::kPad), 10).step(0, 2);
  EXPECT_EQ(last.rows, 4);
  EXPECT_EQ(last.valid, 2);
}

TEST(Steps, CountTheDroppedSlotsOfARank) {
  int64_t dropped = 0;
  for (int64_t rank = 0; rank < 3; ++rank) dropped += cut(job(4, LastBatch::kDrop, rank, 3), 11).dropped();
  EXPECT_EQ(dropped, 3);
  EXPECT_EQ(cut(job(4, LastBatch::kDrop, 0, 3), 11).count(), 2);
}

TEST(Steps, HaveFixedRowsWhereNoStepIsShortAndTheRanksShareEqually) {
  EXPECT_TRUE(Steps(job(6, LastBatch::kPad, 0, 3)).rows_are_fixed());
  EXPECT_TRUE(Steps(job(6, LastBatch::kDrop, 0, 3)).rows_are_fixed());
  EXPECT_FALSE(Steps(job(6, LastBatch::kKeep, 0, 3)).rows_are_fixed());
  EXPECT_FALSE(Steps(job(7, LastBatch::kPad, 0, 3)).rows_are_fixed());
  EXPECT_FALSE(Steps(StepConfig{{6, 6}, LastBatch::kPad}).rows_are_fixed()) << "the buckets decide";
}

TEST(Steps, OfGroupsTakeTheirRowsAndTheirPlaceFromTheOrder) {
  Steps steps(StepConfig{{2, 3}, LastBatch::kKeep});
  steps.cut(std::make_shared<TwoGroups>());
  EXPECT_THAT(steps.global_batches(), ElementsAre(2, 3));
  EXPECT_EQ(steps.count(), 4);
  EXPECT_EQ(steps.slots(), 8);
  EXPECT_EQ(steps.max_rows(0), 2);
  EXPECT_EQ(steps.max_rows(1), 3);
  EXPECT_EQ(steps.step(0, 0).group, 1);
  EXPECT_EQ(steps.step(0, 0).first_slot, 6);
  EXPECT_EQ(steps.step(0, 1).first_slot, 4);
  EXPECT_EQ(steps.step(0, 1).rows, 1) << "the short step of the first group";
}

}  // namespace
}  // namespace dataline::steps_test
