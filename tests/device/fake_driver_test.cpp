// The fake driver as a driver: streams, late events, kernels, faults, the trace, entry points and memory nobody can touch.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <set>
#include <thread>

#include "tests/device/device_support.h"

namespace dataline::fake_driver_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr size_t kBytes = 256;

class FakeDriver : public FakeCuda {
 protected:
  FakeDriver() {
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), 0);
    EXPECT_EQ(cuCtxPushCurrent(context_), 0);
    EXPECT_EQ(cuStreamCreate(&stream_, 1), 0);
    EXPECT_EQ(cuEventCreate(&event_, 2), 0);
    EXPECT_EQ(cuMemAlloc(&memory_, kBytes), 0);
  }
  ~FakeDriver() override {
    if (over_) return;
    fake_cuda_clear_faults();
    fake_cuda_resume();
    cuCtxSynchronize();
    cuMemFree(memory_);
    cuEventDestroy(event_);
    cuStreamDestroy(stream_);
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
    cuDevicePrimaryCtxRelease(0);
  }
  void start_over() {
    fake_cuda_reset();
    over_ = true;
  }
  int set(int value) { return cuMemsetD8Async(memory_, static_cast<unsigned char>(value), kBytes, stream_); }
  int value() {
    std::vector<unsigned char> seen(kBytes);
    EXPECT_EQ(cuMemcpyDtoHAsync(seen.data(), memory_, kBytes, stream_), 0);
    return std::set<int>(seen.begin(), seen.end()).size() == 1 ? seen[0] : -1;
  }

  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr memory_ = 0;

 private:
  bool over_ = false;
};

TEST_F(FakeDriver, FreshMemoryIsPoisoned) { EXPECT_EQ(value(), 0xA5); }

TEST_F(FakeDriver, DeviceMemoryCannotBeReadByTheHost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(std::exit(*reinterpret_cast<const char*>(memory_)), "");
}

TEST_F(FakeDriver, AddressesAreNeverGivenOutTwice) {
  std::set<CUdeviceptr> seen{memory_};
  for (int i = 0; i < 100; ++i) {
    CUdeviceptr other = 0;
    ASSERT_EQ(cuMemAlloc(&other, 100), 0);
    EXPECT_TRUE(seen.insert(other).second);
    ASSERT_EQ(cuMemFree(other), 0);
  }
}

TEST_F(FakeDriver, PausedStreamsQueueAndSteppedOnesRunInOrder) {
  fake_cuda_pause();
  ASSERT_EQ(set(1), 0);
  ASSERT_EQ(cuEventRecord(event_, stream_), 0);
  ASSERT_EQ(set(2), 0);
  EXPECT_EQ(fake_cuda_pending(), 3);
  EXPECT_EQ(cuEventQuery(event_), 600);
  fake_cuda_step(2);
  EXPECT_EQ(fake_cuda_pending(), 1);
  EXPECT_EQ(cuEventQuery(event_), 0);
  fake_cuda_resume();
  EXPECT_EQ(value(), 2);
}

TEST_F(FakeDriver, EventsTellLateUnderASeed) {
  int late = 0;
  fake_cuda_seed(5);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(cuEventRecord(event_, stream_), 0);
    fake_cuda_drain();
    while (cuEventQuery(event_) == 600) ++late;
  }
  EXPECT_GT(late, 10);
}

