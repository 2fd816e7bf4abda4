// Conversions of lines of 8-bit pixels, with the formulas of Pillow's Image.convert().
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transform/decode/decoder.h"

namespace dataline {

// round(a * b / 255), as Pillow's MULDIV255.
constexpr int multiply_255(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// ITU-R 601 luma in 16-bit fixed point.
constexpr int luma(int r, int g, int b) { return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16; }

struct Rgb {
  int r, g, b;
};

// Writes a colour and its alpha in a mode. Not for kUnchanged, which copies rows.
inline void put_pixel(PixelMode mode, const Rgb& colour, int alpha, std::byte* to) {
  if (mode == PixelMode::kGray) {
    to[0] = static_cast<std::byte>(luma(colour.r, colour.g, colour.b));
    return;
  }
  to[0] = static_cast<std::byte>(colour.r);
  to[1] = static_cast<std::byte>(colour.g);
  to[2] = static_cast<std::byte>(colour.b);
  if (mode == PixelMode::kRgba) to[3] = static_cast<std::byte>(alpha);
}

}  // namespace dataline
