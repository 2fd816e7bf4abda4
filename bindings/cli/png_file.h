// A picture as a PNG file: RGB, 8 bits, in stored (not compressed) deflate blocks, so that nothing else is needed to
// write one. Source: W3C, Portable Network Graphics (second edition); RFC 1950, RFC 1951.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dataline::cli {

// Rows of RGB bytes from the top.
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb{};

  Picture() = default;
  Picture(int64_t columns, int64_t rows)
      : width(columns), height(rows), rgb(static_cast<size_t>(columns * rows * 3)) {}
  uint8_t* at(int64_t x, int64_t y) { return rgb.data() + (y * width + x) * 3; }
  const uint8_t* at(int64_t x, int64_t y) const { return rgb.data() + (y * width + x) * 3; }
};

// The bytes of the file; sides are 1 to 2^31 - 1.
std::string png_bytes(const Picture& picture);

}  // namespace dataline::cli
