// Device: where a field's memory is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <cstdint>
#include <string>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

struct Device {
  int32_t type = DL_DEVICE_CPU;  // DL_DEVICE_*
  int32_t index = 0;             // of that type; 0 on the cpu

  bool is_cpu() const noexcept { return type == DL_DEVICE_CPU; }
  // "cpu", "cuda:0": a value of the option `device`.
  std::string name() const {
    if (is_cpu()) return "cpu";
    return (type == DL_DEVICE_CUDA ? "cuda" : "type " + std::to_string(type)) + ":" + std::to_string(index);
  }

  friend bool operator==(const Device& a, const Device& b) noexcept {
    return a.type == b.type && a.index == b.index;
  }
  friend bool operator!=(const Device& a, const Device& b) noexcept { return !(a == b); }
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
