// Text of any language in the letters that the bitmap font has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

constexpr char kUnknownLetter = '\x7f';  // the font draws it as an empty box

// UTF-8 to printable ASCII: Latin letters lose their marks, Greek and Cyrillic ones are written in Latin, marks of their
// own go; any other character, and a byte that is no UTF-8, is one kUnknownLetter.
std::string in_ascii(std::string_view text);

}  // namespace dataline::cli
