// The text of a transform, cut off after each of its operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

struct OperatorPrefix {
  std::string last;  // "decode"
  std::string text;  // up to and with it
};

// None for one operator alone, and none for several fields (`a: ...; b: ...`), whose operators have no one order.
std::vector<OperatorPrefix> prefixes_of(std::string_view transform);

// The side of the images that it delivers, by the last of its resizes and crops; 0: not told.
int64_t delivered_side(std::string_view transform);

}  // namespace dataline::cli
