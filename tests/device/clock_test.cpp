// When the device's events happened, on the host's clock.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/thread.h"
#include "core/device/cuda_context.h"
#include "tests/support/fake_cuda/fake_cuda.h"

namespace dataline::clock_test {
namespace {

// Both ways to count: from one event for the whole time, and from the one before.
TEST(DeviceClocks, TellTimesBetweenTheRecordAndItsEnd) {
  for (const int64_t counted_ns : {INT64_MAX, int64_t{0}}) {
    fake_cuda_reset();
    fake_cuda_seed(1);
    {
      auto opened = CudaContext::open(FAKE_CUDA_LIBRARY, 0, 1);
      ASSERT_TRUE(opened.is_ok()) << opened.status().text();
      const std::shared_ptr<CudaContext> context = opened.take();
      const CurrentContext current(*context);
      const CudaDriver& driver = context->driver();
      DeviceClock clock(counted_ns);
      CudaEvent event = nullptr;
      for (int round = 0; round < 20; ++round) {
        if (event == nullptr) {
          ASSERT_EQ(context->ask(driver.cuEventCreate, &event, 0), kCudaSuccess);
        }
        const int64_t recorded_ns = monotonic_ns();
        ASSERT_EQ(context->ask(driver.cuEventRecord, event, context->side(0).stream), kCudaSuccess);
        ASSERT_EQ(context->ask(driver.cuEventSynchronize, event), kCudaSuccess);
        const int64_t at_ns = clock.time_of(*context, event, recorded_ns);
        EXPECT_GE(at_ns, recorded_ns);
        EXPECT_LE(at_ns, monotonic_ns());
      }
      clock.destroy(*context);
      if (event != nullptr) {
        EXPECT_EQ(context->ask(driver.cuEventDestroy, event), kCudaSuccess);
      }
    }
    EXPECT_EQ(fake_cuda_misuses(), 0);
    EXPECT_EQ(fake_cuda_live("events"), 0);
  }
}

}  // namespace
}  // namespace dataline::clock_test
