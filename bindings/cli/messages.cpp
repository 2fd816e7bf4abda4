// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/messages.h"

#include <unistd.h>

#include <cerrno>

#include "bindings/cli/json.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {

Messages& messages() {
  static Messages set;
  return set;
}

std::string message_line(std::string_view text) {
  if (!messages().json) return "dataline: " + message_text(text) + "\n";
  Json json;
  json.begin_object().key("message").value(text);
  return json.end_object().text() + "\n";
}

void write_error(std::string_view text) noexcept {
  // A write is interrupted every 50 ms once the run is (interrupts.cpp); on a terminal that is stopped by Ctrl-S, for ever.
  constexpr int kMostInterruptions = 20;
  for (int interruptions = 0; !text.empty() && interruptions < kMostInterruptions;) {
    const int64_t written = write_some(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written <= 0) ++interruptions;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace dataline::cli
