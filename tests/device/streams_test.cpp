// Whose stream a handle is: destroyed ones, handles that come back as another stream, and the default streams.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <thread>

#include "tests/device/slots_support.h"

namespace dataline::streams_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class Streams : public SlotTest {
 protected:
  // Makes device 0's context current for the whole test.
  Streams() {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), 0);
    EXPECT_EQ(cuCtxPushCurrent(context_), 0);
    EXPECT_EQ(cuMemHostRegister(seen_.slot(0), kBytes, 0), 0);
  }
  ~Streams() override {
    end();
    EXPECT_EQ(cuMemHostUnregister(seen_.slot(0)), 0);
    EXPECT_EQ(cuCtxPopCurrent(&context_), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), 0);
  }
  static CUstream make_stream() {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, 1), 0);
    return stream;
  }
  // Queues the read of a slot, whose bytes are then in seen().
  void read(int64_t i, CUstream stream) {
    EXPECT_EQ(
        cuMemcpyDtoHAsync(seen_.slot(0), reinterpret_cast<CUdeviceptr>(slot(i).memory()), kBytes, stream), 0);
  }
  std::vector<std::byte> seen() { return {seen_.slot(0), seen_.slot(0) + kBytes}; }

  CUcontext context_ = nullptr;
  HostSlots seen_{1, kBytes};
};

// What calls on a dead stream say is of the stream: the driver's 709 too, which from any other call is the end.
TEST_F(Streams, ADestroyedStreamIsNoLossOfTheDevice) {
  expect_misuse();
  for (const int32_t code : {709, 400}) {
    make(1);
    fake_cuda_dead_streams(code);
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    CUstream stream = make_stream();
    ASSERT_TRUE(slot(0).wait(stream).is_ok());
    ASSERT_EQ(cuStreamDestroy(stream), 0);
    const auto is_told = AllOf(HasSubstr("(" + std::to_string(code) + ")"), HasSubstr("the stream"));
    const Status waited = slot(0).wait(stream);
    EXPECT_EQ(waited.code(), Code::kInvalidArgument);
    EXPECT_THAT(waited.message(), is_told);
    const Status released = slot(0).release(stream);
    EXPECT_EQ(released.code(), Code::kInvalidArgument);
    EXPECT_THAT(released.message(), is_told);
    slot(0).done();
    EXPECT_TRUE(slot(0).settle());
    EXPECT_FALSE(device_->lost()) << code;
    const int64_t syncs = fake_cuda_calls("cuCtxSynchronize");
    ASSERT_TRUE(send(0, 2).is_ok());
    EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize") - syncs, 1) << "what it was given is waited for";
    end();
  }
}

TEST_F(Streams, AReleaseInADeadStreamIsWaitedForEvenIfItNeverWaited) {
  fake_cuda_only();  // a real driver may follow a dead handle
  expect_misuse();
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  CUstream stream = make_stream();
  ASSERT_EQ(cuStreamDestroy(stream), 0);
  EXPECT_EQ(slot(0).release(stream).code(), Code::kInvalidArgument);
  slot(0).done();
  ASSERT_TRUE(send(0, 2).is_ok());
  EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 1);
}

