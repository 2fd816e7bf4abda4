// Page-locking: all at once, else as far as the driver goes, and the truth about it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/device_support.h"

namespace dataline::pin_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSlots = 5, kBytes = 9000;

class Pin : public FakeCuda {
 protected:
  Pin() : host_(kSlots, kBytes) {}

  std::shared_ptr<Device> open_told(std::string_view name, bool pin_memory,
                                    const char* library = FAKE_CUDA_LIBRARY,
                                    std::string_view pin_device = "cuda:0") {
    DeviceRequest asked = request(name);
    asked.cuda_library = library;
    asked.pin_memory = pin_memory;
    if (pin_memory && name == "cpu") asked.pin_device = pin_device;
    asked.log.context = &warnings_;
    asked.log.write = [](void* into, int32_t level, const char* text, size_t length) {
      EXPECT_EQ(level, static_cast<int32_t>(LogLevel::kWarning));
      static_cast<std::vector<std::string>*>(into)->emplace_back(text, length);
    };
    auto device = open_for_workers(asked);
    EXPECT_TRUE(device.is_ok()) << device.status().message();
    return device.take();
  }
  int64_t pin(Device& device) { return device.pin(host_.slot(0), host_.stride(), kSlots).take(); }

  HostSlots host_;
  std::vector<std::string> warnings_;
};

TEST_F(Pin, AllSlotsAreOneRange) {
  auto device = open_told("cuda", false);
  EXPECT_EQ(pin(*device), kSlots);
  EXPECT_EQ(fake_cuda_calls("cuMemHostRegister"), 1);
  EXPECT_EQ(fake_cuda_pinned_bytes(), kSlots * host_.stride());
  device->unpin();
  EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Pin, ARefusalAtEachSizeLeavesThoseThatFit) {
  for (const char* name : {"cuda", "cpu"}) {
    for (int64_t fit = 0; fit < kSlots; ++fit) {
      warnings_.clear();
      fake_cuda_limit_pinned(fit * host_.stride() + host_.stride() / 2);
      auto device = open_told(name, true);
      EXPECT_EQ(pin(*device), fit) << name;
      EXPECT_EQ(fake_cuda_pinned_bytes(), fit * host_.stride());
      EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr(concat(fit, " of ", kSlots)),
                                               HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"))));
      device->unpin();
      EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
    }
  }
}

TEST_F(Pin, CopiesArriveFromPinnedAndPageableSlots) {
  fake_cuda_limit_pinned(2 * host_.stride());
  fake_cuda_seed(5);
  auto device = open_told("cuda", false);
  EXPECT_EQ(pin(*device), 2);
  fake_cuda_limit_pinned(-1);  // the consumer's own memory
  auto slots = device->make_slots(kSlots, kBytes).take();
  Consumer consumer;
  for (int i = 0; i < kSlots; ++i) {
    DeviceSlot& slot = *slots[static_cast<size_t>(i)];
    host_.fill(i, 3 * i + 1);
    ASSERT_TRUE(slot.send(host_.slot(i), whole(kBytes), {}).is_ok());
    EXPECT_EQ(consumer.value_of(slot, kBytes), 3 * i + 1);
    slot.done();
  }
  slots.clear();
  device->unpin();
}

TEST_F(Pin, WhatTheHostRegisteredCountsAndStaysItsOwn) {
  Consumer host_program;
  auto device = open_told("cuda", false);
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  ASSERT_EQ(cuMemHostRegister(host_.slot(0), static_cast<size_t>(kSlots * host_.stride()), 0), 0);
  EXPECT_EQ(pin(*device), kSlots);
  EXPECT_THAT(warnings_, IsEmpty());
  device->unpin();
  EXPECT_EQ(fake_cuda_pinned_bytes(), kSlots * host_.stride());
  ASSERT_EQ(cuMemHostUnregister(host_.slot(0)), 0);
  // One of the slots only: the others are ours.
  ASSERT_EQ(cuMemHostRegister(host_.slot(2), static_cast<size_t>(host_.stride()), 0), 0);
  EXPECT_EQ(pin(*device), kSlots);
  device->unpin();
  EXPECT_EQ(fake_cuda_pinned_bytes(), host_.stride());
  ASSERT_EQ(cuMemHostUnregister(host_.slot(2)), 0);
  ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
}

// Two slots in one page cannot be told apart by the driver.
TEST_F(Pin, SlotsThatSharePagesAreLockedTogetherOrNotAtAll) {
  auto device = open_told("cuda", false);
  EXPECT_EQ(device->pin(host_.slot(0), 1000, 4).take(), 4);
  device->unpin();
  fake_cuda_limit_pinned(3000);
  EXPECT_EQ(device->pin(host_.slot(0), 1000, 4).take(), 0);
  EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
}

// Slots that are locked one by one begin and end with pages, so that this holds where a registration takes whole ones.
TEST_F(Pin, SlotsLockedOneByOneShareNoPage) {
  fake_cuda_register_pages(1);
  fake_cuda_limit_pinned(3 * host_.stride());
  auto device = open_told("cuda", false);
  EXPECT_EQ(pin(*device), 3);
  EXPECT_EQ(fake_cuda_live("registrations"), 3);
  device->unpin();
  EXPECT_EQ(fake_cuda_live("registrations"), 0);
}

