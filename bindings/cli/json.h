// Writes JSON: adds separators and escapes, keeps the order of the calls.
//
// Not a library: of those in Debian 12, nlohmann-json3-dev and rapidjson-dev can write JSON (simdjson 3.1 cannot). Either would be
// a package needed on every machine that builds the shell, where a compiler and CMake are enough, to replace the 90 lines of
// json.cpp; the number format, 9 digits, would remain ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace dataline::cli {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view name);

  Json& value(std::string_view text);  // invalid UTF-8 becomes U+FFFD
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(bool flag) { return raw(flag ? "true" : "false"); }
  Json& value(std::integral auto number) { return raw(std::to_string(number)); }
  Json& value(double number);  // null if not finite
  Json& null() { return raw("null"); }

  Json& text_or_null(std::string_view text) { return text.empty() ? null() : value(text); }

  const std::string& text() const { return out_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& raw(std::string_view text);
  void separate();
  void quote(std::string_view text);

  std::string out_;
  bool first_ = true;  // no separator is due: after an opening bracket or a key
};

}  // namespace dataline::cli
