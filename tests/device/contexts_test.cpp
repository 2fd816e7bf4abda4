// Several devices, several loaders, several threads; each thread's current context is left as it was found.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <thread>

#include "tests/device/device_support.h"

namespace dataline::contexts_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kBytes = 5000;

class Contexts : public FakeCuda {
 protected:
  Contexts() { fake_cuda_devices(3, 1 << 24); }
};

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), 0);
  return context;
}

// Everything a loader and its consumer ask of a device, in order; `left_alone` after each.
void use_everything(const DeviceRequest& request, void* stream,
                    const std::function<void(const char*)>& left_alone) {
  HostSlots host(2, kBytes);
  auto opened = open_for_workers(request);
  ASSERT_TRUE(opened.is_ok()) << opened.status().message();
  left_alone("open");
  std::shared_ptr<Device> device = opened.take();
  EXPECT_EQ(device->pin(host.slot(0), host.stride(), 2).take(), 2);
  left_alone("pin");
  auto slots = device->make_slots(2, kBytes).take();
  left_alone("make_slots");
  auto block = device->make_block(kBytes).take();
  left_alone("make_block");
  EXPECT_TRUE(block->upload(0, host.slot(0), kBytes).is_ok());
  left_alone("upload");
  EXPECT_TRUE(slots[0]->send(host.slot(0), whole(kBytes), {}).is_ok());
  left_alone("send");
  static_cast<void>(slots[0]->copies_done());
  left_alone("sent");
  EXPECT_TRUE(slots[0]->wait(stream).is_ok());
  left_alone("wait");
  EXPECT_TRUE(slots[0]->wait_for_copies().is_ok());
  left_alone("wait_for_copies");
  auto copy = device->copy_slot(*slots[0], kBytes).take();
  left_alone("copy_slot");
  EXPECT_TRUE(slots[0]->release(stream).is_ok());
  left_alone("release");
  EXPECT_TRUE(copy->wait(stream).is_ok());
  copy->done();
  left_alone("done");
  copy.reset();
  block.reset();
  slots.clear();
  left_alone("the end of slots");
  device->unpin();
  left_alone("unpin");
  device.reset();
  left_alone("the end of the device");
}

TEST_F(Contexts, EachCallLeavesTheThreadsContextAsItWas) {
  Consumer consumer(1);
  ASSERT_EQ(cuInit(0), 0);
  CUcontext contexts[3] = {};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cuDevicePrimaryCtxRetain(&contexts[i], i), 0);
  use_everything(request("cuda:1"), consumer.stream(),
                 [](const char* after) { EXPECT_EQ(current(), nullptr) << after; });
  for (CUcontext mine : contexts) {  // another device's, and the very one
    ASSERT_EQ(cuCtxPushCurrent(mine), 0);
    use_everything(request("cuda:1"), consumer.stream(),
                   [&](const char* after) { EXPECT_EQ(current(), mine) << after; });
    ASSERT_EQ(cuCtxPopCurrent(&mine), 0);
  }
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cuDevicePrimaryCtxRelease(i), 0);
}

// The host's threads keep their capture mode; the loader's own are relaxed, so that they end no capture.
TEST_F(Contexts, ThreadsOfTheLoaderAreRelaxedAboutCaptures) {
  auto device = open_device(request()).take();
  const auto exchanged = [](int mode) {
    EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
    return mode;
  };
  std::thread([&] {
    const DeviceThread here(*device);
    EXPECT_EQ(exchanged(0), 2);
  }).join();
  EXPECT_EQ(exchanged(0), 0);
}

