// What happens to the process around a device: forks, and its end while copies are in flight.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/device/device_support.h"
#include "tests/support/in_child.h"

namespace dataline::process_test {
namespace {

constexpr int64_t kBytes = 5000;

class Process : public FakeCuda {
 protected:
  struct Loader {
    HostSlots host{2, kBytes};
    std::shared_ptr<Device> device = open();
    std::vector<std::unique_ptr<DeviceSlot>> slots;

    Loader() {
      EXPECT_EQ(device->pin(host.slot(0), host.stride(), 2).take(), 2);
      slots = device->make_slots(2, kBytes).take();
    }
    ~Loader() {
      slots.clear();
      device->unpin();
    }
  };
};

// 0 when the child makes no call of the driver and is refused everything, else where it went wrong.
int child_of(Device& device, std::vector<std::unique_ptr<DeviceSlot>>& slots, HostSlots& host, void* stream) {
  DeviceSlot& slot = *slots[0];
  if (slot.send(host.slot(0), whole(kBytes), {}).code() != Code::kForked) return 1;
  if (!slot.copies_done()) return 2;
  if (slot.wait_for_copies().code() != Code::kForked) return 3;
  if (slot.wait(stream).code() != Code::kForked) return 4;
  if (slot.release(stream).code() != Code::kForked) return 5;
  if (device.copy_slot(slot, 10).status().code() != Code::kForked) return 6;
  if (device.make_slots(1, 10).status().code() != Code::kForked) return 7;
  if (device.make_block(10).status().code() != Code::kForked) return 8;
  if (device.pin(host.slot(0), host.stride(), 2).take() != 0) return 9;
  if (device.lost()) return 10;
  slot.done();
  slots.clear();
  device.unpin();
  return fake_cuda_calls_in_child() == 0 ? 0 : 11;
}

TEST_F(Process, AChildCallsNoFunctionOfTheDriver) {
  fake_cuda_only();
  Loader loader;
  Consumer consumer;
  ASSERT_TRUE(loader.slots[0]->send(loader.host.slot(0), whole(kBytes), {}).is_ok());
  ASSERT_TRUE(loader.slots[0]->wait(consumer.stream()).is_ok());
  const int result = in_child([&] {
    const int fault = child_of(*loader.device, loader.slots, loader.host, consumer.stream());
    loader.device.reset();  // nor the end of the device
    return fault == 0 && fake_cuda_calls_in_child() != 0 ? 12 : fault;
  });
  EXPECT_EQ(result, 0);
  // The parent's goes on.
  EXPECT_EQ(consumer.value_of(*loader.slots[0], kBytes), 0);
  loader.slots[0]->done();
}

TEST_F(Process, AChildThatOpensADeviceItselfIsOnItsOwn) {
  Loader loader;
  const int result = in_child([&] {
    // The driver does not survive a fork; opening says so instead of hanging.
    auto device = open_for_workers(request());
    return device.is_ok() ? 1 : device.status().code() == Code::kNoDevice ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
}

class ProcessEnd : public testing::Test {
 protected:
  // A program of its own: the fake's threads are none of this one's.
  ProcessEnd() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// `end` ends a process whose copies are in flight and whose loader was never destroyed, or by a static's destructor.
[[noreturn]] void end_in_flight(bool shut_down, bool destroy) {
  fake_cuda_reset();
  DeviceRequest asked;
  asked.name = "cuda";
  asked.cuda_library = FAKE_CUDA_LIBRARY;
  // What is never destroyed stays reachable, so that a leak checker has nothing to say either.
  static auto* device = new std::shared_ptr<Device>(open_for_workers(asked).take());
  static auto* host = new HostSlots(2, kBytes);
  (*device)->pin(host->slot(0), host->stride(), 2).take();
  using Slots = std::vector<std::unique_ptr<DeviceSlot>>;
  static auto* slots = new Slots((*device)->make_slots(2, kBytes).take());
  if (destroy) std::atexit([] { delete slots; });
  if (!destroy) fake_cuda_pause();
  fake_cuda_seed(7);
  for (auto& slot : *slots) static_cast<void>(slot->send(host->slot(0), whole(kBytes), {}));
  if (shut_down) fake_cuda_shut_down();
  std::exit(fake_cuda_misuses() == 0 ? 0 : 1);
}

TEST_F(ProcessEnd, WithCopiesInFlightIsQuiet) {
  fake_cuda_only();
  EXPECT_EXIT(end_in_flight(false, false), testing::ExitedWithCode(0), "^$");
}
TEST_F(ProcessEnd, WithSlotsDestroyedByStaticsIsQuiet) {
  EXPECT_EXIT(end_in_flight(false, true), testing::ExitedWithCode(0), "^$");
}
TEST_F(ProcessEnd, AfterTheDriverHasGoneIsQuiet) {
  fake_cuda_only();
  EXPECT_EXIT(end_in_flight(true, true), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace dataline::process_test
