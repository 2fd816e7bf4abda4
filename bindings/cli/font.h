// A bitmap font of our own: ASCII in cells of 6 by 8 pixels (5 by 7 and a gap).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline::cli {

constexpr int kGlyphColumns = 5, kGlyphRows = 7;
constexpr int kGlyphAdvance = kGlyphColumns + 1;

// Whether pixel (x, y) of a character is set; what is not printable ASCII is an empty box.
bool glyph_pixel(char character, int x, int y);

}  // namespace dataline::cli
