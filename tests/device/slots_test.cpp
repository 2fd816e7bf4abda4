// Slots and their events: what is sent arrives, whoever waits sees it, nothing is rewritten too early.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/device_support.h"

namespace dataline {
namespace {

using testing::IsEmpty;
using Slots = FakeCuda;

constexpr int64_t kBytes = 10'000;

TEST_F(Slots, WhatIsSentIsWhatTheConsumersStreamReads) {
  auto device = open();
  HostSlots host(2, kBytes);
  ASSERT_EQ(device->pin(host.slot(0), host.stride(), 2), 2);
  auto slots = device->make_slots(2, host.stride());
  ASSERT_TRUE(slots.is_ok());
  Consumer consumer;
  for (int i = 0; i < 2; ++i) {
    DeviceSlot& slot = *slots.value()[static_cast<size_t>(i)];
    host.fill(i, 7 + i);
    ASSERT_TRUE(slot.send(host.slot(i), whole(kBytes), {}).is_ok());
    EXPECT_EQ(consumer.value_of(slot, kBytes), 7 + i);
    slot.done();
  }
  slots.value().clear();
  device->unpin();
}

}  // namespace
}  // namespace dataline
