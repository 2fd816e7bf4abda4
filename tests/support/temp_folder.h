// A new folder for a test's files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace dataline {

// Its path, with slashes on every system. Tests run beside each other: the first name that is free is taken.
inline std::string make_temp_folder(const std::string& prefix) {
  auto chance = std::chrono::steady_clock::now().time_since_epoch().count();
  for (;; ++chance) {
    const auto path = std::filesystem::temp_directory_path() / (prefix + "-" + std::to_string(chance));
    if (std::filesystem::create_directory(path)) return path.generic_string();
  }
}

}  // namespace dataline
