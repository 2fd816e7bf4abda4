// A consumer that captures a CUDA graph, in a stream of its own, as PyTorch's capture streams are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/support/fake_cuda/driver_api.h"

namespace dataline {

constexpr int kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2;

// The thread's capture mode.
inline int capture_mode_now() {
  int mode = kCaptureRelaxed;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  const int now = mode;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  return now;
}

// The context is current while this lives.
class Capturer {
 public:
  explicit Capturer(unsigned stream_flags = 1) {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), 0);
    EXPECT_EQ(cuCtxPushCurrent(context_), 0);
    EXPECT_EQ(cuStreamCreate(&stream_, stream_flags), 0);
  }
  ~Capturer() {
    EXPECT_EQ(cuStreamDestroy(stream_), 0);
    EXPECT_EQ(cuCtxPopCurrent(&context_), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), 0);
  }
  Capturer(const Capturer&) = delete;
  Capturer& operator=(const Capturer&) = delete;

  CUstream stream() const { return stream_; }
  CUcontext context() const { return context_; }
  void begin(int mode = kCaptureGlobal) { ASSERT_EQ(cuStreamBeginCapture(stream_, mode), 0); }
  // 0: nothing has broken the capture.
  int end() {
    CUgraph graph = nullptr;
    const int code = cuStreamEndCapture(stream_, &graph);
    EXPECT_EQ(graph != nullptr, code == 0);
    if (graph != nullptr) {
      EXPECT_EQ(cuGraphDestroy(graph), 0);
    }
    return code;
  }

 private:
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace dataline
