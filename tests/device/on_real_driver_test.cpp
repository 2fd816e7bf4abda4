// What becomes of a test of the fake driver that runs on a real one.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/device/device_support.h"

namespace dataline::on_real_driver_test {
namespace {

using testing::ExitedWithCode;

// In a process of its own, as ctest runs each test.
[[noreturn]] void need_the_fake(bool failed_before) {
  ::setenv("DATALINE_CUDA_LIBRARY", "libcuda.so.1", 1);
  if (failed_before) ADD_FAILURE() << "on purpose";
  fake_cuda_only();
  std::exit(0);
}

TEST(OnARealDriver, ATestThatNeedsTheFakeIsSkipped) {
  EXPECT_EXIT(need_the_fake(false), ExitedWithCode(77), "");
}

TEST(OnARealDriver, ATestThatFailedBeforeHasFailed) {
  EXPECT_EXIT(need_the_fake(true), ExitedWithCode(1), "");
}

}  // namespace
}  // namespace dataline::on_real_driver_test
