// SPDX-License-Identifier: Apache-2.0
#include "core/source/json.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/text.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr int kMaxDepth = 32;  // of values that are skipped

template <typename Out>
void append_utf8(uint32_t character, Out& out) {
  char bytes[4];
  if (character < 0x80) {
    bytes[0] = static_cast<char>(character);
    return static_cast<void>(out.append(std::string_view(bytes, 1)));
  }
  const uint32_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;  // bytes after the first
  bytes[0] = static_cast<char>((0xff00 >> (more + 1) & 0xff) | character >> (6 * more));
  for (uint32_t i = 1; i <= more; ++i)
    bytes[i] = static_cast<char>(0x80 | (character >> (6 * (more - i)) & 0x3f));
  out.append(std::string_view(bytes, more + 1));
}

// Keeps what fits, and counts all.
struct Room {
  std::span<char> bytes;
  size_t size = 0;

  void append(std::string_view text) {
    if (size < bytes.size())
      std::copy_n(text.begin(), std::min(text.size(), bytes.size() - size),
                  bytes.begin() + static_cast<std::ptrdiff_t>(size));
    size += text.size();
  }
};

constexpr size_t kStep = 16;  // a fixed inner loop, which compilers vectorize even at -O2

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

}  // namespace

Status JsonReader::expected(std::string_view what) const {
  std::string got = at_ < text_.size() ? printable_character(text_.substr(at_)) : std::string(end_);
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
Status JsonReader::read_unicode(uint32_t& character) {
  std::optional<uint32_t> unit = take_hex4();
  if (!unit) return expected("four hexadecimal digits");
  character = *unit;
  if (character >= 0xd800 && character < 0xdc00) {
    std::optional<uint32_t> low;
    if (text_.substr(at_, 2) == "\\u") at_ += 2, low = take_hex4();
    if (!low || *low < 0xdc00 || *low > 0xdfff)
      return refuse("byte ", byte(), ": a high surrogate without its low one");
    character = 0x10000 + ((character - 0xd800) << 10) + (*low - 0xdc00);
  } else if (character >= 0xdc00 && character < 0xe000) {
    return refuse("byte ", byte(), ": a low surrogate without its high one");
  }
  return Status::ok();
}

// After the backslash.
Status JsonReader::read_escape(uint32_t& character) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == 'u') return ++at_, read_unicode(character);
  size_t index = kNames.find(c);
  if (c == '\0' || index == std::string_view::npos) return expected("an escape");
  ++at_;
  character = static_cast<unsigned char>(kValues[index]);
  return Status::ok();
}

// How many bytes from here on are neither a quote, a backslash nor a control character.
size_t JsonReader::plain_bytes() const {
  size_t end = at_;
  for (; end + kStep <= text_.size(); end += kStep) {
    bool plain = true;
    for (size_t i = 0; i < kStep; ++i) plain &= is_plain(text_[end + i]);
    if (!plain) break;
  }
  while (end < text_.size() && is_plain(text_[end])) ++end;
  return end - at_;
}

bool JsonReader::take_plain_string(std::string_view& out) {
  if (peek() != '"') return false;
  ++at_;
  const size_t bytes = plain_bytes();
  if (at_ + bytes == text_.size() || text_[at_ + bytes] != '"') return --at_, false;
  out = text_.substr(at_, bytes);
  at_ += bytes + 1;
  return true;
}

bool JsonReader::take_word(std::string_view word) {
  skip_space();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

template <typename Out>
Status JsonReader::read_string_into(Out& out) {
  if (!take('"')) return expected("a string");
  while (at_ < text_.size()) {
    const size_t plain = plain_bytes();
    out.append(text_.substr(at_, plain));
    at_ += plain;
    if (at_ == text_.size()) break;
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20)
      return refuse("byte ", byte(), ": a control character within a string");
    ++at_;
    if (c == '"') return Status::ok();
    uint32_t character = 0;
    DL_RETURN_IF_ERROR(read_escape(character));
    append_utf8(character, out);
  }
  return refuse("a string that is never closed");
}

Status JsonReader::read_string(std::string& out) {
  out.clear();
  return read_string_into(out);
}

Status JsonReader::read_string(std::span<char> room, size_t& bytes) {
  Room out{room};
  Status status = read_string_into(out);
  bytes = out.size;
  return status;
}

Status JsonReader::skip_string() {
  Room nowhere{};
  return read_string_into(nowhere);
}

Status JsonReader::read_number(std::string_view& out, bool& whole) {
  skip_space();
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
  if (zero && count > 1) return refuse("byte ", byte() - (at_ - begin), ": a number that starts with 0");
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
  std::string_view number;
  bool whole = false;
  if (c == '"') return skip_string();
  if (c == '{') return skip_members('}', depth);
  if (c == '[') return skip_members(']', depth);
  for (std::string_view word : {"true", "false", "null"}) {
    if (take_word(word)) return Status::ok();
  }
  if (c == '-' || (c >= '0' && c <= '9')) return read_number(number, whole);
  return expected("a value");
}

Status JsonReader::read_count(int64_t& out) {
  if (const char next = peek(); next != '-' && (next < '0' || next > '9')) return expected("a whole number");
  std::string_view digits;
  bool whole = false;
  DL_RETURN_IF_ERROR(read_number(digits, whole));
  if (!whole || digits.starts_with('-'))
    return refuse("byte ", byte(), ": expected a whole number from 0, got ", printable(digits));
  const std::optional<int64_t> value = parse_i64(digits);
  if (!value) return refuse("byte ", byte(), ": number ", printable(digits), " is above 2^63 - 1");
  out = *value;
  return Status::ok();
}

Status JsonReader::skip_members(char end, int depth) {
  ++at_;
  for (bool first = true; !take(end); first = false) {
    if (!first) DL_RETURN_IF_ERROR(expect(','));
    if (end == '}') {
      DL_RETURN_IF_ERROR(skip_string());
      DL_RETURN_IF_ERROR(expect(':'));
    }
    DL_RETURN_IF_ERROR(skip_value(depth + 1));
  }
  return Status::ok();
}

}  // namespace dataline
