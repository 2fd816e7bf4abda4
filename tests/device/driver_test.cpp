// Opening a device: what is missing is named, nothing is left behind.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/device/cuda_driver.h"
#include "tests/device/device_support.h"
#include "tests/support/places.h"

namespace dataline::driver_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Driver : public FakeCuda {
 protected:
  static Status refused(std::string_view name, std::string_view library = FAKE_CUDA_LIBRARY) {
    DeviceRequest asked = request(name);
    asked.cuda_library = library;
    auto device = open_for_workers(asked);
    return device.is_ok() ? Status::ok() : device.take_status();
  }
};

TEST_F(Driver, TellsWhatItIs) {
  fake_cuda_devices(3, 1 << 20);
  auto device = open("cuda:2");
  EXPECT_EQ(device->type(), 2);
  EXPECT_EQ(device->index(), 2);
  EXPECT_EQ(device->info().name, "Fake Device");
  EXPECT_EQ(device->info().driver, "13.0");
  EXPECT_FALSE(device->lost());
  EXPECT_EQ(open("cuda")->index(), 0);
}

TEST_F(Driver, CpuNeedsNoDriver) {
  auto device = open("cpu");
  EXPECT_EQ(device->type(), 1);
  std::vector<std::byte> memory(4096);
  EXPECT_EQ(device->pin(memory.data(), 4096, 1).take(), 0);
  EXPECT_TRUE(device->make_slots(4, 4096).value().empty());
  EXPECT_EQ(device->make_block(1).status().code(), Code::kUnsupported);
  EXPECT_EQ(fake_cuda_calls(nullptr), 0);
}

TEST_F(Driver, UnknownNamesAreBadOptions) {
  for (const char* name :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "CUDA:0"}) {
    const Status status = refused(name);
    EXPECT_EQ(status.code(), Code::kBadOption) << name;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("option device"), HasSubstr(concat("'", name, "'"))));
  }
  EXPECT_EQ(fake_cuda_calls(nullptr), 0);
}

TEST_F(Driver, AMissingLibraryIsNamed) {
  const Status status = refused("cuda", "libno_such_driver.so.1");
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), HasSubstr("libno_such_driver.so.1"));
}

TEST_F(Driver, ALibraryThatIsNoDriverIsNamed) {
  const Status status = refused("cuda", "libm.so.6");
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("libm.so.6"), HasSubstr("is not a CUDA driver")));
}

TEST_F(Driver, AnOldDriverTellsItsVersionAndTheLeast) {
  Status status = refused("cuda", tests::in_build("lib/libfake_old_cuda.so"));
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("CUDA 12.0 driver or newer"), HasSubstr("this one is 11.8")));
  fake_cuda_version(11040);
  status = refused("cuda");
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("CUDA 12.0 driver or newer"), HasSubstr("this one is 11.4")));
  EXPECT_EQ(fake_cuda_calls("cuInit"), 0) << "nothing is started in a driver that will not do";
}

TEST_F(Driver, EachMissingEntryPointIsNamed) {
  const char* const names[] = {
#define DL_NAME(name, version, parameters) #name,
      DL_CUDA_ENTRY_POINTS(DL_NAME)
#undef DL_NAME
  };
  for (const char* name : names) {
    fake_cuda_reset();
    fake_cuda_hide(name);
    const Status status = refused("cuda");
    EXPECT_EQ(status.code(), Code::kNoDevice) << name;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(name), HasSubstr("CUDA 12.0 driver or newer")));
    EXPECT_EQ(fake_cuda_calls("cuInit"), 0);
  }
}

TEST_F(Driver, OrdinalsThatAreNotThereSayHowManyAre) {
  EXPECT_THAT(refused("cuda:1").message(), AllOf(HasSubstr("cuda:1"), HasSubstr("there is 1 CUDA device")));
  fake_cuda_reset();
  fake_cuda_devices(2, 1 << 20);
  EXPECT_THAT(refused("cuda:7").message(), AllOf(HasSubstr("cuda:7"), HasSubstr("there are 2 CUDA devices")));
  EXPECT_EQ(refused("cuda:2").code(), Code::kNoDevice);
  fake_cuda_reset();
  fake_cuda_devices(0, 0);
  EXPECT_EQ(refused("cuda").code(), Code::kNoDevice);
  EXPECT_THAT(refused("cuda").message(), HasSubstr("there are 0 CUDA devices"));
}

