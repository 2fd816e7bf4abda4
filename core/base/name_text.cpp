// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_text.h"

#include "core/base/message_text.h"

namespace dataline {

bool is_name_text(std::string_view text) {
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x20 || lead == 0x7f) return false;
    if (lead < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const std::string_view before = text;
    const MessageCharacter shown = take_message_character(text);
    if (shown.text() != before.substr(0, before.size() - text.size())) return false;
  }
  return true;
}

}  // namespace dataline
