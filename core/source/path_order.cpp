// SPDX-License-Identifier: Apache-2.0
#include "core/source/path_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dataline {
namespace {

constexpr uint32_t kEscaped = 0xdc00;  // PEP 383: plus the byte

uint32_t byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }
bool is_continuation(std::string_view text, size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xc0) == 0x80;
}

// Takes the first character off `text`, which is not empty. Well-formed UTF-8 as the Unicode standard's table 3-7.
uint32_t take_character(std::string_view& text) {
  const uint32_t lead = byte_at(text, 0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  uint32_t character = length == 1   ? lead
                       : length == 2 ? lead & 0x1f
                       : length == 3 ? lead & 0x0f
                                     : lead & 0x07;
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text, i)) {
      length = 0;
      break;
    }
    character = character << 6 | (byte_at(text, i) & 0x3f);
  }
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  if (length == 0 || overlong || surrogate || character > 0x10ffff) {
    text.remove_prefix(1);
    return kEscaped + lead;
  }
  text.remove_prefix(length);
  return character;
}

bool less_by_characters(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    uint32_t x = take_character(a), y = take_character(b);
    if (x != y) return x < y;
  }
  return a.empty() && !b.empty();
}

}  // namespace

bool python_less(std::string_view a, std::string_view b) {
  size_t common = std::min(a.size(), b.size());
  auto at = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin()).first - a.begin());
  auto is_plain = [at](std::string_view text) { return at == text.size() || byte_at(text, at) < 0x80; };
  // Both go on with ASCII, or end: what stands before is equal as characters too.
  if (is_plain(a) && is_plain(b)) return at < b.size() && (at == a.size() || a[at] < b[at]);
  return less_by_characters(a, b);
}

}  // namespace dataline