TEST_F(FakeDriver, TheTraceTellsWhatRanWhereAndWhen) {
  ASSERT_EQ(set(1), 0);
  ASSERT_EQ(cuEventRecord(event_, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  fake_cuda_operation told[8];
  ASSERT_EQ(fake_cuda_trace(told, 8), 2);
  EXPECT_EQ(told[0].kind, FAKE_CUDA_SET);
  EXPECT_EQ(told[0].stream, reinterpret_cast<uint64_t>(stream_));
  EXPECT_EQ(told[0].address, memory_);
  EXPECT_EQ(told[0].bytes, int64_t{kBytes});
  EXPECT_EQ(told[1].kind, FAKE_CUDA_RECORD);
  EXPECT_EQ(told[1].event, reinterpret_cast<uint64_t>(event_));
  for (int i = 0; i < 2; ++i) {
    EXPECT_LE(told[i].queued_ns, told[i].begin_ns);
    EXPECT_LE(told[i].begin_ns, told[i].end_ns);
  }
  EXPECT_LE(told[0].end_ns, told[1].begin_ns);
}

TEST_F(FakeDriver, KernelsRunTheirTwinsOnParametersOfTheLaunch) {
  CUmodule module = nullptr;
  CUfunction fill = nullptr, sum = nullptr, none = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fake_fill"), 0);
  ASSERT_EQ(cuModuleGetFunction(&sum, module, "fake_sum"), 0);
  EXPECT_EQ(cuModuleGetFunction(&none, module, "no_such_kernel"), 500);
  fake_cuda_pause();
  uint64_t to = memory_, bytes = 100, result = memory_ + 200;
  uint32_t value = 3;
  void* fill_parameters[] = {&to, &bytes, &value};
  ASSERT_EQ(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream_, fill_parameters, nullptr), 0);
  void* sum_parameters[] = {&to, &bytes, &result};
  ASSERT_EQ(cuLaunchKernel(sum, 1, 1, 1, 32, 1, 1, 0, stream_, sum_parameters, nullptr), 0);
  to = bytes = result = value = 0;  // the launch has copied them
  fake_cuda_resume();
  uint64_t total = 0;
  ASSERT_EQ(cuMemcpyDtoHAsync(&total, memory_ + 200, sizeof total, stream_), 0);
  EXPECT_EQ(total, 300U);
  ASSERT_EQ(cuModuleUnload(module), 0);
}

TEST_F(FakeDriver, AKernelOutOfBoundsLosesTheDevice) {
  expect_leaks();
  expect_misuse();
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fake_fill"), 0);
  uint64_t to = memory_, bytes = kBytes + 1;
  uint32_t value = 3;
  void* parameters[] = {&to, &bytes, &value};
  ASSERT_EQ(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream_, parameters, nullptr), 0);
  EXPECT_EQ(cuStreamSynchronize(stream_), 700);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("illegal-address:")));
  EXPECT_EQ(fake_cuda_calls_after_loss(), 0);
  EXPECT_EQ(cuStreamSynchronize(stream_), 700);
  EXPECT_EQ(fake_cuda_calls_after_loss(), 1) << "a call after it was told";
  EXPECT_EQ(cuLaunchKernel(fill, 0, 1, 1, 32, 1, 1, 0, stream_, parameters, nullptr), 700);
  start_over();
}

TEST_F(FakeDriver, ImpossibleGridsAreRefused) {
  expect_misuse();
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fake_fill"), 0);
  EXPECT_EQ(cuLaunchKernel(fill, 0, 1, 1, 32, 1, 1, 0, stream_, nullptr, nullptr), 1);
  EXPECT_EQ(cuLaunchKernel(fill, 1, 65536, 1, 32, 1, 1, 0, stream_, nullptr, nullptr), 1);
  EXPECT_EQ(cuLaunchKernel(fill, 1, 1, 1, 1025, 1, 1, 0, stream_, nullptr, nullptr), 1);
  EXPECT_THAT(misuses(), testing::AllOf(testing::SizeIs(3), testing::Each(StartsWith("bad-launch:"))));
  ASSERT_EQ(cuModuleUnload(module), 0);
}

