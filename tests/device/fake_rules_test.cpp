// The fake driver's rules, each as the driver's documentation or a trial on a real one has it: registrations, flags, calls
// before cuInit, misaligned accesses, several devices, devices that share the host's memory.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/device/device_support.h"

namespace dataline::fake_rules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr size_t kPage = 4096;
constexpr int kInvalidValue = 1, kInvalidHandle = 400, kAlreadyRegistered = 712, kNotRegistered = 713,
              kMisaligned = 716, kNotSupported = 801;

// A thread with the contexts of two devices, of which the first is current.
class FakeRules : public FakeCuda {
 protected:
  FakeRules() : memory_(4, kPage) {
    fake_cuda_devices(2, 1 << 24);
    EXPECT_EQ(cuInit(0), 0);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cuDevicePrimaryCtxRetain(&contexts_[i], i), 0);
    EXPECT_EQ(cuCtxPushCurrent(contexts_[0]), 0);
  }
  ~FakeRules() override { end(); }
  // Also after a loss, when the driver knows nothing of what was made.
  void end() {
    if (std::exchange(ended_, true)) return;
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
    for (int i = 0; i < 2; ++i) cuDevicePrimaryCtxRelease(i);
  }
  void* host(size_t offset) { return memory_.slot(0) + offset; }
  int use(int device) { return cuCtxSetCurrent(contexts_[device]); }

  HostSlots memory_;
  CUcontext contexts_[2] = {};

 private:
  bool ended_ = false;
};

TEST_F(FakeRules, RegistrationsMayShareAPageAndNoByte) {
  ASSERT_EQ(cuMemHostRegister(host(100), 80, 1), 0);
  EXPECT_EQ(cuMemHostRegister(host(179), 20, 1), kAlreadyRegistered);
  EXPECT_EQ(cuMemHostRegister(host(100), 1, 1), kAlreadyRegistered);
  ASSERT_EQ(cuMemHostRegister(host(180), 20, 1), 0);
  EXPECT_EQ(cuMemHostUnregister(host(180)), 0);
  EXPECT_EQ(cuMemHostUnregister(host(100)), 0);
}

TEST_F(FakeRules, RegistrationsOfWholePagesShareNone) {
  fake_cuda_register_pages(1);
  ASSERT_EQ(cuMemHostRegister(host(100), 80, 1), 0);
  EXPECT_EQ(cuMemHostRegister(host(180), 20, 1), kAlreadyRegistered);
  ASSERT_EQ(cuMemHostRegister(host(kPage), kPage, 1), 0);
  unsigned flags = 9;
  EXPECT_EQ(cuMemHostGetFlags(&flags, host(0)), 0);
  EXPECT_EQ(flags, 1U);
  EXPECT_EQ(cuMemHostUnregister(host(100)), 0);
  EXPECT_EQ(cuMemHostUnregister(host(kPage)), 0);
}

TEST_F(FakeRules, FlagsAreToldOfEachByteThatIsRegistered) {
  unsigned flags = 9;
  ASSERT_EQ(cuMemHostRegister(host(100), 80, 3), 0);
  for (size_t at : {100, 140, 179}) {
    EXPECT_EQ(cuMemHostGetFlags(&flags, host(at)), 0);
    EXPECT_EQ(flags, 3U);
  }
  for (size_t at : {99, 180}) EXPECT_EQ(cuMemHostGetFlags(&flags, host(at)), kInvalidValue);
  EXPECT_EQ(fake_cuda_live_with("registrations", 3), 1);
  EXPECT_EQ(fake_cuda_live_with("registrations", 4), 0);
  ASSERT_EQ(cuMemHostUnregister(host(100)), 0);
  EXPECT_EQ(cuMemHostGetFlags(&flags, host(100)), kInvalidValue);
}

TEST_F(FakeRules, ARegistrationEndsWhereItBegan) {
  expect_misuse();
  ASSERT_EQ(cuMemHostRegister(host(0), kPage, 1), 0);
  EXPECT_EQ(cuMemHostUnregister(host(1)), kInvalidValue);
  EXPECT_EQ(cuMemHostUnregister(host(kPage)), kNotRegistered);
  EXPECT_THAT(misuses(), testing::Each(StartsWith("not-registered:")));
  EXPECT_EQ(cuMemHostUnregister(host(0)), 0);
  EXPECT_EQ(misuses().size(), 2U);
}

