// Slots while a thread captures a CUDA graph: no call of ours breaks a capture, whatever thread it is made on, and what a
// capture forbids is no loss of the device.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/device/capture_support.h"
#include "tests/device/slots_support.h"

namespace dataline::capture_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Captures = SlotTest;

// A garbage collector drops a batch inside `with torch.cuda.graph(...)`.
TEST_F(Captures, ABatchMayBeReleasedInACaptureOfAnotherStream) {
  for (const int mode : {kCaptureGlobal, kCaptureThreadLocal, kCaptureRelaxed}) {
    make(2);
    Consumer consumer;
    ASSERT_TRUE(send(0, 1).is_ok());
    ASSERT_TRUE(send(1, 2).is_ok());
    ASSERT_TRUE(slot(0).wait(consumer.stream()).is_ok());
    ASSERT_TRUE(slot(1).wait(consumer.stream()).is_ok());
    fake_cuda_drain();
    {
      Capturer capturer;
      capturer.begin(mode);
      slot(0).done();
      EXPECT_TRUE(slot(0).copies_done());
      ASSERT_TRUE(slot(1).release(consumer.stream()).is_ok());
      EXPECT_TRUE(slot(1).copies_done());
      EXPECT_EQ(capturer.end(), 0) << "in mode " << mode;
      EXPECT_EQ(capture_mode_now(), kCaptureGlobal) << "the thread's own mode is given back";
    }
    EXPECT_FALSE(device_->lost());
    end();
  }
}

// All that a loader does on its consumer's thread with num_workers=0.
TEST_F(Captures, EverythingThatALoaderDoesMayBeDoneInACapture) {
  Capturer capturer;
  capturer.begin();
  make(2);
  auto block = device_->make_block(kBytes);
  ASSERT_TRUE(block.is_ok()) << block.status().message();
  ASSERT_TRUE(block.value()->upload(0, host_->slot(0), kBytes).is_ok());
  ASSERT_TRUE(send(0, 1).is_ok());
  auto copy = device_->copy_slot(slot(0), kBytes);
  ASSERT_TRUE(copy.is_ok()) << copy.status().message();
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  copy.value().reset();
  block.value().reset();
  end();
  EXPECT_EQ(capturer.end(), 0);
}

TEST_F(Captures, OtherThreadsDoNotBreakAGlobalCapture) {
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  fake_cuda_drain();
  Capturer capturer;
  capturer.begin(kCaptureGlobal);
  std::thread([&] {
    EXPECT_TRUE(slot(0).copies_done());
    EXPECT_TRUE(send(0, 2).is_ok());
    EXPECT_TRUE(slot(0).wait_for_copies().is_ok());
    EXPECT_EQ(capture_mode_now(), kCaptureGlobal);
  }).join();
  EXPECT_EQ(capturer.end(), 0);
}

TEST_F(Captures, AThreadKeepsAModeOfItsOwn) {
  make(1);
  int mode = kCaptureThreadLocal;
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  EXPECT_EQ(capture_mode_now(), kCaptureThreadLocal);
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
}

// A driver may know more that is forbidden than its documentation says.
TEST_F(Captures, NoCodeOfACaptureIsALoss) {
  make(1);
  for (int32_t code = 900; code <= 908; ++code) {
    ASSERT_TRUE(send(0, 1).is_ok());
    fake_cuda_fail_name("cuEventQuery", 0, code, 1);
    EXPECT_FALSE(slot(0).copies_done()) << code << " is not now";
    fake_cuda_fail_name("cuEventSynchronize", 0, code, 1);
    EXPECT_THAT(slot(0).wait_for_copies().message(), HasSubstr(std::to_string(code)));
    ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
    EXPECT_TRUE(slot(0).copies_done());
    for (const char* call : {"cuMemcpyHtoDAsync", "cuEventRecord"}) {
      fake_cuda_fail_name(call, 0, code, 1);
      const Status sent = send(0, 2);
      EXPECT_EQ(sent.code(), Code::kWrongState) << call << ": " << sent.message();
      EXPECT_TRUE(slot(0).copies_done());
    }
    EXPECT_FALSE(device_->lost()) << code;
  }
}

