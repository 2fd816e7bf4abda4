// The library's log: the host's function, or none.
// Threads: the host promises that its function may be called from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace dataline {

enum class LogLevel : int32_t { kProgress = 0, kInfo = 1, kWarning = 2 };  // values of DL_LOG_*

struct Log {
  void* context = nullptr;
  void (*write)(void* context, int32_t level, const char* message, size_t length) = nullptr;
  std::shared_ptr<const void> life = nullptr;  // of the context: the host is told when the last copy is gone

  // The host receives the message as message_text.h shows it.
  void operator()(LogLevel level, std::string_view message) const;
};

}  // namespace dataline
