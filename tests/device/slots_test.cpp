// Slots and their events: what is sent arrives, whoever waits sees it, nothing is rewritten too early, nothing waits on
// the host. SPDX-License-Identifier: Apache-2.0
#include <random>
#include <thread>

#include "tests/device/slots_support.h"

namespace dataline::slots_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Slots = SlotTest;

TEST_F(Slots, WhatIsSentIsWhatTheConsumersStreamReads) {
  make(2);
  Consumer consumer;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(send(i, 7 + i).is_ok());
    EXPECT_EQ(consumer.value_of(slot(i), kBytes), 7 + i);
    slot(i).done();
  }
}

TEST_F(Slots, OnlyTheRangesCross) {
  make(1);
  Consumer consumer;
  host_->fill(0, 1);
  const std::vector<CopyRange> ranges{{100, 50}, {200, 0}, {300, 8}};
  ASSERT_TRUE(slot(0).send(host_->slot(0), ranges, {}).is_ok());
  ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
  std::vector<std::byte> seen(400);
  consumer.read(slot(0).memory(), seen.size(), seen.data());
  consumer.finish();
  for (size_t i = 0; i < seen.size(); ++i) {
    const bool sent = (i >= 100 && i < 150) || (i >= 300 && i < 308);
    EXPECT_EQ(static_cast<int>(seen[i]), sent ? 1 : 0xA5) << i;
  }
  EXPECT_EQ(fake_cuda_calls("cuMemcpyHtoDAsync"), 2);
  slot(0).done();
}

TEST_F(Slots, SentTellsWhenTheHostMayRefill) {
  make(1);
  EXPECT_TRUE(slot(0).copies_done()) << "nothing was sent";
  fake_cuda_pause();
  ASSERT_TRUE(send(0, 1).is_ok());
  EXPECT_FALSE(slot(0).copies_done());
  fake_cuda_step(1);  // the copy alone
  EXPECT_FALSE(slot(0).copies_done());
  fake_cuda_resume();
  EXPECT_TRUE(slot(0).wait_for_copies().is_ok());
  EXPECT_TRUE(slot(0).copies_done());
  const DeviceThread here = worker();
  const int64_t calls = fake_cuda_calls(nullptr);
  EXPECT_TRUE(bare(0).copies_done());
  EXPECT_TRUE(bare(0).wait_for_copies().is_ok());
  EXPECT_EQ(fake_cuda_calls(nullptr), calls) << "what is known is not asked again";
}

// The side stream, not the host, waits for DONE: send() returns while the consumer still reads.
TEST_F(Slots, ARefillWaitsInTheStreamForEveryConsumer) {
  for (const uint64_t seed : {0U, 1U, 2U, 3U}) {
    make(1);
    fake_cuda_seed(seed);
    Consumer one, two;
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    std::vector<std::byte> first(kBytes), second(kBytes);
    const int64_t records = fake_cuda_calls("cuEventRecord");
    fake_cuda_pause();
    for (Consumer* consumer : {&one, &two}) {
      ASSERT_TRUE(slot(0).wait(consumer->stream()).is_ok());
      consumer->read(slot(0).memory(), kBytes, consumer == &one ? first.data() : second.data());
    }
    ASSERT_TRUE(slot(0).release(one.stream()).is_ok());
    slot(0).done();  // for two
    EXPECT_EQ(fake_cuda_calls("cuEventRecord") - records, 2);
    ASSERT_TRUE(send(0, 2).is_ok());
    fake_cuda_resume();
    one.finish();
    two.finish();
    EXPECT_THAT(first, testing::Each(std::byte{1}));
    EXPECT_THAT(second, testing::Each(std::byte{1}));
    EXPECT_EQ(one.value_of(slot(0), kBytes), 2);
    slot(0).done();
    end();
  }
}

// Several epochs of a job with two consumers, one of which takes a batch beside the other; delays by seed.
TEST_F(Slots, ManyBatchesUnderRandomDelaysAreRight) {
  constexpr int64_t kSlots = 3, kBatches = 40;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    make(kSlots);
    fake_cuda_seed(seed);
    Consumer one, two;
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::byte>> seen(kBatches, std::vector<std::byte>(kBytes));
    for (int64_t batch = 0; batch < kBatches; ++batch) {
      const int64_t i = batch % kSlots;
      if (!slot(i).copies_done()) {
        ASSERT_TRUE(slot(i).wait_for_copies().is_ok());
      }
      fake_cuda_hot_path(1);
      ASSERT_TRUE(send(i, static_cast<int>(batch % 251)).is_ok());
      Consumer& consumer = random() % 2 == 0 ? one : two;
      ASSERT_TRUE(slot(i).wait(consumer.stream()).is_ok());
      fake_cuda_hot_path(0);
      consumer.read(slot(i).memory(), kBytes, seen[static_cast<size_t>(batch)].data());
      fake_cuda_hot_path(1);
      if (random() % 2 == 0) {
        ASSERT_TRUE(slot(i).release(consumer.stream()).is_ok());
      }
      slot(i).done();
      fake_cuda_hot_path(0);
    }
    one.finish();
    two.finish();
    for (int64_t batch = 0; batch < kBatches; ++batch)
      ASSERT_THAT(seen[static_cast<size_t>(batch)], testing::Each(static_cast<std::byte>(batch % 251)))
          << batch;
    EXPECT_THAT(misuses(), IsEmpty());
    end();
  }
}

