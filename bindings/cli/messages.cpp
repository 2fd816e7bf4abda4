// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/messages.h"

#include "bindings/cli/json.h"
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

}  // namespace dataline::cli
