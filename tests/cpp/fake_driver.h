// A consumer on the fake CUDA driver: streams of its own and copies back to the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <dataline.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_cuda/driver_api.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace dataline::cpp_tests {

// Each test begins with a driver of two devices whose operations are late, and ends with one that was not misused and on
// which nothing is left alive.
class OnFakeCuda : public testing::Test {
 protected:
  OnFakeCuda() {
    fake_cuda_reset();
    fake_cuda_devices(2, int64_t{1} << 28);
    fake_cuda_seed(1);
    for (CUdevice device = 0; device < 2; ++device) {
      EXPECT_EQ(cuInit(0), 0);
      EXPECT_EQ(cuDevicePrimaryCtxRetain(&contexts_[device], device), 0);
    }
  }
  ~OnFakeCuda() override {
    for (const auto& [stream, device] : streams_) {
      const Current current(contexts_[device]);
      EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
    }
    for (CUdevice device = 0; device < 2; ++device) EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(device), 0);
    for (int64_t i = 0; i < fake_cuda_misuses(); ++i) ADD_FAILURE() << fake_cuda_misuse(i);
    for (const char* kind : {"contexts", "streams", "events", "allocations", "registrations"})
      EXPECT_EQ(fake_cuda_live(kind), 0) << kind;
    fake_cuda_reset();
  }

  // A loader's options on a device of it.
  static Options on(const std::string& device = "cuda:0") {
    return {{"device", device}, {"cuda_library", FAKE_CUDA_LIBRARY}};
  }

  // Of the device's primary context, which loaders use too; ends with the test.
  CUstream make_stream(CUdevice device = 0) {
    const Current current(contexts_[device]);
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, 1), 0);
    streams_.emplace_back(stream, device);
    return stream;
  }

  // The bytes of a view, read in `stream` and waited for.
  std::vector<std::byte> read(const View& view, CUstream stream) const {
    const Current current(contexts_[view.device_index()]);
    std::vector<std::byte> bytes(static_cast<size_t>(view.bytes()));
    const auto from = reinterpret_cast<CUdeviceptr>(view.data());
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(bytes.data(), from, bytes.size(), stream), 0);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    return bytes;
  }

 private:
  class Current {
   public:
    explicit Current(CUcontext context) { EXPECT_EQ(cuCtxPushCurrent_v2(context), 0); }
    ~Current() {
      CUcontext popped = nullptr;
      EXPECT_EQ(cuCtxPopCurrent_v2(&popped), 0);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
  };

  CUcontext contexts_[2] = {};
  std::vector<std::pair<CUstream, CUdevice>> streams_;
};

}  // namespace dataline::cpp_tests
