// Plan: where each stage of a sample runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// The stages, in order, field by field: on the host, copies over the bus ("copy"), on the device. Strings borrow
// from the loader.
struct Plan {
  std::vector<dl_plan_stage> stages;

  // Bytes per sample that cross the bus: 0 on the cpu, -1 if they vary.
  int64_t bus_bytes() const noexcept {
    int64_t sum = 0;
    for (const dl_plan_stage& stage : stages) {
      if (stage.device_type == DL_DEVICE_CPU || std::string_view(stage.text) != "copy") continue;
      if (stage.bytes_in < 0) return -1;
      sum += stage.bytes_in;
    }
    return sum;
  }
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