// "Portable" is what makes it pinned for devices other than the one that was current.
TEST_F(FakeRules, ARegistrationIsOfOneDeviceUnlessItIsForAll) {
  expect_misuse();
  fake_cuda_require_pinned(1);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemHostRegister(host(0), kPage, 1), 0);
  ASSERT_EQ(cuMemHostRegister(host(kPage), kPage, 0), 0);
  ASSERT_EQ(use(1), 0);
  ASSERT_EQ(cuMemAlloc(&memory, 64), 0);
  EXPECT_EQ(cuMemcpyHtoDAsync(memory, host(0), 64, nullptr), 0);
  EXPECT_THAT(misuses(), IsEmpty());
  EXPECT_EQ(cuMemcpyHtoDAsync(memory, host(kPage), 64, nullptr), 0);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("unpinned-copy:")));
  EXPECT_EQ(cuStreamSynchronize(nullptr), 0);
  EXPECT_EQ(cuMemFree(memory), 0);
  ASSERT_EQ(use(0), 0);
  EXPECT_EQ(cuMemHostUnregister(host(0)), 0);
  EXPECT_EQ(cuMemHostUnregister(host(kPage)), 0);
}

TEST_F(FakeRules, UnknownFlagsAreRefused) {
  expect_misuse();
  CUstream stream = nullptr;
  CUevent event = nullptr, unmade = nullptr;
  EXPECT_EQ(cuInit(1), kInvalidValue);
  EXPECT_EQ(cuStreamCreate(&stream, 2), kInvalidValue);
  EXPECT_EQ(cuEventCreate(&unmade, 8), kInvalidValue);
  EXPECT_EQ(cuEventCreate(&unmade, 4), kInvalidValue) << "interprocess, with timing";
  EXPECT_EQ(cuMemHostRegister(host(0), kPage, 16), kInvalidValue);
  ASSERT_EQ(cuEventCreate(&event, 6), 0);
  EXPECT_EQ(cuStreamWaitEvent(nullptr, event, 1), kInvalidValue) << "external: for captures";
  EXPECT_EQ(cuEventDestroy(event), 0);
  EXPECT_THAT(misuses(), testing::AllOf(testing::SizeIs(5), testing::Each(StartsWith("unknown-flags:"))));
}

TEST_F(FakeRules, NothingButItsVersionAndNamesIsToldBeforeInit) {
  end();
  fake_cuda_reset();
  expect_misuse();
  CUcontext context = nullptr;
  int number = 0;
  unsigned flags = 0;
  size_t bytes = 0;
  const char* name = nullptr;
  void* function = nullptr;
  EXPECT_EQ(cuDriverGetVersion(&number), 0);
  EXPECT_EQ(cuGetErrorName(1, &name), 0);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &function, 2000, 0, nullptr), 0);
  EXPECT_EQ(cuCtxGetCurrent(&context), 3) << "which is what a program asks";
  EXPECT_THAT(misuses(), IsEmpty());
  const std::function<int()> calls[] = {
      [&] { return cuCtxSetCurrent(nullptr); },
      [&] { return cuCtxPushCurrent(nullptr); },
      [&] { return cuDeviceGetCount(&number); },
      [&] { return cuDeviceGet(&number, 0); },
      [&] { return cuDeviceTotalMem(&bytes, 0); },
      [&] { return cuDevicePrimaryCtxRetain(&context, 0); },
      [&] { return cuThreadExchangeStreamCaptureMode(&(number = 2)); },
      [&] { return cuMemHostGetFlags(&flags, host(0)); },
      [&] { return cuPointerGetAttribute(&number, 2, 0); },
      [&] { return cuCtxSynchronize(); },
  };
  for (const auto& call : calls) EXPECT_EQ(call(), kNotInitialized);
  EXPECT_THAT(misuses(), testing::AllOf(testing::SizeIs(std::size(calls)),
                                        testing::Each(StartsWith("not-initialized:"))));
}

TEST_F(FakeRules, AMisalignedAccessOfAKernelLosesTheDevice) {
  expect_misuse();
  expect_leaks();
  CUmodule module = nullptr;
  CUfunction sum = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
  ASSERT_EQ(cuModuleGetFunction(&sum, module, "fake_sum"), 0);
  ASSERT_EQ(cuMemAlloc(&memory, 64), 0);
  uint64_t from = memory + 1, bytes = 5, to = memory + 16;
  void* parameters[] = {&from, &bytes, &to};
  EXPECT_EQ(cuLaunchKernel(sum, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), 0);
  EXPECT_EQ(cuStreamSynchronize(nullptr), 0) << "bytes may lie anywhere";
  to += 4;
  EXPECT_EQ(cuLaunchKernel(sum, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), 0);
  EXPECT_EQ(cuStreamSynchronize(nullptr), kMisaligned);
  EXPECT_THAT(misuses(), ElementsAre(AllOf(StartsWith("misaligned-access:"), HasSubstr("8 bytes"))));
  end();
  fake_cuda_reset();
}

