// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/messages.h"

#include <unistd.h>

#include "bindings/cli/json.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {

Messages& messages() {
  static Messages set;
  return set;
}

std::string message_line(std::string_view text) {
  if (!messages().json) return "dataline: " + without_controls(text) + "\n";
  Json json;
  json.begin_object().key("message").value(text);
  return json.end_object().text() + "\n";
}

void write_error(std::string_view text) noexcept {
  const int64_t written = write_some(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
}

}  // namespace dataline::cli
