// The fake driver itself: each of its checks finds the misuse it is for, whatever the delays, and nothing else does.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/device/device_support.h"

namespace dataline::fake_checks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr size_t kBytes = 1000;

// A program with two streams, an event, device and registered host memory; everything is ended in order.
class FakeChecks : public FakeCuda {
 protected:
  FakeChecks() : memory_(2, kBytes) {
    expect_misuse();
    fake_cuda_devices(2, 1 << 24);
    EXPECT_EQ(cuInit(0), 0);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cuDevicePrimaryCtxRetain(&contexts_[i], i), 0);
    EXPECT_EQ(cuCtxPushCurrent(contexts_[0]), 0);
    EXPECT_EQ(cuStreamCreate(&one_, 1), 0);
    EXPECT_EQ(cuStreamCreate(&two_, 1), 0);
    EXPECT_EQ(cuEventCreate(&event_, 2), 0);
    EXPECT_EQ(cuMemAlloc(&device_, kBytes), 0);
    EXPECT_EQ(cuMemHostRegister(host(), kBytes, 1), 0);
    EXPECT_EQ(cuMemHostRegister(memory_.slot(1), kBytes, 1), 0);
  }
  ~FakeChecks() override {
    fake_cuda_resume();
    cuCtxSynchronize();
    if (device_ != 0) cuMemFree(device_);
    for (void* registered : {memory_.slot(0), memory_.slot(1)}) cuMemHostUnregister(registered);
    cuEventDestroy(event_);
    cuStreamDestroy(one_);
    cuStreamDestroy(two_);
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
    for (int i = 0; i < 2; ++i) cuDevicePrimaryCtxRelease(i);
  }

  std::byte* host() { return memory_.slot(0); }
  std::byte* back() { return memory_.slot(1); }
  void upload(CUstream stream) { EXPECT_EQ(cuMemcpyHtoDAsync(device_, host(), kBytes, stream), 0); }
  void download(CUstream stream) { EXPECT_EQ(cuMemcpyDtoHAsync(back(), device_, kBytes, stream), 0); }
  void order(CUstream first, CUstream then) {
    EXPECT_EQ(cuEventRecord(event_, first), 0);
    EXPECT_EQ(cuStreamWaitEvent(then, event_, 0), 0);
  }
  // Ends what is queued, and expects that just this kind was found.
  void expect_found(const char* kind) {
    fake_cuda_resume();
    EXPECT_EQ(cuCtxSynchronize(), 0);
    EXPECT_THAT(misuses(), ElementsAre(StartsWith(std::string(kind) + ":")));
  }

  HostSlots memory_;
  CUcontext contexts_[2] = {};
  CUstream one_ = nullptr, two_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr device_ = 0;
};

TEST_F(FakeChecks, AnOrderlyProgramIsNotAccused) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    fake_cuda_seed(seed);
    std::memset(host(), static_cast<int>(seed), kBytes);
    upload(one_);
    order(one_, two_);
    download(two_);
    order(two_, one_);
    EXPECT_EQ(cuMemsetD8Async(device_, 0, kBytes, one_), 0);
    EXPECT_EQ(cuStreamSynchronize(one_), 0);
    EXPECT_THAT(std::vector<std::byte>(back(), back() + kBytes), testing::Each(static_cast<std::byte>(seed)));
  }
  EXPECT_THAT(misuses(), IsEmpty());
}

// The accusation does not depend on who happened to be first: here the right order is always the one that happens.
TEST_F(FakeChecks, ASlotRewrittenBeforeDoneIsFoundWhateverTheDelays) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    fake_cuda_seed(seed);
    upload(one_);
    order(one_, two_);
    download(two_);
    EXPECT_EQ(cuStreamSynchronize(one_), 0);
    while (cuStreamQuery(one_) != 0 || fake_cuda_pending() != 0)
      continue;  // the read is over, nobody was told
    upload(one_);
    EXPECT_EQ(cuCtxSynchronize(), 0);
    ASSERT_EQ(misuses().size(), seed + 1);
    EXPECT_THAT(misuses().back(), StartsWith("rewritten-before-done:"));
  }
}

