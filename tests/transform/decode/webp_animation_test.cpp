// Of an animated WebP the first frame is seen, at its place on the canvas.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/webp_files.h"

namespace dataline::webp_animation_test {
namespace {

constexpr int kCanvasWidth = 40, kCanvasHeight = 30, kWidth = 20, kHeight = 12;

// `frame` on a canvas of zeros: black, or transparent.
std::vector<unsigned char> on_canvas(const std::vector<unsigned char>& frame, int pixel_bytes, int left,
                                     int top) {
  std::vector<unsigned char> canvas(static_cast<size_t>(kCanvasWidth * kCanvasHeight * pixel_bytes), 0);
  for (int y = 0; y < kHeight; ++y) {
    const auto from = frame.begin() + y * kWidth * pixel_bytes;
    std::copy(from, from + kWidth * pixel_bytes,
              canvas.begin() + ((top + y) * kCanvasWidth + left) * pixel_bytes);
  }
  return canvas;
}

TEST(WebpAnimation, TheFirstFrameLiesAtItsPlaceOnABlackOrTransparentCanvas) {
  for (const bool clear : {false, true}) {
    for (const bool lossless : {true, false}) {
      const std::string image = make_webp(kWidth, kHeight, lossless, clear && lossless);
      DecodeOptions options;
      options.mode = clear ? PixelMode::kRgba : PixelMode::kRgb;
      TestDecoder decoder(options);
      const Decoded frame = decoder.decode(image);
      ASSERT_TRUE(frame.status.is_ok()) << frame.status.message();
      for (const auto& [left, top] : {std::array<int, 2>{0, 0}, {0, 10}, {6, 0}, {6, 10}, {20, 18}}) {
        SCOPED_TRACE(
            concat(lossless ? "lossless" : "lossy", clear ? ", clear" : "", ", at ", left, ",", top));
        const Decoded got = decoder.decode(animation(clear ? 0x10 : 0, kCanvasWidth, kCanvasHeight, left, top,
                                                     kWidth, kHeight, image.substr(12)));
        ASSERT_TRUE(got.status.is_ok()) << got.status.message();
        EXPECT_EQ(got.width, kCanvasWidth);
        EXPECT_EQ(got.height, kCanvasHeight);
        EXPECT_TRUE(got.pixels == on_canvas(frame.pixels, clear ? 4 : 3, left, top));
      }
    }
  }
}

}  // namespace
}  // namespace dataline::webp_animation_test
