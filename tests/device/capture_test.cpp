// Slots while a thread captures a CUDA graph: no call of ours breaks a capture, whatever thread it is made on, and what a
// capture forbids is no loss of the device.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/device/capture_support.h"
#include "tests/device/slots_support.h"

namespace dataline {
namespace {

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

}  // namespace
}  // namespace dataline