TEST_F(FakeChecks, AReadBeforeReadyIsFound) {
  upload(one_);
  EXPECT_EQ(cuEventRecord(event_, one_), 0);
  fake_cuda_drain();
  download(two_);  // which waits for nothing
  expect_found("read-before-ready");
}

TEST_F(FakeChecks, TwoWritesWithoutOrderAreFound) {
  upload(one_);
  upload(two_);  // the one that comes second is accused
  expect_found("written-twice");
}

TEST_F(FakeChecks, AWaitForAnEarlierRecordOrdersNothingAfterIt) {
  EXPECT_EQ(cuEventRecord(event_, one_), 0);
  EXPECT_EQ(cuStreamWaitEvent(two_, event_, 0), 0);
  upload(one_);
  fake_cuda_drain();
  download(two_);
  expect_found("read-before-ready");
}

// The device room's own slots, by a consumer that leaves out its part.
TEST_F(FakeChecks, AConsumerThatDoesNotWaitForItsBatchIsFound) {
  auto device = open();
  HostSlots slot_memory(1, kBytes);
  ASSERT_EQ(device->pin(slot_memory.slot(0), slot_memory.stride(), 1).take(), 1);
  auto slots = device->make_slots(1, kBytes).take();
  ASSERT_TRUE(slots[0]->send(slot_memory.slot(0), whole(kBytes), {}).is_ok());
  fake_cuda_drain();
  EXPECT_EQ(cuMemcpyDtoHAsync(back(), reinterpret_cast<CUdeviceptr>(slots[0]->memory()), kBytes, one_), 0);
  expect_found("read-before-ready");
  ASSERT_TRUE(slots[0]->wait_for_copies().is_ok());
  ASSERT_TRUE(slots[0]->send(slot_memory.slot(0), whole(kBytes), {}).is_ok());
  EXPECT_EQ(cuCtxSynchronize(), 0);
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("read-before-ready:")))
      << "once the host has seen that all is done, it is";
  slots.clear();
  device->unpin();
}

TEST_F(FakeChecks, AConsumerThatReleasesTooEarlyIsFound) {
  auto device = open();
  HostSlots slot_memory(1, kBytes);
  ASSERT_EQ(device->pin(slot_memory.slot(0), slot_memory.stride(), 1).take(), 1);
  auto slots = device->make_slots(1, kBytes).take();
  ASSERT_TRUE(slots[0]->send(slot_memory.slot(0), whole(kBytes), {}).is_ok());
  ASSERT_TRUE(slots[0]->wait(one_).is_ok());
  slots[0]->done();  // and only then reads
  EXPECT_EQ(cuMemcpyDtoHAsync(back(), reinterpret_cast<CUdeviceptr>(slots[0]->memory()), kBytes, one_), 0);
  ASSERT_TRUE(slots[0]->wait_for_copies().is_ok());
  ASSERT_TRUE(slots[0]->send(slot_memory.slot(0), whole(kBytes), {}).is_ok());
  EXPECT_EQ(cuCtxSynchronize(), 0);
  // Who comes second is accused: the write of the read, or the read of the write.
  EXPECT_THAT(misuses(), ElementsAre(testing::AnyOf(StartsWith("rewritten-before-done:"),
                                                    StartsWith("read-before-ready:"))));
  slots.clear();
  device->unpin();
}

TEST_F(FakeChecks, AFreeWhileTheHostDoesNotKnowOfTheEndIsFound) {
  upload(one_);
  fake_cuda_drain();
  EXPECT_EQ(cuMemFree(device_), 0);
  device_ = 0;
  expect_found("freed-in-use");
}

TEST_F(FakeChecks, AFreeInAnotherStreamWithoutOrderIsFound) {
  CUdeviceptr other = 0;
  EXPECT_EQ(cuMemAllocAsync(&other, 100, one_), 0);
  EXPECT_EQ(cuMemsetD8Async(other, 1, 100, one_), 0);
  fake_cuda_drain();
  EXPECT_EQ(cuMemFreeAsync(other, two_), 0);
  expect_found("written-twice");
}

