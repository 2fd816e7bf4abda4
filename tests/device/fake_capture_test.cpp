// The fake driver's captures: what a real driver does with calls that are made in one, or beside one.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>
#include <thread>

#include "tests/device/capture_support.h"
#include "tests/device/device_support.h"

namespace dataline::fake_capture_test {
namespace {

class FakeCapture : public FakeCuda {
 protected:
  FakeCapture() : capturer_(std::in_place) {
    EXPECT_EQ(cuStreamCreate(&other_, 1), 0);
    EXPECT_EQ(cuStreamCreate(&blocking_, 0), 0);
    EXPECT_EQ(cuEventCreate(&event_, 2), 0);
    EXPECT_EQ(cuEventRecord(event_, other_), 0);
    EXPECT_EQ(cuEventSynchronize(event_), 0);
  }
  ~FakeCapture() override {
    EXPECT_EQ(cuEventDestroy(event_), 0);
    EXPECT_EQ(cuStreamDestroy(other_), 0);
    EXPECT_EQ(cuStreamDestroy(blocking_), 0);
    capturer_.reset();
  }
  CUstream captured() const { return capturer_->stream(); }
  void expect_in_capture(const std::function<int()>& call, int code, int end, int mode = kCaptureGlobal) {
    capturer_->begin(mode);
    EXPECT_EQ(call(), code);
    EXPECT_EQ(capturer_->end(), end);
  }

  std::optional<Capturer> capturer_;
  CUstream other_ = nullptr, blocking_ = nullptr;
  CUevent event_ = nullptr;
};

TEST_F(FakeCapture, WhatIsCapturedDoesNotRunAndIsAskedFor) {
  int status = -1;
  EXPECT_EQ(cuStreamIsCapturing(captured(), &status), 0);
  EXPECT_EQ(status, 0);
  capturer_->begin();
  EXPECT_EQ(cuStreamIsCapturing(captured(), &status), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(cuEventRecord(event_, captured()), 0);
  EXPECT_EQ(fake_cuda_pending(), 0);
  EXPECT_EQ(capturer_->end(), 0);
  EXPECT_EQ(cuStreamIsCapturing(captured(), &status), 0);
  EXPECT_EQ(status, 0);
}

TEST_F(FakeCapture, UnsafeCallsBreakItUnlessTheThreadIsRelaxed) {
  const auto query = [&] { return cuEventQuery(event_); };
  expect_in_capture(query, 900, 901, kCaptureGlobal);
  expect_in_capture(query, 900, 901, kCaptureThreadLocal);
  expect_in_capture(query, 0, 0, kCaptureRelaxed);
  int mode = kCaptureRelaxed;
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(mode, kCaptureGlobal);
  expect_in_capture(query, 0, 0, kCaptureGlobal);
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(mode, kCaptureRelaxed);
}

TEST_F(FakeCapture, OtherThreadsBreakAGlobalOne) {
  for (const int mode : {kCaptureGlobal, kCaptureThreadLocal, kCaptureRelaxed}) {
    const int expected = mode == kCaptureGlobal ? 900 : 0;
    capturer_->begin(mode);
    std::thread([&] {
      EXPECT_EQ(cuCtxSetCurrent(capturer_->context()), 0);
      EXPECT_EQ(cuEventQuery(event_), expected);
    }).join();
    EXPECT_EQ(capturer_->end(), mode == kCaptureGlobal ? 901 : 0);
  }
}

TEST_F(FakeCapture, WhatConflictsWithItBreaksItInAnyMode) {
  for (const int mode : {kCaptureGlobal, kCaptureRelaxed}) {
    expect_in_capture([&] { return cuStreamQuery(captured()); }, 900, 901, mode);
    expect_in_capture([&] { return cuCtxSynchronize(); }, 900, 901, mode);
    // Only what is captured may come before what is captured.
    expect_in_capture([&] { return cuStreamWaitEvent(captured(), event_, 0); }, 905, 901, mode);
  }
  capturer_->begin(kCaptureRelaxed);
  EXPECT_EQ(cuEventRecord(event_, captured()), 0);
  EXPECT_EQ(cuEventQuery(event_), 907);
  EXPECT_EQ(cuEventRecord(event_, captured()), 901) << "broken already";
  EXPECT_EQ(capturer_->end(), 901);
  EXPECT_EQ(cuEventQuery(event_), 907) << "until it is recorded in a stream that runs";
  EXPECT_EQ(cuEventRecord(event_, other_), 0);
  EXPECT_EQ(cuEventSynchronize(event_), 0);
}

TEST_F(FakeCapture, AnEventDrawsTheStreamThatWaitsForItIn) {
  int status = -1;
  for (const bool joins : {true, false}) {
    capturer_->begin();
    EXPECT_EQ(cuEventRecord(event_, captured()), 0);
    EXPECT_EQ(cuStreamWaitEvent(other_, event_, 0), 0);
    EXPECT_EQ(cuStreamIsCapturing(other_, &status), 0);
    EXPECT_EQ(status, 1);
    if (joins) {
      EXPECT_EQ(cuEventRecord(event_, other_), 0);
      EXPECT_EQ(cuStreamWaitEvent(captured(), event_, 0), 0);
    }
    EXPECT_EQ(capturer_->end(), joins ? 0 : 904);
    EXPECT_EQ(cuStreamIsCapturing(other_, &status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(cuEventRecord(event_, other_), 0);
  EXPECT_EQ(cuEventSynchronize(event_), 0);
}

TEST_F(FakeCapture, TheLegacyStreamIsUnusableWhileABlockingOneIsCaptured) {
  int status = -1;
  CUgraph graph = nullptr;
  capturer_->begin();
  EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), 0) << "a stream that does not block is no matter of its";
  EXPECT_EQ(cuEventRecord(event_, nullptr), 0);
  EXPECT_EQ(capturer_->end(), 0);
  ASSERT_EQ(cuStreamBeginCapture(blocking_, kCaptureRelaxed), 0);
  EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), 906);
  EXPECT_EQ(cuStreamIsCapturing(blocking_, &status), 0);
  EXPECT_EQ(status, 1) << "asking breaks nothing";
  EXPECT_EQ(cuEventRecord(event_, nullptr), 906);
  EXPECT_EQ(cuStreamEndCapture(blocking_, &graph), 901);
  EXPECT_EQ(cuStreamBeginCapture(nullptr, kCaptureRelaxed), 900);
}

TEST_F(FakeCapture, EndsWhereItBegan) {
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(captured(), &graph), 401);
  capturer_->begin();
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(capturer_->context()), 0);
    EXPECT_EQ(cuStreamEndCapture(captured(), &graph), 908);
  }).join();
  EXPECT_EQ(capturer_->end(), 0);
}

}  // namespace
}  // namespace dataline::fake_capture_test