// A driver without a device was never started: any other call would be refused.
TEST_F(Driver, ADriverThatDidNotStartIsAskedNothingElse) {
  for (int32_t code : {100, 803}) {
    fake_cuda_reset();
    fake_cuda_fail_name("cuInit", 0, code, 1);
    EXPECT_EQ(refused("cuda").code(), Code::kNoDevice);
    EXPECT_EQ(fake_cuda_calls("cuThreadExchangeStreamCaptureMode"), 0);
  }
}

TEST_F(Driver, WhatItMakesHasTheFlagsThatOthersRelyOn) {
  fake_cuda_only();
  constexpr uint32_t kNonBlocking = 1, kQuietAndAsleep = 1 | 2, kPortable = 1;
  HostSlots host(3, 1000);
  auto device = open();
  ASSERT_EQ(device->pin(host.slot(0), host.stride(), 3).take(), 3);
  auto slots = device->make_slots(3, 1000).take();
  EXPECT_GT(fake_cuda_live("events"), 0);
  EXPECT_EQ(fake_cuda_live_with("streams", kNonBlocking), fake_cuda_live("streams"));
  EXPECT_EQ(fake_cuda_live_with("events", kQuietAndAsleep), fake_cuda_live("events"));
  EXPECT_EQ(fake_cuda_live_with("registrations", kPortable), fake_cuda_live("registrations"));
  slots.clear();
  device->unpin();
}

TEST_F(Driver, ADriverThatDoesNotStartSaysWhy) {
  fake_cuda_fail_name("cuInit", 0, 803, 1);
  Status status = refused("cuda");
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), HasSubstr("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"));
  fake_cuda_fail_name("cuInit", 0, 34, 1);
  status = refused("cuda");
  EXPECT_EQ(status.code(), Code::kNoDevice);
  EXPECT_THAT(status.message(), HasSubstr("stub"));
}

TEST_F(Driver, NotEvenRetainedWithoutMemoryOnTheDevice) {
  fake_cuda_fail_name("cuDevicePrimaryCtxRetain", 0, 2, 1);
  const Status status = refused("cuda");
  EXPECT_EQ(status.code(), Code::kNoMemory);
  EXPECT_THAT(status.message(), HasSubstr("cuDevicePrimaryCtxRetain"));
}

// Any call while a device is opened may fail: it is an error, and what was made before is given back.
TEST_F(Driver, AFailureAtEachCallOfOpenLeavesNothingBehind) {
  open();
  const int64_t count = fake_cuda_calls(nullptr);
  int64_t refusals = 0;
  for (int64_t index = 0; index < count; ++index) {
    fake_cuda_reset();
    fake_cuda_fail_call(index, 801, 1);
    const Status status = refused("cuda");
    if (!status.is_ok()) {
      ++refusals;
      EXPECT_EQ(status.code(), Code::kNoDevice) << index << ": " << status.message();
    }
    for (const char* kind : {"streams", "contexts"}) {
      if (!status.is_ok()) {
        EXPECT_EQ(fake_cuda_live(kind), 0) << index << ": " << status.message();
      }
    }
    EXPECT_EQ(fake_cuda_misuses(), 0) << fake_cuda_misuse(0);
  }
  EXPECT_GT(refusals, 40);
  fake_cuda_reset();
}

TEST_F(Driver, AStickyFailureAtEachCallOfOpenIsTheLastCall) {
  open();
  const int64_t count = fake_cuda_calls(nullptr);
  for (const int32_t code : {719, 4}) {
    for (int64_t index = 0; index < count; ++index) {
      fake_cuda_reset();
      fake_cuda_fail_call(index, code, -1);
      const Status status = refused("cuda");
      EXPECT_TRUE(status.is_ok() || status.code() == Code::kNoDevice) << status.message();
      const bool found_later = index < kLookups;  // then it is a missing entry point, or an unknown version
      if (!found_later) {
        EXPECT_EQ(fake_cuda_calls_after_loss(), 0) << index;
      }
    }
  }
  fake_cuda_reset();
}

}  // namespace
}  // namespace dataline::driver_test
