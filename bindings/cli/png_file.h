// An RGB picture, and its PNG file, which libspng writes.
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

// Throws Failure in a build without libspng.
void require_png_writer();

// The bytes of the file. The sides must be 1 to 2^31 - 1.
std::string png_bytes(const Picture& picture);

}  // namespace dataline::cli