TEST_F(FakeChecks, UseAfterFreeIsFoundAtTheCall) {
  EXPECT_EQ(cuMemFree(device_), 0);
  EXPECT_EQ(cuMemcpyHtoDAsync(device_ + 10, host(), 10, one_), 1);
  expect_found("use-after-free");
  EXPECT_EQ(cuMemFree(device_), 1);
  EXPECT_THAT(misuses().back(), StartsWith("freed-twice:"));
  device_ = 0;
}

TEST_F(FakeChecks, MemoryPastTheEndIsFound) {
  EXPECT_EQ(cuMemcpyHtoDAsync(device_ + 1, host(), kBytes, one_), 1);
  expect_found("illegal-address");
}

TEST_F(FakeChecks, UseAfterFreeIsFoundWhenTheOperationRuns) {
  expect_leaks();
  fake_cuda_pause();
  upload(one_);
  EXPECT_EQ(cuMemFree(device_), 0);
  fake_cuda_resume();
  EXPECT_EQ(cuStreamSynchronize(one_), 700) << "as a device does";
  EXPECT_THAT(misuses(), ElementsAre(StartsWith("use-after-free:")));
  fake_cuda_reset();
}

TEST_F(FakeChecks, AHostThatRefillsTooEarlyIsFound) {
  fake_cuda_pause();
  upload(one_);
  host()[kBytes / 2] = std::byte{1};
  expect_found("host-rewritten");
}

TEST_F(FakeChecks, ACopyFromRangesHalfRegisteredIsFound) {
  std::byte* beyond = host() + kBytes;  // the rest of the page
  EXPECT_EQ(cuMemcpyHtoDAsync(device_, beyond - 10, 20, one_), 1);
  expect_found("unpinned-copy");
}

TEST_F(FakeChecks, ACopyAcrossTwoRegistrationsIsFound) {
  EXPECT_EQ(cuMemHostRegister(host() + kBytes, kBytes, 1), 0);
  EXPECT_EQ(cuMemcpyHtoDAsync(device_, host() + kBytes - 10, 20, one_), 1);
  expect_found("unpinned-copy");
  EXPECT_EQ(cuMemHostUnregister(host() + kBytes), 0);
}

TEST_F(FakeChecks, AnUnregisteredCopyIsFoundWhenAskedFor) {
  std::vector<std::byte> pageable(100);
  EXPECT_EQ(cuMemcpyHtoDAsync(device_, pageable.data(), 100, one_), 0);
  EXPECT_EQ(cuStreamSynchronize(one_), 0);
  EXPECT_THAT(misuses(), IsEmpty());
  fake_cuda_require_pinned(1);
  EXPECT_EQ(cuMemcpyHtoDAsync(device_, pageable.data(), 100, one_), 0);
  expect_found("unpinned-copy");
}

TEST_F(FakeChecks, UnregisteringBeforeTheCopyRanIsFound) {
  fake_cuda_pause();
  upload(one_);
  EXPECT_EQ(cuMemHostUnregister(host()), 0);
  EXPECT_THAT(misuses(), IsEmpty());
  expect_found("unpinned-copy");
  EXPECT_EQ(cuMemHostRegister(host(), kBytes, 1), 0);
}

TEST_F(FakeChecks, EverythingThatWaitsIsFoundOnTheHotPath) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  std::vector<std::byte> pageable(10);
  const std::function<void()> waits[] = {
      [&] { cuStreamSynchronize(one_); },
      [&] { cuCtxSynchronize(); },
      [&] { cuEventSynchronize(event_); },
      [&] { cuMemAlloc(&memory, 10); },
      [&] { cuMemFree(memory); },
      [&] { cuStreamCreate(&stream, 1); },
      [&] { cuStreamDestroy(stream); },
      [&] { cuEventCreate(&event, 2); },
      [&] { cuEventDestroy(event); },
      [&] { cuMemHostRegister(pageable.data(), 10, 1); },
      [&] { cuMemHostUnregister(pageable.data()); },
      [&] { cuMemcpyDtoHAsync(pageable.data(), device_, 10, one_); },
      [&] { cuMemcpyHtoD(device_, pageable.data(), 10); },
      [&] { cuStreamSynchronize(nullptr), cuMemcpyDtoH(pageable.data(), device_, 10); },
  };
  size_t found = 0;
  for (const auto& wait : waits) {
    fake_cuda_hot_path(1);
    wait();
    fake_cuda_hot_path(0);
    ASSERT_GT(misuses().size(), found);
    EXPECT_THAT(misuses().back(), StartsWith("host-sync:"));
    found = misuses().size();
    cuCtxSynchronize();
  }
  upload(one_);
  order(one_, two_);
  EXPECT_EQ(misuses().size(), found) << "what is queued does not wait";
}