TEST_F(Pin, TheCpuPinsWhenAskedAndOnlyThen) {
  auto plain = open_told("cpu", false);
  EXPECT_EQ(pin(*plain), 0);
  EXPECT_EQ(fake_cuda_calls(nullptr), 0);
  auto pinning = open_told("cpu", true);
  EXPECT_EQ(pin(*pinning), kSlots);
  EXPECT_EQ(fake_cuda_pinned_bytes(), kSlots * host_.stride());
  EXPECT_EQ(fake_cuda_calls("cuStreamCreate"), 0);
  pinning.reset();
  EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
  EXPECT_THAT(warnings_, IsEmpty());
}

// A context of a process that only loads would take hundreds of megabytes of a device, on each rank those of the first.
TEST_F(Pin, TheCpuOpensNoDeviceThatNobodyNamed) {
  fake_cuda_devices(2, 1 << 20);
  auto device = open_told("cpu", true, FAKE_CUDA_LIBRARY, "");
  EXPECT_EQ(pin(*device), 0);
  EXPECT_EQ(fake_cuda_calls("cuInit"), 0);
  EXPECT_EQ(fake_cuda_calls("cuDevicePrimaryCtxRetain"), 0);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("no current primary CUDA context"),
                                           HasSubstr("pin_memory_device=cuda:N"))));
}

TEST_F(Pin, TheCpuLocksThroughTheContextThatTheThreadHas) {
  fake_cuda_devices(2, 1 << 20);
  CUcontext context = nullptr;
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  auto device = open_told("cpu", true, FAKE_CUDA_LIBRARY, "");
  EXPECT_EQ(pin(*device), kSlots);
  EXPECT_EQ(fake_cuda_live("contexts"), 2) << "that of device 1, once more";
  ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(1), 0);  // the program has done with it; the slots have not
  device->unpin();
  EXPECT_EQ(fake_cuda_pinned_bytes(), 0);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Pin, TheCpuLocksThroughTheDeviceThatIsNamed) {
  fake_cuda_devices(2, 1 << 20);
  fake_cuda_fail_name("cuDevicePrimaryCtxRetain", 0, 46, 1);  // exclusive, and another process has it
  auto refused = open_told("cpu", true, FAKE_CUDA_LIBRARY, "cuda:0");
  EXPECT_EQ(pin(*refused), 0);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE")));
  auto device = open_told("cpu", true, FAKE_CUDA_LIBRARY, "cuda:1");
  EXPECT_EQ(pin(*device), kSlots);
  DeviceRequest wrong = request("cpu");
  wrong.pin_device = "gpu1";
  EXPECT_THAT(std::string(open_device(wrong).status().message()),
              AllOf(HasSubstr("pin_memory_device"), HasSubstr("'gpu1'")));
}

// What the driver calls registered may be a part of a slot: it copies no range that is half of it.
TEST_F(Pin, ASlotThatTheHostLockedInPartIsRefusedByItsNumber) {
  Consumer host_program;
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  const auto page = static_cast<size_t>(page_bytes());
  for (std::byte* at : {host_.slot(2), host_.slot(3) - page}) {
    ASSERT_EQ(cuMemHostRegister(at, page, 0), 0);
    auto device = open_told("cuda", false);
    const Result<int64_t> locked = device->pin(host_.slot(0), host_.stride(), kSlots);
    EXPECT_EQ(locked.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(locked.status().message()),
                AllOf(HasSubstr("slot 2"), HasSubstr(at == host_.slot(2) ? "its first byte is in memory"
                                                                         : "its last byte is in memory")));
    device->unpin();
    ASSERT_EQ(cuMemHostUnregister(at), 0);
  }
  ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
}

TEST_F(Pin, TheCpuGoesOnWithoutADriver) {
  auto device = open_told("cpu", true, "libno_such_driver.so.1");
  EXPECT_EQ(pin(*device), 0);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("pin_memory"), HasSubstr("libno_such_driver.so.1"))));
  device->unpin();
}

TEST_F(Pin, UnpinWaitsForCopiesThatStillReadTheSlots) {
  auto device = open_told("cuda", false);
  ASSERT_EQ(pin(*device), kSlots);
  fake_cuda_seed(11);
  auto slots = device->make_slots(kSlots, kBytes).take();
  for (int i = 0; i < kSlots; ++i)
    ASSERT_TRUE(slots[static_cast<size_t>(i)]->send(host_.slot(i), whole(kBytes), {}).is_ok());
  device->unpin();
  EXPECT_EQ(fake_cuda_pending(), 0);
}

// Every way in which the n-th registration can fail leaves an honest count.
TEST_F(Pin, AFailureAtEachRegistrationIsCountedRight) {
  for (int64_t nth = 1; nth <= kSlots; ++nth) {
    fake_cuda_clear_faults();
    fake_cuda_fail_name("cuMemHostRegister", 0, 801, 1);  // all at once
    fake_cuda_fail_name("cuMemHostRegister", nth - 1, 801,
                        1);  // and one of the rest; the first fault took call 0
    auto device = open_told("cuda", false);
    EXPECT_EQ(pin(*device), nth - 1);
    device->unpin();
  }
  EXPECT_EQ(warnings_.size(), static_cast<size_t>(kSlots));
}

TEST_F(Pin, AStickyFailureLosesTheDevice) {
  expect_leaks();
  auto device = open_told("cuda", false);
  fake_cuda_fail_name("cuMemHostRegister", 1, 719, 1);
  fake_cuda_limit_pinned(0);
  EXPECT_EQ(pin(*device), 0);
  EXPECT_TRUE(device->lost());
  EXPECT_EQ(device->make_slots(1, 100).status().code(), Code::kDeviceLost);
  EXPECT_EQ(warnings_.size(), 1U);
  device->unpin();
}

}  // namespace
}  // namespace dataline::pin_test
