// A JSON writer: values in the order they are given, commas and escapes by itself.
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

  Json& value(std::string_view text);  // bytes that are not UTF-8 become U+FFFD
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(std::integral auto number) { return raw(std::to_string(number)); }
  Json& value(double number);  // null when not finite
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
  bool first_ = true;  // nothing yet in the innermost bracket, or a key was just written
};

}  // namespace dataline::cli
