// Rows of a PNG as libspng unpacks them (samples packed, 16-bit samples in native byte order) to pixels as Pillow's
// convert() returns them: depths below 8 are scaled to 0..255, 16-bit colours keep their high byte, 16-bit grey saturates at
// 255 (Pillow since 9), alpha is dropped without blending, gAMA is not applied.
// A palette index beyond PLTE is black, as in libpng and Pillow 13 (in 9.4: that shade of grey).
// A transparent colour (tRNS of grey and RGB) is compared as Pillow does, not on stored samples as the PNG specification
// says: its low byte is compared with the output colour; in 1-bit grey any value but 0 means white. So at depths 2, 4 and 16
// it matches only where the scaled shade happens to be the same number.
//
// Threads: immutable once made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/transform/decode/format_decoder.h"

namespace dataline {

enum class PngColour : int32_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

class PngRows {
 public:
  struct Shade {
    Rgb colour;
    int alpha;
  };

  void set_kind(PngColour colour, int64_t channels, int depth, PixelMode mode);
  void set_palette(int index, const Shade& shade) { palette_[static_cast<size_t>(index)] = shade; }
  void set_key(const std::array<int, 3>& key);  // the transparent colour, as stored in tRNS

  int64_t channels() const { return channels_; }  // of the output
  int64_t element_bytes() const { return element_bytes_; }
  bool same() const { return same_; }  // the output rows are the input rows
  int64_t packed_bytes(int64_t width) const { return (width * stored_channels_ * depth_ + 7) / 8; }

  // Pixels [left, left + width) of `row`.
  void convert(const std::byte* row, int64_t left, int64_t width, std::byte* to) const;

 private:
  int sample(const std::byte* row, int64_t index) const;
  Shade shade(const std::byte* row, int64_t x) const;
  void copy_stored(const std::byte* row, int64_t left, int64_t width, std::byte* to) const;

  PngColour colour_ = PngColour::kGray;
  PixelMode mode_ = PixelMode::kRgb;
  int depth_ = 8;
  int64_t stored_channels_ = 1, channels_ = 1, element_bytes_ = 1;
  bool same_ = false, has_key_ = false;
  std::array<int, 3> key_ = {};  // in output values
  std::array<Shade, 256> palette_ = {};
};

}  // namespace dataline
