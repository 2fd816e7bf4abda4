// SPDX-License-Identifier: Apache-2.0
#include "core/base/message_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr size_t kMaxContinuations = 3;  // of a character of UTF-8

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// What a terminal or an editor obeys instead of printing it.
bool is_obeyed(uint32_t character) {
  const auto within = [character](uint32_t first, uint32_t last) {
    return character >= first && character <= last;
  };
  return within(0, 0x1f) || within(0x7f, 0x9f) || character == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069) || character == 0xfeff;
}

MessageCharacter escape(char letter, uint32_t value, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  MessageCharacter out{{'\\', letter}, 2};
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    out.bytes[out.count++] = kHex[value >> shift & 15];
  return out;
}

// The bytes of the character that begins here by its first byte; 1 for what is not the first byte of a character.
size_t bytes_by_lead(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xc2 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 1;
}

}  // namespace

MessageCharacter take_message_character(std::string_view& text) noexcept {
  const std::string_view before = text;
  const uint32_t character = take_character(text);
  const size_t bytes = before.size() - text.size();
  if (character == '\n' || character == '\t') return {{'\\', character == '\n' ? 'n' : 't'}, 2};
  // A surrogate, as invalid bytes are reported, is never a character of valid UTF-8.
  if (character >= kNotUtf8 && character < kNotUtf8 + 256) return escape('x', character - kNotUtf8, 2);
  if (is_obeyed(character)) return character < 0x80 ? escape('x', character, 2) : escape('u', character, 4);
  MessageCharacter out{{}, bytes};
  std::memcpy(out.bytes, before.data(), bytes);
  return out;
}

std::string message_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) out += take_message_character(text).text();
  return out;
}

std::string printable(std::string_view text, size_t max_bytes) {
  const std::string_view head = head_of(text, max_bytes);
  return "'" + message_text(head) + (head.size() < text.size() ? "...'" : "'");
}

std::string printable_character(std::string_view text) {
  return text.empty() ? "''" : "'" + std::string(take_message_character(text).text()) + "'";
}

std::string_view head_of(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && max_bytes - end < kMaxContinuations && is_continuation(text[end])) --end;
  // Bytes that are not UTF-8 are cut anywhere.
  return text.substr(0, bytes_by_lead(text[end]) > max_bytes - end ? end : max_bytes);
}

std::string_view end_of(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const size_t begin = text.size() - max_bytes;
  size_t at = begin;
  while (at < text.size() && at - begin < kMaxContinuations && is_continuation(text[at])) ++at;
  return text.substr(at < text.size() && is_continuation(text[at]) ? begin : at);
}

std::string_view without_cut_character(std::string_view text) {
  for (size_t back = 1; back <= std::min(kMaxContinuations, text.size()); ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return bytes_by_lead(c) > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

}  // namespace dataline
