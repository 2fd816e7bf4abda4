// A bitmap font for ASCII, in cells of 6 x 8 pixels (5 x 7 and a gap).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline::cli {

constexpr int kGlyphColumns = 5, kGlyphRows = 7;
constexpr int kGlyphAdvance = kGlyphColumns + 1;

// Whether pixel (x, y) of a character is set. Characters other than printable ASCII are an empty box.
bool glyph_pixel(char character, int x, int y);

}  // namespace dataline::cli
