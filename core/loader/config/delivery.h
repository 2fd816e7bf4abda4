// Where batches are delivered, and through which memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

enum class DeviceSync : int32_t { kStream, kHost };
enum class Io : int32_t { kAuto, kMmap, kPread, kMemory, kDevice };

struct DeliveryConfig {
  std::string device, cuda_library;
  bool pin_memory = false;
  std::string pin_memory_device;
  Io io = Io::kAuto;
  DeviceSync device_sync = DeviceSync::kStream;
};

}  // namespace dataline