TEST_F(Contexts, DevicesAndLoadersDoNotMeet) {
  constexpr int kLoaders = 6;
  fake_cuda_seed(9);
  std::vector<std::shared_ptr<Device>> devices;
  std::vector<std::unique_ptr<HostSlots>> hosts;
  std::vector<std::vector<std::unique_ptr<DeviceSlot>>> slots;
  for (int i = 0; i < kLoaders; ++i) {
    devices.push_back(open(concat("cuda:", i % 3)));
    hosts.push_back(std::make_unique<HostSlots>(1, kBytes));
    EXPECT_EQ(devices.back()->pin(hosts.back()->slot(0), hosts.back()->stride(), 1).take(), 1);
    slots.push_back(devices.back()->make_slots(1, kBytes).take());
    hosts.back()->fill(0, i + 1);
    ASSERT_TRUE(slots.back()[0]->send(hosts.back()->slot(0), whole(kBytes), {}).is_ok());
  }
  EXPECT_EQ(fake_cuda_live("contexts"), kLoaders);
  EXPECT_EQ(fake_cuda_live("streams"), 2 * kLoaders);
  for (int device = 0; device < 3; ++device) EXPECT_EQ(fake_cuda_used_bytes(device), 2 * 5120);
  for (int i = 0; i < kLoaders; ++i) {
    Consumer consumer(i % 3);
    EXPECT_EQ(consumer.value_of(*slots[static_cast<size_t>(i)][0], kBytes), i + 1);
    slots[static_cast<size_t>(i)][0]->done();
  }
  slots.clear();
  for (auto& device : devices) device->unpin();
}

TEST_F(Contexts, LoadersOnSeveralThreadsDoNotMeet) {
  fake_cuda_seed(4);
  std::vector<std::thread> loaders;
  for (int i = 0; i < 4; ++i) {
    loaders.emplace_back([i] {
      Consumer consumer(i % 2);
      use_everything(request(concat("cuda:", i % 2)), consumer.stream(),
                     [](const char* after) { EXPECT_EQ(current(), nullptr) << after; });
    });
  }
  for (std::thread& loader : loaders) loader.join();
}

// An event cannot be recorded in another device's stream: told when the stream is first named.
TEST_F(Contexts, AStreamOfAnotherDeviceIsRefusedByName) {
  auto device = open("cuda:2");
  HostSlots host(1, kBytes);
  ASSERT_EQ(device->pin(host.slot(0), host.stride(), 1).take(), 1);
  auto slots = device->make_slots(1, kBytes).take();
  ASSERT_TRUE(slots[0]->send(host.slot(0), whole(kBytes), {}).is_ok());
  Consumer consumer(0);
  for (const Status& status : {slots[0]->wait(consumer.stream()), slots[0]->release(consumer.stream())}) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("the batch is on cuda:2"), HasSubstr("the stream is not")));
  }
  EXPECT_FALSE(device->lost());
  slots[0]->done();
  slots.clear();
  device->unpin();
}

TEST_F(Contexts, ALostDeviceDoesNotTakeTheOthersAlong) {
  expect_leaks();
  auto first = open("cuda:0");
  auto second = open("cuda:1");
  fake_cuda_fail_name("cuMemAlloc", 0, 719, 1);
  EXPECT_EQ(first->make_slots(1, kBytes).status().code(), Code::kDeviceLost);
  EXPECT_TRUE(first->lost());
  EXPECT_FALSE(second->lost());
  EXPECT_TRUE(second->make_slots(1, kBytes).is_ok());
}

// What the thread's own context is, and what became of it, is no concern of another device's loader.
TEST_F(Contexts, AThreadWhoseDeviceIsLostUsesAnother) {
  expect_leaks();
  Consumer consumer(1);
  CUcontext lost = nullptr;
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&lost, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(lost), 0);
  fake_cuda_fail_name("cuCtxSynchronize", 0, 719, 1);
  ASSERT_EQ(cuCtxSynchronize(), 719);
  use_everything(request("cuda:1"), consumer.stream(),
                 [&](const char* after) { EXPECT_EQ(current(), lost) << after; });
  ASSERT_EQ(cuCtxPopCurrent(&lost), 0);
}

}  // namespace
}  // namespace dataline::contexts_test