// As the programming guide has it: a launch and a record want the stream's device, a wait does not.
TEST_F(FakeRules, AStreamMayWaitForAnotherDeviceAndIsGivenNoKernelFromThere) {
  expect_misuse();
  CUstream streams[2] = {};
  CUevent events[2] = {};
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  for (int i : {1, 0}) {
    ASSERT_EQ(use(i), 0);
    ASSERT_EQ(cuStreamCreate(&streams[i], 1), 0);
    ASSERT_EQ(cuEventCreate(&events[i], 2), 0);
  }
  EXPECT_EQ(cuEventRecord(events[1], streams[1]), 0) << "with the context of device 0";
  EXPECT_EQ(cuStreamWaitEvent(streams[0], events[1], 0), 0);
  EXPECT_EQ(cuEventSynchronize(events[1]), 0);
  EXPECT_THAT(misuses(), IsEmpty());
  EXPECT_EQ(cuEventRecord(events[0], streams[1]), kInvalidHandle);
  ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fake_fill"), 0);
  EXPECT_EQ(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, streams[1], nullptr, nullptr), kInvalidHandle);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("event-misuse:"), StartsWith("wrong-context:")));
  EXPECT_EQ(cuModuleUnload(module), 0);
  for (int i : {1, 0}) {
    ASSERT_EQ(use(i), 0);
    EXPECT_EQ(cuStreamDestroy(streams[i]), 0);
    EXPECT_EQ(cuEventDestroy(events[i]), 0);
  }
}

TEST_F(FakeRules, MemoryIsNotForStreamsOfAnotherDevice) {
  expect_misuse();
  CUdeviceptr memory = 0;
  CUstream other = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 64), 0);
  ASSERT_EQ(use(1), 0);
  ASSERT_EQ(cuStreamCreate(&other, 1), 0);
  ASSERT_EQ(use(0), 0);
  EXPECT_EQ(cuMemsetD8Async(memory, 1, 64, other), 0) << "found when it runs";
  EXPECT_EQ(cuStreamSynchronize(other), 0);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("wrong-context:")));
  EXPECT_EQ(cuMemFree(memory), 0);
  EXPECT_EQ(cuStreamDestroy(other), 0);
}

TEST_F(FakeRules, ALostContextMayBeLookedAtAndLeft) {
  expect_leaks();
  CUcontext context = nullptr;
  int mode = 2;
  fake_cuda_fail_name("cuCtxSynchronize", 0, 719, 1);
  EXPECT_EQ(cuCtxSynchronize(), 719);
  EXPECT_EQ(cuCtxGetCurrent(&context), 0);
  EXPECT_EQ(context, contexts_[0]);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(cuCtxPushCurrent(contexts_[1]), 0);
  EXPECT_EQ(cuCtxSynchronize(), 0) << "the other device goes on";
  EXPECT_EQ(cuCtxPopCurrent(&context), 0);
  EXPECT_EQ(fake_cuda_calls_after_loss(), 0);
  end();
  fake_cuda_reset();
}

TEST_F(FakeRules, ADeviceThatSharesTheHostsMemorySaysSo) {
  constexpr int kIntegrated = 18, kCanMap = 19, kCanRegister = 99, kPools = 115;
  const auto attribute = [](int which) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, 0), 0);
    return value;
  };
  EXPECT_EQ(attribute(kIntegrated), 0);
  CUdeviceptr memory = 0;
  for (int32_t can_register : {0, 1}) {
    fake_cuda_integrated(can_register);
    EXPECT_EQ(attribute(kIntegrated), 1);
    EXPECT_EQ(attribute(kCanMap), 1);
    EXPECT_EQ(attribute(kCanRegister), can_register);
    EXPECT_EQ(attribute(kPools), 0);
    EXPECT_EQ(cuMemAllocAsync(&memory, 64, nullptr), kNotSupported);
    EXPECT_EQ(cuMemHostRegister(host(0), kPage, 1), can_register == 0 ? kNotSupported : 0);
  }
  EXPECT_EQ(cuMemHostUnregister(host(0)), 0);
}

}  // namespace
}  // namespace dataline::fake_rules_test
