// The arguments of one use of an operator, checked: a wrong one is marked, so that the error points at it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "library.h"

namespace dataline_audio {

class Arguments {
 public:
  explicit Arguments(dl_operator_use& use) : use_(use) {}

  bool has(int32_t index) const { return at(index).text != nullptr; }
  bool given(int32_t index) const { return at(index).given != 0; }

  Failure number(int32_t index, double low, double high, double* out) {
    const dl_argument_value& value = at(index);
    const bool good = value.number_count == 1 && value.numbers[0] >= low && value.numbers[0] <= high;
    if (!good) return wrong(index, concat("a number from ", low, " to ", high));
    *out = value.numbers[0];
    return {};
  }

  Failure integer(int32_t index, int64_t low, int64_t high, int64_t* out) {
    const dl_argument_value& value = at(index);
    const bool good = value.number_count == 1 && value.numbers[0] >= static_cast<double>(low) &&
                      value.numbers[0] <= static_cast<double>(high) &&
                      value.numbers[0] == std::floor(value.numbers[0]);
    if (!good) return wrong(index, concat("a whole number from ", low, " to ", high));
    *out = static_cast<int64_t>(value.numbers[0]);
    return {};
  }

  // The place of the word among `words`.
  Failure word(int32_t index, std::initializer_list<std::string_view> words, int32_t* out) {
    const std::string_view text = at(index).text == nullptr ? "none" : at(index).text;
    std::string all;
    int32_t place = 0;
    for (const std::string_view known : words) {
      if (text == known) {
        *out = place;
        return {};
      }
      all += concat(all.empty()                                       ? ""
                    : place + 1 == static_cast<int32_t>(words.size()) ? " or "
                                                                      : ", ",
                    known);
      ++place;
    }
    return wrong(index, all);
  }

  Failure boolean(int32_t index, bool* out) {
    int32_t place = 0;
    Failure failed = word(index, {"false", "true"}, &place);
    *out = place == 1;
    return failed;
  }

  Failure wrong(int32_t index, std::string_view expected) {
    use_.wrong_argument = index;
    return failure(DL_ERR_BAD_TRANSFORM, "expected ", expected, ", got ",
                   at(index).text == nullptr ? "none" : at(index).text);
  }

 private:
  const dl_argument_value& at(int32_t index) const {
    return *reinterpret_cast<const dl_argument_value*>(reinterpret_cast<const char*>(use_.arguments) +
                                                       static_cast<size_t>(index) *
                                                           use_.arguments->struct_size);
  }

  dl_operator_use& use_;
};

}  // namespace dataline_audio