TEST_F(FakeChecks, EventMisuseIsFound) {
  EXPECT_EQ(cuStreamWaitEvent(one_, event_, 0), 0);
  expect_found("event-misuse");
  ASSERT_EQ(cuCtxPushCurrent(contexts_[1]), 0);
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, 1), 0);
  EXPECT_EQ(cuEventRecord(event_, other), 400);
  EXPECT_THAT(misuses().back(), StartsWith("event-misuse:"));
  ASSERT_EQ(cuStreamDestroy(other), 0);
  CUcontext popped = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&popped), 0);
}

TEST_F(FakeChecks, WrongContextsAreFound) {
  ASSERT_EQ(cuCtxPushCurrent(contexts_[1]), 0);
  EXPECT_EQ(cuMemcpyHtoDAsync(device_, host(), 10, one_), 0);
  CUcontext popped = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&popped), 0);
  expect_found("wrong-context");
  ASSERT_EQ(cuCtxPopCurrent(&popped), 0);
  EXPECT_EQ(cuStreamSynchronize(one_), 201);
  EXPECT_EQ(cuCtxPopCurrent(&popped), 201);
  EXPECT_EQ(cuCtxPushCurrent(reinterpret_cast<CUcontext>(uintptr_t{64})), 201);
  EXPECT_EQ(misuses().size(), 4U);
  EXPECT_THAT(misuses(), testing::Each(StartsWith("wrong-context:")));
  ASSERT_EQ(cuCtxPushCurrent(contexts_[0]), 0);
}

TEST_F(FakeChecks, ANewStreamMayHaveAnOldHandleAndNeverAnOldId) {
  CUstream first = nullptr, second = nullptr;
  unsigned long long first_id = 0, second_id = 0;
  fake_cuda_reuse_streams(1);
  ASSERT_EQ(cuStreamCreate(&first, 1), 0);
  ASSERT_EQ(cuStreamGetId(first, &first_id), 0);
  ASSERT_EQ(cuStreamDestroy(first), 0);
  ASSERT_EQ(cuStreamCreate(&second, 1), 0);
  ASSERT_EQ(cuStreamGetId(second, &second_id), 0);
  EXPECT_EQ(first, second);
  EXPECT_NE(first_id, second_id);
  ASSERT_EQ(cuStreamDestroy(second), 0);
  EXPECT_THAT(misuses(), IsEmpty());
}

TEST_F(FakeChecks, StaleHandlesAreFoundAndNeverFollowed) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 1), 0);
  ASSERT_EQ(cuStreamDestroy(stream), 0);
  ASSERT_EQ(cuEventCreate(&event, 2), 0);
  ASSERT_EQ(cuEventDestroy(event), 0);
  EXPECT_EQ(cuStreamSynchronize(stream), 709);
  fake_cuda_dead_streams(400);
  EXPECT_EQ(cuStreamDestroy(stream), 400);
  EXPECT_EQ(cuEventRecord(event, one_), 400);
  EXPECT_EQ(cuEventQuery(event), 400);
  EXPECT_EQ(cuModuleUnload(nullptr), 400);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, one_, nullptr, nullptr), 400);
  CUcontext context = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 2), 101);
  EXPECT_EQ(cuMemHostUnregister(host() + 2 * kBytes), 713);
  EXPECT_THAT(misuses(), ElementsAre(HasSubstr("unknown-stream"), HasSubstr("unknown-stream"),
                                     HasSubstr("unknown-event"), HasSubstr("unknown-event"),
                                     HasSubstr("unknown-module"), HasSubstr("unknown-function"),
                                     HasSubstr("unknown-device"), HasSubstr("not-registered")));
}

}  // namespace
}  // namespace dataline::fake_checks_test
