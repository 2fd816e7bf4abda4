// SPDX-License-Identifier: Apache-2.0
#include "core/source/json.h"

namespace dataline {
namespace {

constexpr int kMaxDepth = 32;  // of values that are skipped

void append_utf8(uint32_t character, std::string& out) {
  if (character < 0x80) return out.push_back(static_cast<char>(character));
  const uint32_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;  // bytes after the first
  out += static_cast<char>((0xff00 >> (more + 1) & 0xff) | character >> (6 * more));
  for (uint32_t left = more; left-- > 0;) out += static_cast<char>(0x80 | (character >> (6 * left) & 0x3f));
}

}  // namespace

Status JsonReader::expected(std::string_view what) const {
  std::string got = at_ < text_.size() ? shown_text(text_.substr(at_, 1)) : std::string(end_);
  return refuse("byte ", byte(), ": expected ", what, ", got ", got);
}

void JsonReader::skip_space() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

bool JsonReader::take(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

Status JsonReader::expect(char c) {
  if (take(c)) return Status::ok();
  return expected(std::string("'") + c + "'");
}

bool JsonReader::at_end() {
  skip_space();
  return at_ == text_.size();
}

char JsonReader::peek() { return at_end() ? '\0' : text_[at_]; }

std::optional<uint32_t> JsonReader::take_hex4() {
  if (text_.size() - at_ < 4) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    char c = text_[at_ + i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<uint32_t>(digit);
  }
  at_ += 4;
  return value;
}

// After "\u". A high surrogate includes the low one that follows.
Status JsonReader::read_unicode(std::string& out) {
  std::optional<uint32_t> unit = take_hex4();
  if (!unit) return expected("four hexadecimal digits");
  uint32_t character = *unit;
  if (character >= 0xd800 && character < 0xdc00) {
    std::optional<uint32_t> low;
    if (text_.substr(at_, 2) == "\\u") at_ += 2, low = take_hex4();
    if (!low || *low < 0xdc00 || *low > 0xdfff)
      return refuse("byte ", byte(), ": a high surrogate without its low one");
    character = 0x10000 + ((character - 0xd800) << 10) + (*low - 0xdc00);
  } else if (character >= 0xdc00 && character < 0xe000) {
    return refuse("byte ", byte(), ": a low surrogate without its high one");
  }
  append_utf8(character, out);
  return Status::ok();
}

Status JsonReader::read_escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == 'u') return ++at_, read_unicode(out);
  size_t index = kNames.find(c);
  if (c == '\0' || index == std::string_view::npos) return expected("an escape");
  ++at_;
  out += kValues[index];
  return Status::ok();
}

Status JsonReader::read_string(std::string& out) {
  out.clear();
  if (!take('"')) return expected("a string");
  for (; at_ < text_.size();) {
    char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20)
      return refuse("byte ", byte(), ": a control character within a string");
    ++at_;
    if (c == '"') return Status::ok();
    if (c != '\\') {
      out += c;
      continue;
    }
    DL_RETURN_IF_ERROR(read_escape(out));
  }
  return refuse("a string is opened and never closed");
}

Status JsonReader::read_number(std::string_view& out, bool& whole) {
  size_t begin = at_;
  auto digits = [&] {
    size_t first = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - first;
  };
  auto next_is = [&](std::string_view any) {
    return at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
  };
  whole = true;
  if (next_is("-")) ++at_;
  bool zero = next_is("0");
  size_t count = digits();
  if (count == 0) return expected("a digit");
  if (zero && count > 1) return refuse("byte ", byte() - (at_ - begin), ": a number that begins with 0");
  if (next_is(".")) {
    whole = false, ++at_;
    if (digits() == 0) return expected("a digit");
  }
  if (next_is("eE")) {
    whole = false, ++at_;
    if (next_is("+-")) ++at_;
    if (digits() == 0) return expected("a digit");
  }
  out = text_.substr(begin, at_ - begin);
  return Status::ok();
}

Status JsonReader::skip_value(int depth) {
  if (depth == kMaxDepth) return refuse("byte ", byte(), ": more than ", kMaxDepth, " levels of values");
  skip_space();
  char c = at_ < text_.size() ? text_[at_] : '\0';
  std::string text;
  std::string_view number;
  bool whole = false;
  if (c == '"') return read_string(text);
  if (c == '{') return skip_members('}', depth);
  if (c == '[') return skip_members(']', depth);
  for (std::string_view word : {"true", "false", "null"}) {
    if (text_.substr(at_, word.size()) == word) return at_ += word.size(), Status::ok();
  }
  if (c == '-' || (c >= '0' && c <= '9')) return read_number(number, whole);
  return expected("a value");
}

Status JsonReader::skip_members(char end, int depth) {
  ++at_;
  std::string key;
  for (bool first = true; !take(end); first = false) {
    if (!first) DL_RETURN_IF_ERROR(expect(','));
    if (end == '}') {
      DL_RETURN_IF_ERROR(read_string(key));
      DL_RETURN_IF_ERROR(expect(':'));
    }
    DL_RETURN_IF_ERROR(skip_value(depth + 1));
  }
  return Status::ok();
}

}  // namespace dataline