TEST_F(Slots, SteadyStateMakesNoObjectsAndCallsLittle) {
  make(2);
  Consumer consumer;
  const auto batch = [&](int64_t i) {
    ASSERT_TRUE(slot(i).wait_for_copies().is_ok());
    fake_cuda_hot_path(1);
    ASSERT_TRUE(send(i, 1).is_ok());
    ASSERT_TRUE(slot(i).wait(consumer.stream()).is_ok());
    slot(i).done();
    fake_cuda_hot_path(0);
  };
  for (int64_t i = 0; i < 4; ++i) batch(i % 2);
  const int64_t events = fake_cuda_live("events");
  const int64_t created = fake_cuda_calls("cuEventCreate");
  for (int64_t i = 0; i < 2; ++i) ASSERT_TRUE(slot(i).wait_for_copies().is_ok());

  fake_cuda_pause();  // so that READY has not happened when the consumer waits: the dearest case
  int64_t calls = 0;
  const auto count = [&] {
    return fake_cuda_calls(nullptr) - std::exchange(calls, fake_cuda_calls(nullptr));
  };
  {
    const DeviceThread here = worker();
    host_->fill(0, 2);
    count();
    ASSERT_TRUE(bare(0).send(host_->slot(0), whole(kBytes), {}).is_ok());
    EXPECT_EQ(count(), 3) << "wait DONE, copy, record";
    EXPECT_FALSE(bare(0).copies_done());
    EXPECT_EQ(count(), 1) << "query";
  }
  // A consumer that uses the runtime has the context current.
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  count();
  ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
  EXPECT_EQ(count(), 4) << "get, captured, which, wait";
  slot(0).done();
  EXPECT_EQ(count(), 4) << "get, captured, which, record";
  ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
  fake_cuda_resume();

  for (int64_t i = 0; i < 100; ++i) batch(i % 2);
  EXPECT_EQ(fake_cuda_calls("cuEventCreate"), created);
  EXPECT_EQ(fake_cuda_live("events"), events);
}

TEST_F(Slots, AStreamThatWaitsTwiceIsOneUser) {
  make(1);
  Consumer consumer;
  ASSERT_TRUE(send(0, 1).is_ok());
  const int64_t records = fake_cuda_calls("cuEventRecord");
  ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
  ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
  ASSERT_TRUE(slot(0).release(consumer.stream()).is_ok());
  slot(0).done();
  slot(0).done();
  EXPECT_EQ(fake_cuda_calls("cuEventRecord") - records, 1);
  EXPECT_EQ(fake_cuda_calls("cuStreamWaitEvent"), 2);
}

TEST_F(Slots, DefaultStreamsAreStreams) {
  make(1);
  for (const uintptr_t handle : {0U, 1U, 2U}) {
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(slot(0).wait(reinterpret_cast<void*>(handle)).is_ok());
    slot(0).done();
  }
  EXPECT_EQ(fake_cuda_calls("cuStreamWaitEvent"), 3 + 2);  // READY each time, DONE of the batch before
}

// A consumer that destroys its stream and only then releases: nobody can record DONE there, so the host waits once.
TEST_F(Slots, AStreamDestroyedBeforeTheReleaseIsWaitedForByTheHost) {
  fake_cuda_only();  // a real driver may follow a dead handle
  expect_misuse();   // the stream is no more when DONE is to be recorded
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  {
    Consumer consumer;
    ASSERT_EQ(consumer.value_of(slot(0), kBytes), 1);
  }
  slot(0).done();
  EXPECT_THAT(misuses(), testing::ElementsAre(HasSubstr("unknown-stream")));
  EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 0);
  ASSERT_TRUE(send(0, 2).is_ok());
  EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 1);
  EXPECT_FALSE(device_->lost());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  ASSERT_TRUE(send(0, 3).is_ok());
  EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 1);
}

TEST_F(Slots, ALeaseOutlivesTheLoader) {
  make(2);
  Consumer consumer;
  ASSERT_TRUE(send(1, 9).is_ok());
  slots_.erase(slots_.begin());
  device_->unpin();
  device_.reset();
  host_.reset();
  EXPECT_EQ(consumer.value_of(slot(0), kBytes), 9);
  slot(0).done();
  slots_.clear();
  EXPECT_EQ(fake_cuda_live("allocations"), 0);
}

TEST_F(Slots, DestroyingWaitsForAConsumerThatStillReads) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    make(2);
    fake_cuda_seed(seed);
    Consumer consumer;
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
    std::vector<std::byte> seen(kBytes);
    consumer.read(slot(0).memory(), kBytes, seen.data());
    slots_.clear();  // without done(): as if the last reference went with it
    consumer.finish();
    EXPECT_THAT(seen, testing::Each(std::byte{1}));
    end();
  }
}

TEST_F(Slots, SeveralWorkersSendAtOnce) {
  constexpr int64_t kWorkers = 4, kRounds = 25;
  make(kWorkers);
  fake_cuda_seed(77);
  Consumer consumer;
  std::vector<std::thread> workers;
  for (int64_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(slot(w).wait_for_copies().is_ok());
        EXPECT_TRUE(send(w, round + 1).is_ok());
        EXPECT_TRUE(slot(w).wait(consumer.stream()).is_ok());
        slot(w).done();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (int64_t w = 0; w < kWorkers; ++w) {
    EXPECT_EQ(consumer.value_of(slot(w), kBytes), kRounds);
    slot(w).done();
  }
}

}  // namespace
}  // namespace dataline::slots_test
