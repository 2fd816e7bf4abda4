// Loading kernels and cutting calls into launches: what cannot load is said and loses nothing else; more elements than
// one launch counts become several.
// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernel_set.h"

#include "core/device/kernels/kernel_call.h"
#include "tests/device/device_support.h"

namespace dataline {
namespace {

using testing::HasSubstr;

constexpr std::byte kAnyImage[16] = {};

class KernelSetTest : public FakeCuda {
 protected:
  // What load() says, and the set.
  Status load(std::span<const std::byte> image) {
    auto context = CudaContext::open(FAKE_CUDA_LIBRARY, 0, 1);
    Status status;
    {
      const CurrentContext current(*context.value());
      status = kernels_.load(*context.value(), image);
      why_not_ = kernels_.why_not();
      kernels_.unload(*context.value());
    }
    return status;
  }
  KernelSet kernels_;
  std::string why_not_;
};

TEST_F(KernelSetTest, ABuildWithoutKernelsRunsNothing) {
  EXPECT_TRUE(load({}).is_ok());
  EXPECT_NE(why_not_, "");
  EXPECT_FALSE(kernels_.runs(Tail()));
}

TEST_F(KernelSetTest, AnImageThatTheDriverCannotTakeLeavesTheHostToIt) {
  constexpr int32_t kNoBinaryForGpu = 209;
  fake_cuda_fail_name("cuModuleLoadData", 0, kNoBinaryForGpu, 1);
  EXPECT_TRUE(load(kAnyImage).is_ok());
  EXPECT_THAT(why_not_, HasSubstr("209"));
  EXPECT_FALSE(kernels_.runs(Tail()));
}

TEST_F(KernelSetTest, AKernelThatIsMissingLeavesTheHostToIt) {
  constexpr int32_t kNotFound = 500;
  fake_cuda_fail_name("cuModuleGetFunction", 7, kNotFound, 1);
  EXPECT_TRUE(load(kAnyImage).is_ok());
  EXPECT_THAT(why_not_, HasSubstr("500"));
}

TEST_F(KernelSetTest, ADeviceThatIsLostWhileLoadingIsLost) {
  constexpr int32_t kLaunchFailed = 719;
  expect_leaks();
  fake_cuda_fail_name("cuModuleLoadData", 0, kLaunchFailed, 1);
  EXPECT_EQ(load(kAnyImage).code(), Code::kDeviceLost);
}

TEST_F(KernelSetTest, TheImageOfThisBuildIsAFatBinary) {
  if (kernel_image().empty()) GTEST_SKIP() << "skipped: this build has no kernels";
  constexpr unsigned char kMagic[] = {0x50, 0xed, 0x55, 0xba};
  ASSERT_GT(kernel_image().size(), 1000u);
  EXPECT_EQ(std::memcmp(kernel_image().data(), kMagic, sizeof kMagic), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(kernel_image().data()) % 64, 0u);
}

TEST(KernelCall, MoreElementsThanOneLaunchCountsAreSeveral) {
  Tail tail;
  tail.in_width = tail.out_width = int64_t{1} << 29;
  TailCall call;
  call.tail = &tail;
  call.rows = 8;
  call.source_stride = tail.in_bytes();
  call.target_offset = int64_t{1} << 40;
  constexpr uintptr_t kSlot = uintptr_t{1} << 32;  // an address on a device
  const KernelLaunch launch = kernel_launch(call, reinterpret_cast<std::byte*>(kSlot));
  ASSERT_EQ(launch.rows, 8);
  ASSERT_EQ(launch.rows_each, 3);
  const KernelParams last = launch.part(6);
  EXPECT_EQ(last.rows, 2u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(last.source), kSlot + static_cast<uintptr_t>(6 * tail.in_bytes()));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(last.target),
            kSlot + static_cast<uintptr_t>(call.target_offset + 6 * tail.out_bytes()));
  EXPECT_EQ(launch.chunks(last), 1u << 28);
}

// 715,827,882 rows of 12 bytes end 8 bytes after a multiple of 16: the second launch may not store 16 bytes at once.
TEST(KernelCall, LaunchesAfterTheFirstStoreNoWiderThanTheirTargetAllows) {
  constexpr uintptr_t kSlot = uintptr_t{1} << 32;
  for (const int64_t width : {1, 3, 4, 5, 6}) {
    Tail tail;
    tail.from = DType::kU8;
    tail.to = DType::kF32;
    tail.in_width = tail.out_width = width;
    TailCall call;
    call.tail = &tail;
    call.rows = int64_t{1} << 32;
    call.source_stride = tail.in_bytes();
    const KernelLaunch launch = kernel_launch(call, reinterpret_cast<std::byte*>(kSlot));
    ASSERT_LT(launch.rows_each, launch.rows);
    EXPECT_EQ(launch.part(0).vector, 1u);
    for (int64_t first = 0; first < launch.rows; first += launch.rows_each) {
      const KernelParams part = launch.part(first);
      EXPECT_TRUE(part.vector == 0 || reinterpret_cast<uintptr_t>(part.target) % 16 == 0)
          << width << " elements, row " << first;
    }
  }
}

TEST(KernelCall, RowsSideBySideAreOneLongRow) {
  Tail tail;
  tail.in_width = tail.out_width = 3;
  TailCall call;
  call.tail = &tail;
  call.rows = 1000;
  call.source_stride = 3;
  const KernelLaunch together = kernel_launch(call, nullptr);
  EXPECT_EQ(together.rows, 1);
  EXPECT_EQ(together.chunks(together.part(0)), 750u);
  call.source_stride = 4;
  EXPECT_EQ(kernel_launch(call, nullptr).rows, 1000);
}

}  // namespace
}  // namespace dataline
