// A JSON writer.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/json.h"

#include <charconv>
#include <cmath>

namespace dataline::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 character that `text` starts with, 0 when they are none (also overlong forms and
// surrogates).
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto more = [&](size_t count, unsigned char low, unsigned char high) -> size_t {
    if (text.size() <= count || byte(1) < low || byte(1) > high) return 0;
    for (size_t at = 2; at <= count; ++at) {
      if ((byte(at) & 0xC0) != 0x80) return 0;
    }
    return count + 1;
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return more(1, 0x80, 0xBF);
  if (lead == 0xE0) return more(2, 0xA0, 0xBF);
  if (lead == 0xED) return more(2, 0x80, 0x9F);
  if (lead >= 0xE1 && lead <= 0xEF) return more(2, 0x80, 0xBF);
  if (lead == 0xF0) return more(3, 0x90, 0xBF);
  if (lead >= 0xF1 && lead <= 0xF3) return more(3, 0x80, 0xBF);
  if (lead == 0xF4) return more(3, 0x80, 0x8F);
  return 0;
}

}  // namespace

void Json::separate() {
  if (!first_) out_ += ", ";
  first_ = false;
}

Json& Json::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

Json& Json::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

Json& Json::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ": ";
  first_ = true;
  return *this;
}

Json& Json::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

Json& Json::value(double number) {
  if (!std::isfinite(number)) return null();
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::general, 9);
  return raw(std::string_view(buffer, end.ptr));
}

void Json::quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out_ += '"';
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    const char c = text[0];
    if (bytes == 0) {
      out_ += kReplacement;
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out_ += "\\u00";
      out_ += kHex[c >> 4];
      out_ += kHex[c & 15];
    } else {
      out_ += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  out_ += '"';
}

}  // namespace dataline::cli
