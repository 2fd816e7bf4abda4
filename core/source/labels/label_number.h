// What the text of a label means: a number, or a name.
//
// A number is decimal, as Python's float() reads it: spaces around it, a sign, leading zeros, a fraction of zeros and an
// exponent do not change it, so that 2, +2, 2.0, 2e0 and 0002 are the label 2. Text in a notation that other programs read as
// a number (0x10, 1_000, "1,000", digits of other scripts) is neither: it would be sorted as text, and 10 come before 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace dataline {

enum class LabelForm : uint8_t {
  kName,
  kWhole,            // 0 to 2^63 - 1
  kNegative,         // below 0
  kFraction,         // 0.5
  kNotFinite,        // nan, inf
  kTooLarge,         // above 2^63 - 1
  kAnotherNotation,  // 0x10, 1_000, digits that are not ASCII
};

struct LabelNumber {
  LabelForm form = LabelForm::kName;
  int64_t value = 0;  // of kWhole
};

LabelNumber read_label_number(std::string_view text);

// Without the spaces around it: those of ASCII, and U+00A0.
std::string_view trim_label(std::string_view text);

}  // namespace dataline
