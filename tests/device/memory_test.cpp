// Device memory: what is missing is told, copies of batches, blocks, and the books.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/device_support.h"

namespace dataline::memory_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kBytes = 10'000;

class Memory : public FakeCuda {
 protected:
  void make() {
    device_ = open();
    ASSERT_EQ(device_->pin(host_.slot(0), host_.stride(), 2).take(), 2);
    slots_ = device_->make_slots(2, host_.stride()).take();
  }
  ~Memory() override {
    slots_.clear();
    if (device_ != nullptr) device_->unpin();
    device_.reset();
  }
  Status send(int64_t i, int value) {
    host_.fill(i, value);
    return slots_[static_cast<size_t>(i)]->send(host_.slot(i), whole(kBytes), {});
  }

  HostSlots host_{2, kBytes};
  std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

TEST_F(Memory, SlotsThatDoNotFitSayWhatIsNeededAndFree) {
  fake_cuda_devices(1, 100'000);
  auto device = open();
  auto block = device->make_block(30'720);
  ASSERT_TRUE(block.is_ok());
  const Status status = device->make_slots(8, 10'000).status();
  EXPECT_EQ(status.code(), Code::kNoMemory);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("cuda:0"), HasSubstr("batch slots"), HasSubstr("81920 bytes needed"),
                    HasSubstr("69280 of 100000 bytes are free")));
  EXPECT_FALSE(device->lost());
  EXPECT_THAT(device->make_block(70'144).status().message(), HasSubstr("70144 bytes needed"));
  auto slots = device->make_slots(6, 10'000);
  EXPECT_TRUE(slots.is_ok());
}

TEST_F(Memory, TheBooksSayWhatIsHeld) {
  make();
  EXPECT_EQ(device_->device_bytes(), 2 * 12'288);
  EXPECT_EQ(fake_cuda_used_bytes(0), 2 * 12'288);
  EXPECT_EQ(fake_cuda_live("allocations"), 1) << "one for all slots";
  {
    auto block = device_->make_block(1024).take();
    ASSERT_TRUE(send(0, 1).is_ok());
    auto copy = device_->copy_slot(*slots_[0], kBytes).take();
    EXPECT_EQ(device_->device_bytes(), 2 * 12'288 + 1024 + kBytes);
  }
  EXPECT_EQ(device_->device_bytes(), 2 * 12'288);
  slots_.clear();
  EXPECT_EQ(device_->device_bytes(), 0);
}

TEST_F(Memory, NothingIsAskedOfTheDriverInPiecesOfNoBytes) {
  make();
  EXPECT_TRUE(device_->make_slots(0, 100).value().empty());
  EXPECT_EQ(device_->make_slots(3, 0).value().size(), 3U);
  auto block = device_->make_block(0);
  ASSERT_TRUE(block.is_ok());
  EXPECT_TRUE(block.value()->upload(0, nullptr, 0).is_ok());
  ASSERT_TRUE(slots_[0]->send(host_.slot(0), {}, {}).is_ok());
  auto copy = device_->copy_slot(*slots_[0], 0);
  ASSERT_TRUE(copy.is_ok());
  EXPECT_TRUE(copy.value()->wait_for_copies().is_ok());
}

// A copy keeps what was sent, however soon the slot is sent anew; nothing waits on the host.
TEST_F(Memory, ACopyOfABatchOutlivesTheNextOneInItsSlot) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    make();
    fake_cuda_seed(seed);
    Consumer consumer;
    fake_cuda_pause();
    fake_cuda_hot_path(1);
    ASSERT_TRUE(send(0, 1).is_ok());
    auto made = device_->copy_slot(*slots_[0], kBytes);
    ASSERT_TRUE(made.is_ok()) << made.status().message();
    std::unique_ptr<DeviceSlot> copy = made.take();
    ASSERT_TRUE(slots_[0]->wait(consumer.stream()).is_ok());
    slots_[0]->done();
    fake_cuda_hot_path(0);
    fake_cuda_resume();
    ASSERT_TRUE(slots_[0]->wait_for_copies().is_ok());
    ASSERT_TRUE(send(0, 2).is_ok());
    EXPECT_EQ(consumer.value_of(*copy, kBytes), 1);
    EXPECT_EQ(consumer.value_of(*slots_[0], kBytes), 2);
    copy->done();
    copy.reset();
    slots_[0]->done();
    slots_.clear();
    device_->unpin();
    device_.reset();
    EXPECT_EQ(fake_cuda_live("allocations"), 0);
  }
}

TEST_F(Memory, ACopyIsFreedInStreamOrderWhileItsConsumerStillReads) {
  make();
  fake_cuda_seed(3);
  Consumer consumer;
  ASSERT_TRUE(send(0, 5).is_ok());
  auto copy = device_->copy_slot(*slots_[0], kBytes).take();
  ASSERT_TRUE(copy->wait(consumer.stream()).is_ok());
  std::vector<std::byte> seen(kBytes);
  fake_cuda_pause();
  consumer.read(copy->memory(), kBytes, seen.data());
  fake_cuda_hot_path(1);
  copy->done();
  copy.reset();
  fake_cuda_hot_path(0);
  EXPECT_EQ(fake_cuda_live("allocations"), 2) << "queued, not done";
  fake_cuda_resume();
  consumer.finish();
  EXPECT_THAT(seen, testing::Each(std::byte{5}));
}

TEST_F(Memory, CopiesWorkWithoutMemoryPools) {
  fake_cuda_memory_pools(0);
  make();
  Consumer consumer;
  ASSERT_TRUE(send(1, 6).is_ok());
  auto copy = device_->copy_slot(*slots_[1], kBytes).take();
  EXPECT_EQ(fake_cuda_calls("cuMemAllocAsync"), 0);
  EXPECT_EQ(consumer.value_of(*copy, kBytes), 6);
  copy->done();
}

TEST_F(Memory, ACopyThatDoesNotFitIsNoLoss) {
  fake_cuda_devices(1, 2 * 12'288 + 100);
  make();
  ASSERT_TRUE(send(0, 1).is_ok());
  const int64_t events = fake_cuda_live("events");
  for (int i = 0; i < 3; ++i) {
    const Status status = device_->copy_slot(*slots_[0], kBytes).status();
    EXPECT_EQ(status.code(), Code::kNoMemory);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("max_leases"), HasSubstr("10000 bytes needed, 100 of")));
  }
  EXPECT_EQ(fake_cuda_live("events"), events);
  EXPECT_FALSE(device_->lost());
}

TEST_F(Memory, WhatIsUploadedToABlockIsThereWhenTheCallReturns) {
  make();
  fake_cuda_seed(8);
  std::vector<std::byte> from(3 * 4096);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 253);
  auto block = device_->make_block(static_cast<int64_t>(from.size())).take();
  ASSERT_TRUE(block->upload(0, from.data(), 5000).is_ok());
  ASSERT_TRUE(block->upload(5000, from.data() + 5000, static_cast<int64_t>(from.size()) - 5000).is_ok());
  EXPECT_EQ(fake_cuda_pending(), 0);
  Consumer consumer;
  std::vector<std::byte> seen(from.size());
  consumer.read(block->memory(), seen.size(), seen.data());
  consumer.finish();
  EXPECT_EQ(seen, from);
}

TEST_F(Memory, AFailedUploadIsAnError) {
  expect_leaks();
  make();
  auto block = device_->make_block(100).take();
  fake_cuda_fail_name("cuMemcpyHtoDAsync", 0, 801, 1);
  EXPECT_EQ(block->upload(0, host_.slot(0), 100).code(), Code::kInternal);
  EXPECT_FALSE(device_->lost());
  EXPECT_TRUE(block->upload(0, host_.slot(0), 100).is_ok());
  // What is queued and cannot be waited for is still under way.
  fake_cuda_fail_name("cuStreamSynchronize", 0, 801, 1);
  EXPECT_EQ(block->upload(0, host_.slot(0), 100).code(), Code::kDeviceLost);
  EXPECT_TRUE(device_->lost());
  fake_cuda_reset();  // before the host memory goes
}

}  // namespace
}  // namespace dataline::memory_test
