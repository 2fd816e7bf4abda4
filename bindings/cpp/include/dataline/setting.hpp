// A key and its value, for Options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// The value of a Setting: text as in the shell ("64MiB"), an integer, a boolean, or an array (copied).
class SettingValue {
 public:
  SettingValue(const char* text) : value_(std::string(text)) {}       // NOLINT(google-explicit-constructor)
  SettingValue(std::string text) : value_(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  SettingValue(std::string_view text) : value_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  SettingValue(std::vector<int64_t> indices) : value_(std::move(indices)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  SettingValue(std::vector<double> weights) : value_(std::move(weights)) {}
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  SettingValue(T number) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) {
      value_ = number;
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(int64_t)) {
      if (number > static_cast<T>(INT64_MAX)) {
        value_ = std::to_string(number);  // out of range: reported with its digits
      } else {
        value_ = static_cast<int64_t>(number);
      }
    } else {
      value_ = static_cast<int64_t>(number);
    }
  }

 private:
  friend class Options;
  std::variant<int64_t, bool, std::string, std::vector<int64_t>, std::vector<double>> value_;
};

struct Setting {
  std::string key;
  SettingValue value;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
