// Converts times of std::chrono to those of dataline.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <chrono>
#include <cstdint>

namespace dataline {
inline namespace DATALINE_CPP_ABI {
namespace detail {

// Negative times poll (the library reads them as no limit). Times beyond int64_t are clamped.
template <typename Rep, typename Period>
int64_t nanoseconds(std::chrono::duration<Rep, Period> time) {
  if (time <= std::chrono::duration<Rep, Period>::zero()) return 0;
  if (std::chrono::duration<double>(time).count() >= 9.2e9) return INT64_MAX;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace detail
}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
