// Text that is not the library's own, as messages show it: paths, names, bytes of files, words of a host.
//
// Valid UTF-8 stays as it is, except characters that terminals and editors obey: controls, separators of lines and paragraphs,
// characters that set the direction of text, and the byte order mark. These are escaped, and so are bytes that are not UTF-8:
// \n, \t, \x1b, \u202e. Text that is escaped already stays the same.
//
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dataline {

// One character as messages show it.
struct MessageCharacter {
  static constexpr size_t kMaxBytes = 6;  // \u202e

  char bytes[kMaxBytes];
  size_t count;

  std::string_view text() const { return {bytes, count}; }
};
// Removes the first character from `text`, which is not empty.
MessageCharacter take_message_character(std::string_view& text) noexcept;

std::string message_text(std::string_view text);
// In quotes, and short: at most `max_bytes` of the text, then "...".
std::string printable(std::string_view text, size_t max_bytes = 40);
// In quotes: the first character of a text.
std::string printable_character(std::string_view text);

// The first `max_bytes` bytes of a text, without a character that does not fit completely.
std::string_view head_of(std::string_view text, size_t max_bytes);
// The last `max_bytes` bytes of a text, without a character that does not fit completely.
std::string_view end_of(std::string_view text, size_t max_bytes);
// Without the first bytes of a character at its end, as a text that its writer cut to fit has them.
std::string_view without_cut_character(std::string_view text);

}  // namespace dataline
