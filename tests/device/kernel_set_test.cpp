// Loading kernels and cutting calls into launches: what cannot load is said and loses nothing else; more elements than
// one launch counts become several.
// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernel_set.h"

#include "core/device/kernels/kernel_call.h"
#include "tests/device/device_support.h"

namespace dataline::kernel_set_test {
namespace {

using testing::HasSubstr;

constexpr std::byte kAnyBytes[16] = {};
constexpr KernelImage kAnyImage = {.bytes = kAnyBytes, .cuda = 12000, .code = "sm_75 sm_80"};

// A fat binary with these entries and no content (tests/support/fake_cuda/image.cpp has the fields).
struct ImageEntry {
  uint16_t kind, major, minor;
  uint32_t architecture;
  uint64_t flags;
};
constexpr uint16_t kPtx = 1, kCode = 2;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

std::vector<std::byte> fat_binary(const std::vector<ImageEntry>& entries) {
  std::vector<std::byte> out;
  const auto put = [&](auto value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  put(uint32_t{0xBA55ED50}), put(uint32_t{16 << 16 | 1}), put(uint64_t{64 * entries.size()});
  for (const ImageEntry& entry : entries) {
    put(uint32_t{entry.kind}), put(uint32_t{64}), put(uint64_t{0}), put(uint64_t{0});
    put(entry.minor), put(entry.major), put(entry.architecture), put(uint64_t{0});
    put(entry.flags), put(uint64_t{0}), put(uint64_t{0});
  }
  return out;
}

class KernelSetTest : public FakeCuda {
 protected:
  // What load() says, and the set.
  Status load(const KernelImage& image) {
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

// What a toolkit makes: code of every generation in the list, and PTX of the first.
std::vector<std::byte> image_of(uint16_t abi, uint16_t isa, uint64_t flags, std::vector<uint32_t> code) {
  std::vector<ImageEntry> entries;
  for (const uint32_t architecture : code) {
    const uint16_t minor = architecture >= 100 ? 8 : abi;
    entries.push_back({kCode, 1, minor, architecture, flags});
  }
  entries.push_back({kPtx, static_cast<uint16_t>(isa / 10), static_cast<uint16_t>(isa % 10), code[0], flags});
  return fat_binary(entries);
}

TEST_F(KernelSetTest, ARefusalSaysWhoCompiledForWhatAndWhatTheDriverIs) {
  const struct {
    std::vector<std::byte> bytes;
    int32_t compiler, driver, capability;
    std::vector<std::string> says;  // none: they load
  } cases[] = {
      {image_of(8, 90, kLz4, {75, 80, 90}),
       13000,
       12040,
       90,
       {"need a CUDA 13.0 driver; this one is 12.4", "200"}},
      {image_of(8, 90, kLz4, {75, 80, 90}), 13000, 13000, 90, {}},
      {image_of(7, 80, kZstd, {75, 80, 90}), 12080, 12020, 90, {"200", "sm_90", "driver 12.2"}},
      {image_of(7, 80, kZstd, {75, 80, 90}), 12080, 12040, 90, {}},
      {image_of(7, 87, kLz4, {75, 80, 90}), 12080, 12000, 86, {}},
      {image_of(7, 87, kLz4, {75, 80}),
       12080,
       12000,
       90,
       {"sm_90, for which their PTX needs a CUDA 12.8 driver", "12.0", "222"}},
      {image_of(7, 80, kLz4, {75, 80}), 12000, 12000, 90, {}},
      {image_of(7, 80, kLz4, {75, 80}), 12000, 12000, 70, {"sm_70", "209", "sm_75 sm_80"}},
      {image_of(7, 80, kLz4, {75, 80, 90, 100}), 12000, 12080, 100, {}},
      {image_of(7, 80, kLz4, {75, 80, 90, 100}), 12000, 13000, 110, {}},
  };
  for (const auto& one : cases) {
    fake_cuda_reset();
    fake_cuda_version(one.driver);
    fake_cuda_capability(one.capability);
    ASSERT_TRUE(load({one.bytes, one.compiler, "sm_75 sm_80"}).is_ok());
    EXPECT_EQ(why_not_.empty(), one.says.empty()) << why_not_;
    for (const std::string& text : one.says) EXPECT_THAT(why_not_, HasSubstr(text));
    if (!one.says.empty()) {
      EXPECT_THAT(why_not_, HasSubstr("compiled by CUDA " + cuda_version_text(one.compiler)));
    }
  }
}

// The stated minimum holds: every driver from it on takes the image, for each card that it knows.
TEST_F(KernelSetTest, EveryDriverFromTheLeastOnTakesTheImageOfThisBuild) {
  const KernelImage image = kernel_image();
  if (image.bytes.empty()) GTEST_SKIP() << "skipped: this build has no kernels";
  if (image.cuda > kMinCudaVersion)
    GTEST_SKIP() << "skipped: the kernels were compiled by CUDA " << cuda_version_text(image.cuda);
  const struct {
    int32_t capability, driver;  // the first that knows it
  } cards[] = {{75, 12000}, {80, 12000},  {86, 12000},  {89, 12000},
               {90, 12000}, {100, 12080}, {120, 12080}, {130, 13000}};
  const int32_t first = std::atoi(image.code.data() + 3);  // "sm_75 sm_80"
  for (const auto& card : cards) {
    for (int32_t driver = card.driver; driver <= 13000; driver += driver == 12090 ? 910 : 10) {
      fake_cuda_reset();
      fake_cuda_version(driver);
      fake_cuda_capability(card.capability);
      ASSERT_TRUE(load(image).is_ok());
      EXPECT_EQ(why_not_.empty(), card.capability >= first) << why_not_;
    }
  }
}

constexpr int64_t kRowBytes = 16;
Tail bytes_tail() {
  Tail tail;
  tail.in_width = tail.out_width = kRowBytes;
  return tail;
}

class PreparedKernels : public KernelSetTest {
 protected:
  // Loads the image, uses up all of the device's memory but `left`, and prepares one call.
  Status prepare(int64_t left, std::string* why = nullptr) {
    constexpr int64_t kDeviceBytes = 1 << 20;
    fake_cuda_devices(1, kDeviceBytes);
    auto context = CudaContext::open(FAKE_CUDA_LIBRARY, 0, 1).take();
    const CurrentContext current(*context);
    EXPECT_TRUE(kernels_.load(*context, kAnyImage).is_ok());
    const Tail tail = bytes_tail();
    TailCall call;
    call.tail = &tail;
    call.source_stride = kRowBytes;
    call.target_offset = 4096;
    CUdeviceptr slot = 0;
    EXPECT_EQ(cuMemAlloc(&slot, static_cast<size_t>(kDeviceBytes - left)), 0);
    const TailCall calls[] = {call, call};
    const Status status = kernels_.prepare(*context, cuda_pointer(slot), calls);
    if (status.is_ok()) {
      call.rows = 4;
      EXPECT_TRUE(kernels_.launch(*context, context->side(0).stream, cuda_pointer(slot), call).is_ok());
      EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(context->side(0).stream)), 0);
    }
    if (why != nullptr) *why = status.message();
    EXPECT_EQ(cuMemFree(slot), 0);
    kernels_.unload(*context);
    return status;
  }
};

TEST_F(PreparedKernels, OnlyWhatIsUsedIsLookedUpAndLoadedOnce) {
  EXPECT_TRUE(prepare(64 << 10).is_ok());
  EXPECT_EQ(fake_cuda_calls("cuModuleGetFunction"), 1);
  EXPECT_EQ(fake_cuda_calls("cuLaunchKernel"), 2);  // the one that loads, and the one with rows
}

TEST_F(PreparedKernels, NoRoomForAKernelIsAnErrorOfItsOwnAndLosesNothing) {
  std::string why;
  EXPECT_EQ(prepare(1024, &why).code(), Code::kNoMemory);
  EXPECT_THAT(why, HasSubstr("no device memory is left for the kernels"));
}

TEST_F(PreparedKernels, AKernelThatIsMissingIsAnError) {
  constexpr int32_t kNotFound = 500;
  fake_cuda_fail_name("cuModuleGetFunction", 0, kNotFound, 1);
  std::string why;
  EXPECT_EQ(prepare(64 << 10, &why).code(), Code::kInternal);
  EXPECT_THAT(why, HasSubstr("500"));
}

TEST_F(KernelSetTest, ADeviceThatIsLostWhileLoadingIsLost) {
  constexpr int32_t kLaunchFailed = 719;
  expect_leaks();
  fake_cuda_fail_name("cuModuleLoadData", 0, kLaunchFailed, 1);
  EXPECT_EQ(load(kAnyImage).code(), Code::kDeviceLost);
}

TEST_F(KernelSetTest, TheImageOfThisBuildIsAFatBinary) {
  if (kernel_image().bytes.empty()) GTEST_SKIP() << "skipped: this build has no kernels";
  constexpr unsigned char kMagic[] = {0x50, 0xed, 0x55, 0xba};
  ASSERT_GT(kernel_image().bytes.size(), 1000u);
  EXPECT_EQ(std::memcmp(kernel_image().bytes.data(), kMagic, sizeof kMagic), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(kernel_image().bytes.data()) % 64, 0u);
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
}  // namespace dataline::kernel_set_test