// The slot's memory holds another batch when the graph runs, and a wait for READY would break the capture.
TEST_F(Captures, AWaitInAStreamThatIsCapturedIsRefusedByName) {
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  for (const unsigned flags : {0U, 1U}) {
    Capturer capturer(flags);
    for (const bool broken : {false, true}) {
      capturer.begin();
      if (broken) {
        ASSERT_EQ(cuStreamQuery(capturer.stream()), 900);
      }
      Status waited = slot(0).wait(capturer.stream());
      EXPECT_EQ(waited.code(), Code::kWrongState);
      EXPECT_THAT(waited.message(), AllOf(HasSubstr("stream 0x"), HasSubstr("captured into a CUDA graph")));
      // The legacy stream encompasses the blocking ones.
      waited = slot(0).wait(nullptr);
      EXPECT_EQ(waited.code(), flags == 0 ? Code::kWrongState : Code::kOk) << waited.message();
      EXPECT_EQ(capturer.end(), broken ? 901 : 0);
    }
    slot(0).done();
  }
}

// What the stream was given before the capture may still read the batch. Nothing can be ordered behind it until the capture
// is over; what is captured is not its matter.
TEST_F(Captures, ABatchReleasedInAStreamThatIsCapturedIsHeldUntilTheEnd) {
  for (const bool names_stream : {false, true}) {
    for (const bool breaks : {false, true}) {
      make(1);
      Capturer capturer;
      std::vector<std::byte> seen(kBytes);
      ASSERT_EQ(cuMemHostRegister(seen.data(), seen.size(), 0), 0);
      ASSERT_TRUE(send(0, 1).is_ok());
      ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
      ASSERT_TRUE(slot(0).wait(capturer.stream()).is_ok());
      fake_cuda_pause();
      ASSERT_EQ(cuMemcpyDtoHAsync(seen.data(), reinterpret_cast<CUdeviceptr>(slot(0).memory()), kBytes,
                                  capturer.stream()),
                0);
      capturer.begin();
      if (names_stream) {
        EXPECT_TRUE(slot(0).release(capturer.stream()).is_ok());
      }
      slot(0).done();
      EXPECT_FALSE(slot(0).settle());
      EXPECT_EQ(send(0, 2).code(), Code::kWrongState);
      if (breaks) {
        EXPECT_EQ(cuStreamQuery(capturer.stream()), 900);
        EXPECT_FALSE(slot(0).settle());
      }
      EXPECT_EQ(capturer.end(), breaks ? 901 : 0);
      EXPECT_TRUE(slot(0).settle());
      ASSERT_TRUE(send(0, 3).is_ok());
      fake_cuda_resume();
      ASSERT_EQ(cuStreamSynchronize(capturer.stream()), 0);
      EXPECT_THAT(seen, testing::Each(std::byte{1}));
      EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 0);
      ASSERT_EQ(cuMemHostUnregister(seen.data()), 0);
      end();
    }
  }
}

TEST_F(Captures, ALegacyStreamThatCannotBeUsedNowHoldsTheBatchToo) {
  make(1);
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait_for_copies().is_ok());
  ASSERT_TRUE(slot(0).wait(nullptr).is_ok());
  Capturer capturer(/*stream_flags=*/0);
  capturer.begin();
  slot(0).done();
  EXPECT_FALSE(slot(0).settle());
  EXPECT_EQ(capturer.end(), 0);
  EXPECT_TRUE(slot(0).settle());
  ASSERT_TRUE(send(0, 2).is_ok());
}

// Memory that nobody can tell to be free is not given back.
TEST_F(Captures, ALoaderThatEndsInACaptureLeavesWhatTheStreamMayRead) {
  make(2);
  Capturer capturer;
  ASSERT_TRUE(send(0, 1).is_ok());
  ASSERT_TRUE(slot(0).wait(capturer.stream()).is_ok());
  capturer.begin();
  end();
  EXPECT_EQ(capturer.end(), 0);
  EXPECT_EQ(fake_cuda_calls("cuCtxSynchronize"), 0);
  EXPECT_EQ(fake_cuda_live("allocations"), 1);
  expect_leaks();
}

}  // namespace
}  // namespace dataline::capture_test
