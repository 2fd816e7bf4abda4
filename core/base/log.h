// The library's log: the host's function, or none.
// Threads: the host promises that its function may be called from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dataline {

enum class LogLevel : int32_t { kProgress = 0, kInfo = 1, kWarning = 2 };  // values of DL_LOG_*

struct Log {
  void* context = nullptr;
  void (*write)(int32_t level, const char* message, size_t length, void* context) = nullptr;

  void operator()(LogLevel level, std::string_view message) const {
    if (write != nullptr) write(static_cast<int32_t>(level), message.data(), message.size(), context);
  }
};

}  // namespace dataline
