// SPDX-License-Identifier: Apache-2.0
#include "core/source/label_rows.h"

namespace dataline {

std::string shown_text(std::string_view text) {
  constexpr size_t kShown = 64;
  std::string out = "'";
  for (char c : text.substr(0, kShown)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (text.size() > kShown ? "...'" : "'");
}

}  // namespace dataline
