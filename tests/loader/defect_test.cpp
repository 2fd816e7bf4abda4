// A loader whose own bookkeeping is wrong says so and delivers nothing more: what it would deliver cannot be trusted.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <set>
#include <thread>

#include "core/batch/slot.h"
#include "tests/support/job.h"

namespace dataline::tests::defect_test {
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

// Memory of the host for copies: none until it is told of a slot, which then goes wrong while its batch is copied.
struct MemoryThatSpoils {
  Slot* slot = nullptr;
  bool refuses = false;

  static void* allocate(void* context, size_t bytes, size_t alignment, int32_t kind) {
    auto* self = static_cast<MemoryThatSpoils*>(context);
    if (kind == DL_MEMORY_OVERFLOW) {
      if (self->slot == nullptr) return nullptr;
      EXPECT_TRUE(self->slot->go(SlotState::kLeased, SlotState::kDraining));
      if (self->refuses) return nullptr;
    }
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
};

TEST_F(Defect, ASlotThatGoesWrongWhileItsBatchIsCopiedEndsTheLoaderToo) {
  for (bool refuses : {false, true}) {
    MemoryThatSpoils memory;
    dl_allocator table = {};
    table.struct_size = sizeof table;
    table.context = &memory;
    table.allocate = &MemoryThatSpoils::allocate;
    table.release = [](void*, void* block, size_t, size_t, int32_t) { std::free(block); };
    const Options options = make_options({{"batch_size", "10"}, {"num_workers", "0"}, {"max_leases", "1"}});
    Error error;
    ASSERT_EQ(dl_options_set_allocator(options.get(), &table, &error), DL_OK);
    dl_loader* made = nullptr;
    ASSERT_EQ(dl_loader_create(counting_dataset(1000).get(), options.get(), &made, &error), DL_OK);
    const Loader loader(made);
    // Of the two slots each holds one batch after the other: the third is in the first one's.
    Delivered held = next(loader);
    Slot* const first = &slot_of(held);
    ASSERT_EQ(next(loader).status, DL_ERR_NO_MEMORY);
    held.batch.reset();
    held = next(loader);
    ASSERT_NE(&slot_of(held), first);
    memory.slot = first, memory.refuses = refuses;
    EXPECT_EQ(next(loader).status, DL_ERR_INTERNAL) << refuses;
    EXPECT_EQ(stats_of(loader).batches, 2) << "it was not delivered";
  }
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
}  // namespace dataline::tests::defect_test