TEST_F(FakeDriver, FaultsComeAtTheirIndexAsOftenAsAsked) {
  fake_cuda_fail_call(2, 801, 1);
  EXPECT_EQ(set(1), 0);
  EXPECT_EQ(cuEventQuery(event_), 0);
  EXPECT_EQ(set(2), 801);
  EXPECT_EQ(set(3), 0);
  fake_cuda_fail_name("cuMemsetD8Async", 1, 2, 2);
  EXPECT_EQ(set(4), 0);
  EXPECT_EQ(cuEventQuery(event_), 0);
  EXPECT_EQ(set(5), 2);
  EXPECT_EQ(set(6), 2);
  EXPECT_EQ(set(7), 0);
  EXPECT_EQ(value(), 7) << "what fails does nothing";
  fake_cuda_fail_name("cuEventQuery", 0, 1, -1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(cuEventQuery(event_), 1);
  fake_cuda_clear_faults();
  EXPECT_EQ(cuEventQuery(event_), 0);
}

TEST_F(FakeDriver, AFailedOperationIsToldLaterAndEndsWhatIsQueued) {
  expect_leaks();
  fake_cuda_fail_operation(1, 719);
  fake_cuda_pause();
  EXPECT_EQ(set(1), 0);
  EXPECT_EQ(set(2), 0);
  EXPECT_EQ(cuEventRecord(event_, stream_), 0);
  fake_cuda_resume();
  EXPECT_EQ(cuEventSynchronize(event_), 719);
  EXPECT_EQ(fake_cuda_pending(), 0);
  EXPECT_EQ(fake_cuda_trace(nullptr, 0), 1) << "only the first ran";
  start_over();
}

TEST_F(FakeDriver, MemoryIsLimitedAndCounted) {
  CUdeviceptr other = 0;
  size_t free = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&free, &total), 0);
  EXPECT_EQ(total - free, kBytes);
  EXPECT_EQ(cuMemAlloc(&other, free + 1), 2);
  EXPECT_EQ(cuMemAlloc(&other, 0), 1);
  EXPECT_EQ(fake_cuda_used_bytes(0), int64_t{kBytes});
}

TEST_F(FakeDriver, EntryPointsComeInTheVersionAskedForOnly) {
  expect_misuse();
  void* function = nullptr;
  int found = -1;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 3020, 0, &found), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &function, 12000, 0, &found), 500);
  EXPECT_EQ(fake_cuda_misuses(), 0);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 2000, 0, &found), 500);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("wrong-version:")));
}

TEST_F(FakeDriver, RetainsAndReleasesArePaired) {
  expect_misuse();
  CUcontext again = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), 0);
  EXPECT_EQ(again, context_);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
  fake_cuda_devices(2, 1 << 20);  // a fresh pair, neither retained
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), 201);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("released-twice:")));
  start_over();
  expect_leaks();
}

TEST_F(FakeDriver, NothingWorksBeforeInit) {
  start_over();
  expect_misuse();
  EXPECT_EQ(cuCtxSynchronize(), 3);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("not-initialized:")));
  start_over();
}

TEST_F(FakeDriver, TheLegacyStreamComesBetweenWhatBlockingStreamsWereGiven) {
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), 0);
  const auto per_thread = reinterpret_cast<CUstream>(uintptr_t{2});
  for (const uint64_t seed : {1U, 2U, 3U}) {
    fake_cuda_seed(seed);
    fake_cuda_pause();
    ASSERT_EQ(cuMemsetD8Async(memory_, 1, kBytes, blocking), 0);
    ASSERT_EQ(cuMemsetD8Async(memory_, 2, kBytes, nullptr), 0);
    std::thread([&] {
      ASSERT_EQ(cuCtxSetCurrent(context_), 0);
      ASSERT_EQ(cuMemsetD8Async(memory_, 3, kBytes, per_thread), 0);
    }).join();
    ASSERT_EQ(cuMemsetD8Async(memory_, 4, kBytes, nullptr), 0);
    EXPECT_EQ(cuStreamQuery(nullptr), 600);
    fake_cuda_resume();
    ASSERT_EQ(cuStreamSynchronize(nullptr), 0);
    EXPECT_EQ(value(), 4);
  }
  ASSERT_EQ(cuStreamDestroy(blocking), 0);
}

TEST_F(FakeDriver, EachThreadHasAStreamOfItsOwn) {
  const auto per_thread = reinterpret_cast<CUstream>(uintptr_t{2});
  unsigned long long mine = 0, another = 0, again = 0;
  ASSERT_EQ(cuStreamGetId(per_thread, &mine), 0);
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), 0);
    ASSERT_EQ(cuStreamGetId(per_thread, &another), 0);
  }).join();
  ASSERT_EQ(cuStreamGetId(per_thread, &again), 0);
  EXPECT_NE(mine, another);
  EXPECT_EQ(mine, again);
}

}  // namespace
}  // namespace dataline::fake_driver_test
