// Reads JSON (RFC 8259) as its caller expects it: label lists, recipes of mixes. A parser of our own instead of simdjson (3.0.1 in Debian 12), because:
// - simdjson selects its code through get_active_implementation(), a mutable global that it shares with a host that uses
//   simdjson too, and that it sets from the environment (SIMDJSON_FORCE_IMPLEMENTATION). The DOM and the On-Demand parser
//   both go through it, so it cannot be avoided; this library has no mutable globals and does not read the environment.
// - It refuses text that is not UTF-8. File names on Linux need not be UTF-8, and these are read.
// - Its error codes do not say what was expected, which our messages do.
// Speed does not matter: parsing is 5 % of opening a list, which looks up every file in it.
// Threads: one at a time.
// Failure: kCorrupt; messages begin with "FILE: line 7: byte 12: " and say what was expected there and what was found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/source/labels/label_rows.h"

namespace dataline {

class JsonReader {
 public:
  // `name` is for messages and outlives the reader; `line` is that of text[0]. `end`: what messages call the end of the text.
  JsonReader(const std::string& name, int64_t line, std::string_view text, std::string_view end)
      : name_(name), line_(line), text_(text), end_(end) {}

  // Spaces first. take(): whether this byte is next, which is then behind; expect(): an error if it is not.
  bool take(char c);
  Status expect(char c);
  bool at_end();  // nothing but spaces is left
  char peek();    // the next byte; 0 at the end
  // Whether this word is next, which is then behind.
  bool take_word(std::string_view word);
  Status read_string(std::string& out);
  // A string without escapes, as it stands in the text. False, and nothing is taken, where the next value is something else,
  // or a string with escapes, with control characters, or without an end.
  bool take_plain_string(std::string_view& out);
  // Of a string as much as there is room for; `bytes` is how long it is.
  Status read_string(std::span<char> room, size_t& bytes);
  // The text of a number that JSON allows, spaces before it skipped; whole: it has neither a fraction nor an exponent.
  Status read_number(std::string_view& out, bool& whole);
  // A whole number from 0 on: a size, a count.
  Status read_count(int64_t& out);
  Status skip_value() { return skip_value(0); }
  // An object: use(key) reads the value of each member, and may take the key's text.
  template <typename Use>
  Status each_member(const Use& use) {
    DL_RETURN_IF_ERROR(expect('{'));
    std::string key;
    for (bool first = true; !take('}'); first = false) {
      if (!first) DL_RETURN_IF_ERROR(expect(','));
      DL_RETURN_IF_ERROR(read_string(key));
      DL_RETURN_IF_ERROR(expect(':'));
      DL_RETURN_IF_ERROR(use(key));
    }
    return Status::ok();
  }
  // An array: use() reads each item.
  template <typename Use>
  Status each_item(const Use& use) {
    DL_RETURN_IF_ERROR(expect('['));
    for (bool first = true; !take(']'); first = false) {
      if (!first) DL_RETURN_IF_ERROR(expect(','));
      DL_RETURN_IF_ERROR(use());
    }
    return Status::ok();
  }

  template <typename... Parts>
  Status refuse(const Parts&... parts) const {
    return line_error(Code::kCorrupt, name_, line(), parts...);
  }
  // "FILE: line 7: byte 12: "
  std::string place() const {
    return name_ + ": line " + std::to_string(line()) + ": byte " + std::to_string(byte()) + ": ";
  }
  // That something else stands here.
  Status expected(std::string_view what) const;
  int64_t line() const {
    return line_ + std::count(text_.begin(), text_.begin() + static_cast<int64_t>(at_), '\n');
  }
  // From 1, in the line.
  size_t byte() const { return at_ - (text_.substr(0, at_).rfind('\n') + 1) + 1; }

 private:
  void skip_space();
  size_t plain_bytes() const;
  std::optional<uint32_t> take_hex4();
  // `Out` has append(string_view): std::string, or what has less room.
  template <typename Out>
  Status read_string_into(Out& out);
  Status read_unicode(uint32_t& character);
  Status read_escape(uint32_t& character);
  Status skip_string();
  Status skip_value(int depth);
  Status skip_members(char end, int depth);

  const std::string& name_;
  int64_t line_;
  std::string_view text_, end_;
  size_t at_ = 0;
};

}  // namespace dataline
