// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/png_rows.h"

#include <algorithm>
#include <cstring>

#include "core/base/bytes.h"

namespace dataline {
void PngRows::set_kind(PngColour colour, int64_t channels, int depth, PixelMode mode) {
  colour_ = colour;
  depth_ = depth;
  mode_ = mode;
  has_key_ = false;
  stored_channels_ = channels;
  const bool unchanged = mode == PixelMode::kUnchanged;
  channels_ = unchanged ? stored_channels_ : channels_of(mode);
  element_bytes_ = unchanged && depth == 16 ? 2 : 1;
  const bool fits = (mode == PixelMode::kRgb && colour == PngColour::kRgb) ||
                    (mode == PixelMode::kRgba && colour == PngColour::kRgbAlpha) ||
                    (mode == PixelMode::kGray && colour == PngColour::kGray);
  same_ = unchanged ? depth >= 8 : depth == 8 && fits;
  palette_.fill({{0, 0, 0}, 255});
}

void PngRows::set_key(const std::array<int, 3>& key) {
  has_key_ = true;
  if (colour_ == PngColour::kGray && depth_ == 1) {
    key_ = {key[0] != 0 ? 255 : 0, 0, 0};
  } else {
    key_ = {key[0] & 0xFF, key[1] & 0xFF, key[2] & 0xFF};
  }
}

int PngRows::sample(const std::byte* row, int64_t index) const {
  if (depth_ == 8) return static_cast<int>(row[index]);
  if (depth_ == 16) return load_native<uint16_t>(row + 2 * index);
  const int64_t bit = index * depth_;
  const int shift = 8 - depth_ - static_cast<int>(bit % 8);
  return static_cast<int>(row[bit / 8]) >> shift & ((1 << depth_) - 1);
}

PngRows::Shade PngRows::shade(const std::byte* row, int64_t x) const {
  const int high = depth_ == 16 ? 8 : 0;
  const int64_t at = x * stored_channels_;
  switch (colour_) {
    case PngColour::kGray: {
      const int stored = sample(row, at);
      const int value = depth_ == 16 ? std::min(stored, 255) : stored * 255 / ((1 << depth_) - 1);
      return {{value, value, value}, has_key_ && value == key_[0] ? 0 : 255};
    }
    case PngColour::kRgb: {
      const int r = sample(row, at) >> high, g = sample(row, at + 1) >> high, b = sample(row, at + 2) >> high;
      const bool clear = has_key_ && r == key_[0] && g == key_[1] && b == key_[2];
      return {{r, g, b}, clear ? 0 : 255};
    }
    case PngColour::kPalette:
      return palette_[static_cast<size_t>(sample(row, at))];
    case PngColour::kGrayAlpha: {
      const int value = sample(row, at) >> high;
      return {{value, value, value}, sample(row, at + 1) >> high};
    }
    case PngColour::kRgbAlpha:
      return {{sample(row, at) >> high, sample(row, at + 1) >> high, sample(row, at + 2) >> high},
              sample(row, at + 3) >> high};
  }
  return {};
}

void PngRows::copy_stored(const std::byte* row, int64_t left, int64_t width, std::byte* to) const {
  if (depth_ >= 8) {
    const int64_t pixel = channels_ * element_bytes_;
    std::memcpy(to, row + left * pixel, static_cast<size_t>(width * pixel));
    return;
  }
  const int scale = colour_ == PngColour::kPalette ? 1 : 255 / ((1 << depth_) - 1);
  for (int64_t x = 0; x < width; ++x) to[x] = static_cast<std::byte>(sample(row, left + x) * scale);
}

void PngRows::convert(const std::byte* row, int64_t left, int64_t width, std::byte* to) const {
  if (same_ || mode_ == PixelMode::kUnchanged) return copy_stored(row, left, width, to);
  if (depth_ == 8 && mode_ == PixelMode::kRgb && colour_ == PngColour::kRgbAlpha) {  // the usual one
    for (int64_t x = 0; x < width; ++x) std::memcpy(to + 3 * x, row + 4 * (left + x), 3);
    return;
  }
  for (int64_t x = 0; x < width; ++x, to += channels_) {
    const Shade pixel = shade(row, left + x);
    put_pixel(mode_, pixel.colour, pixel.alpha, to);
  }
}

}  // namespace dataline
