// A loader whose own bookkeeping is wrong says so and delivers nothing more: what it would deliver cannot be trusted.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <thread>

#include "core/batch/slot.h"
#include "tests/support/job.h"

namespace dataline::testing {
namespace {

// Only from within: no call of a host's can bring it about.
Slot& slot_of(const Delivered& delivered) {
  return static_cast<Slot&>(*reinterpret_cast<dataline::Batch*>(delivered.batch.get()));
}

class Defect : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kStopsAtDefects) GTEST_SKIP() << "this build stops there: batch_slot";
  }
};

TEST_F(Defect, ASlotInAWrongStateEndsTheLoaderWithAnInternalError) {
  for (const char* workers : {"0", "2"}) {
    Dataset dataset = counting_dataset(1000);
    Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}});
    Delivered held = next(loader);
    ASSERT_TRUE(slot_of(held).go(SlotState::kLeased, SlotState::kDraining)) << "as if it had been given back";
    held.batch.reset();
    for (int again = 0; again < 2; ++again) {
      const Delivered got = next(loader);
      EXPECT_EQ(got.status, DL_ERR_INTERNAL) << workers;
      EXPECT_NE(got.message.find("can only be destroyed"), std::string::npos) << got.message;
    }
    Error error;
    EXPECT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
    EXPECT_EQ(next(loader).status, DL_ERR_INTERNAL) << "for good";
  }
}

TEST_F(Defect, AConsumerThatWaitsIsTold) {
  Dataset dataset = counting_dataset(1000);
  Loader loader = make_loader(
      dataset, {{"batch_size", "10"}, {"num_workers", "1"}, {"max_leases", "1"}, {"lease_overflow", "wait"}});
  Delivered held = next(loader);
  ASSERT_TRUE(slot_of(held).go(SlotState::kLeased, SlotState::kDraining));
  EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
  std::thread releaser([&] { held.batch.reset(); });
  EXPECT_EQ(next(loader).status, DL_ERR_INTERNAL);
  releaser.join();
}

TEST_F(Defect, ASlotThatHoldsAnotherBatchThanTheHeadIsNotDelivered) {
  Dataset dataset = counting_dataset(1000);
  Loader loader = make_loader(
      dataset, {{"batch_size", "10"}, {"num_workers", "1"}, {"prefetch_depth", "1"}, {"max_leases", "2"}});
  std::set<Slot*> slots;
  {
    const Delivered first = next(loader), second = next(loader);
    slots = {&slot_of(first), &slot_of(second)};
  }
  slots.insert(&slot_of(next(loader)));  // the third slot, if the worker has begun it meanwhile
  while (stats_of(loader).ready_batches == 0) std::this_thread::yield();
  for (Slot* slot : slots) slot->sequence += slot->state() == SlotState::kReady ? 1 : 0;
  EXPECT_EQ(next(loader).status, DL_ERR_INTERNAL);
}

}  // namespace
}  // namespace dataline::testing
