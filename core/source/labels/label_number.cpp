// SPDX-License-Identifier: Apache-2.0
#include "core/source/labels/label_number.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
constexpr int64_t kMostExponent = int64_t{1} << 50;  // no text has so many digits

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_label_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_label_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return lower_letter(a) == b; });
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_decimal);
  const std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// The zeros of scripts whose digits Python's int() reads; the other nine follow each (Unicode 15, Nd).
constexpr std::array<uint32_t, 37> kZeros = {
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0,
    0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0};

bool is_foreign_digit(uint32_t character) {
  return std::any_of(kZeros.begin(), kZeros.end(),
                     [&](uint32_t zero) { return character >= zero && character < zero + 10; });
}

// Digits with something between them (1_000, 1,000, 1 000, 2,0), 0x10, 0b1, 0o7, or digits of other scripts.
bool is_another_notation(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' &&
      std::string_view("xXbBoO").find(text[1]) != std::string_view::npos) {
    return std::all_of(text.begin() + 2, text.end(), [](char c) {
      return is_decimal(c) || (lower_letter(c) >= 'a' && lower_letter(c) <= 'f');
    });
  }
  bool after_digit = false;
  while (!text.empty()) {
    const bool separator = std::string_view("_,' .").find(text.front()) != std::string_view::npos;
    if (separator && !after_digit) return false;
    const uint32_t character = take_character(text);
    const bool digit =
        character < 0x80 ? is_decimal(static_cast<char>(character)) : is_foreign_digit(character);
    if (!digit && !separator) return false;
    after_digit = digit;
  }
  return after_digit;
}

// `whole` and `fraction` are digits; the number is whole.fraction times 10 to the power of `exponent`.
LabelNumber scaled_number(std::string_view whole, std::string_view fraction, int64_t exponent,
                          bool negative) {
  std::string digits(whole);
  digits += fraction;
  const int64_t point = static_cast<int64_t>(whole.size()) + exponent;
  const size_t last = digits.find_last_not_of('0');
  if (last == std::string::npos) return {LabelForm::kWhole, 0};
  if (point <= static_cast<int64_t>(last)) return {LabelForm::kFraction};
  if (negative) return {LabelForm::kNegative};
  const size_t first = digits.find_first_not_of('0');
  constexpr int64_t kMostDigits = 19;
  if (point - static_cast<int64_t>(first) > kMostDigits) return {LabelForm::kTooLarge};
  digits.resize(static_cast<size_t>(point), '0');
  const std::optional<int64_t> value = parse_i64(std::string_view(digits).substr(first));
  return value ? LabelNumber{LabelForm::kWhole, *value} : LabelNumber{LabelForm::kTooLarge};
}

}  // namespace

std::string_view trim_label(std::string_view text) {
  for (size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    while (!text.empty() && is_label_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_label_space(text.back())) text.remove_suffix(1);
    if (text.starts_with(kNoBreakSpace)) text.remove_prefix(kNoBreakSpace.size());
    if (text.ends_with(kNoBreakSpace)) text.remove_suffix(kNoBreakSpace.size());
  }
  return text;
}

LabelNumber read_label_number(std::string_view text) {
  text = trim_label(text);
  const bool negative = text.starts_with('-');
  static_cast<void>(take_one_of(text, "+-"));
  for (std::string_view word : {"nan", "inf", "infinity"}) {
    if (is_label_word(text, word)) return {LabelForm::kNotFinite};
  }
  std::string_view rest = text;
  const std::string_view whole = take_digits(rest);
  const std::string_view fraction = take_one_of(rest, ".") ? take_digits(rest) : std::string_view();
  const LabelForm otherwise = is_another_notation(text) ? LabelForm::kAnotherNotation : LabelForm::kName;
  if (whole.empty() && fraction.empty()) return {otherwise};
  int64_t exponent = 0;
  if (take_one_of(rest, "eE")) {
    const bool down = rest.starts_with('-');
    static_cast<void>(take_one_of(rest, "+-"));
    const std::string_view digits = take_digits(rest);
    if (digits.empty()) return {otherwise};
    exponent = std::min(parse_i64(digits).value_or(INT64_MAX), kMostExponent);
    if (down) exponent = -exponent;
  }
  return rest.empty() ? scaled_number(whole, fraction, exponent, negative) : LabelNumber{otherwise};
}

}  // namespace dataline
