// Transliterates text to the ASCII of the bitmap font.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

constexpr char kUnknownLetter = '\x7f';  // the font draws it as an empty box

// UTF-8 to printable ASCII. Latin letters lose their marks, Greek and Cyrillic letters are transcribed, combining marks are
// dropped. Any other character, and each invalid byte, becomes one kUnknownLetter.
std::string in_ascii(std::string_view text);

}  // namespace dataline::cli