// Drivers give a handle out again at once, while the old stream still works (rmm#649): two DONEs.
TEST_F(Streams, AReleaseInANewStreamOfAnOldHandleDoesNotReplaceTheOldOnes) {
  make(1);
  fake_cuda_reuse_streams(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  CUstream old_one = make_stream();
  ASSERT_TRUE(slot(0).wait(old_one).is_ok());
  fake_cuda_pause();
  read(0, old_one);
  ASSERT_TRUE(slot(0).release(old_one).is_ok());
  ASSERT_EQ(cuStreamDestroy(old_one), 0);  // what is queued still runs
  CUstream new_one = make_stream();
  ASSERT_EQ(new_one, old_one);
  ASSERT_TRUE(slot(0).wait(new_one).is_ok());
  slot(0).done();
  ASSERT_TRUE(send(0, 2).is_ok());
  fake_cuda_resume();
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  EXPECT_THAT(seen(), Each(std::byte{1}));
  ASSERT_EQ(cuStreamDestroy(new_one), 0);
}

// A stream must live until its batches are released; who does not know that reads right bytes all the same.
TEST_F(Streams, ANewStreamOfAnOldHandleDoesNotStandForAnUnreleasedOne) {
  for (const bool waits : {false, true}) {
    make(1);
    fake_cuda_reuse_streams(1);
    ASSERT_TRUE(send(0, 1).is_ok());
    CUstream old_one = make_stream();
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    ASSERT_TRUE(slot(0).wait(old_one).is_ok());
    read(0, old_one);
    ASSERT_EQ(cuStreamDestroy(old_one), 0);
    CUstream new_one = make_stream();
    ASSERT_EQ(new_one, old_one);
    if (waits) {
      ASSERT_TRUE(slot(0).wait(new_one).is_ok());
    }
    slot(0).done();
    const int64_t syncs = fake_cuda_calls("cuCtxSynchronize");
    ASSERT_TRUE(send(0, 2).is_ok());
    EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize") - syncs, 1);
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    EXPECT_THAT(seen(), Each(std::byte{1}));
    ASSERT_EQ(cuStreamDestroy(new_one), 0);
    end();
  }
}

const auto kPerThread = reinterpret_cast<CUstream>(uintptr_t{2});

// Handle 2 means the stream of whoever calls. A batch that one thread reads is released by another: a queue of batches, a
// garbage collector.
TEST_F(Streams, AThreadsOwnStreamIsWaitedForWhoeverReleases) {
  enum class Way { kDone, kReleaseOn, kBothRelease };
  for (const Way way : {Way::kDone, Way::kReleaseOn, Way::kBothRelease}) {
    make(1);
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    fake_cuda_pause();
    std::thread([&] {
      ASSERT_EQ(cuCtxSetCurrent(context_), 0);
      ASSERT_TRUE(slot(0).wait(kPerThread).is_ok());
      read(0, kPerThread);
      if (way == Way::kBothRelease) {
        ASSERT_TRUE(slot(0).release(kPerThread).is_ok());
      }
    }).join();
    if (way != Way::kDone) {
      ASSERT_TRUE(slot(0).release(kPerThread).is_ok());
    }
    slot(0).done();
    ASSERT_TRUE(send(0, 2).is_ok());
    fake_cuda_resume();
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    EXPECT_THAT(seen(), Each(std::byte{1})) << static_cast<int>(way);
    EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 0);
    end();
  }
}

// What the batch is complete for is the stream of the thread that waits.
TEST_F(Streams, AThreadsOwnStreamWaitsForTheBatch) {
  make(1);
  fake_cuda_pause();
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait(kPerThread).is_ok());
  read(0, kPerThread);
  slot(0).done();
  fake_cuda_resume();
  ASSERT_EQ(cuStreamSynchronize(kPerThread), 0);
  EXPECT_THAT(seen(), Each(std::byte{1}));
}

TEST_F(Streams, TheLegacyStreamHasTwoHandles) {
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  const int64_t records = fake_cuda_calls("cuEventRecord");
  ASSERT_TRUE(slot(0).wait(nullptr).is_ok());
  ASSERT_TRUE(slot(0).wait(reinterpret_cast<void*>(uintptr_t{1})).is_ok());
  slot(0).done();
  EXPECT_EQ(fake_cuda_calls("cuEventRecord") - records, 1);
}

// A tensor of DLPack's with stream=-1: its consumer reads in some stream of its own.
TEST_F(Streams, ABatchThatWasPassedOnIsNotRewrittenBeforeABlockingStreamHasReadIt) {
  make(1);
  Consumer consumer;
  std::vector<std::byte> seen(kBytes);
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  fake_cuda_pause();
  const int64_t calls = fake_cuda_calls(nullptr);
  slot(0).passed_on();
  EXPECT_EQ(fake_cuda_calls(nullptr), calls);
  consumer.read(slot(0).memory(), kBytes, seen.data());
  slot(0).done();
  host_->fill(0, 2);
  ASSERT_TRUE(slot(0).send(host_->slot(0), whole(kBytes), {}).is_ok());
  fake_cuda_resume();
  consumer.finish();
  EXPECT_THAT(seen, testing::Each(std::byte{1}));
}

TEST_F(Streams, AStreamThatIsNamedStandsForItself) {
  make(1);
  Consumer consumer;
  for (const bool before : {true, false}) {
    ASSERT_TRUE(send(0, 1).is_ok());
    if (!before) slot(0).passed_on();
    ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
    if (before) slot(0).passed_on();
    const int64_t records = fake_cuda_calls("cuEventRecord");
    slot(0).done();
    EXPECT_EQ(fake_cuda_calls("cuEventRecord") - records, 1) << before;
    consumer.finish();  // the copy has read the host's memory, which the next send fills
  }
}

}  // namespace
}  // namespace dataline::streams_test
