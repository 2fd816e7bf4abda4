// Decoded pixels are those that Pillow decoded from the same bytes: golden_images.txt (golden_images.py writes and checks
// it). And a region of an image, oriented or not, is that part of the whole.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include "core/base/random.h"
#include "tests/support/places.h"
#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/png_files.h"

namespace dataline::golden_images_test {
namespace {

struct Golden {
  std::string name, rgb, gray, rgba, oriented, bytes;
};

std::vector<Golden> goldens() {
  std::vector<Golden> all;
  std::ifstream file(tests::in_repository("tests/transform/decode/golden_images.txt"));
  Golden one;
  std::string hex;
  while (file >> one.name >> one.rgb >> one.gray >> one.rgba >> one.oriented >> hex) {
    one.bytes.clear();
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
      one.bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    all.push_back(one);
  }
  return all;
}

std::string digest_of(const Decoded& image) {
  if (!image.status.is_ok()) return image.status.message();
  std::ostringstream text;
  text << std::hex;
  text.width(8);
  text.fill('0');
  text << crc32_of(std::string(image.pixels.begin(), image.pixels.end()));
  return text.str();
}

DecodeOptions options_of(PixelMode mode, bool orient) {
  DecodeOptions options;
  options.mode = mode;
  options.orient = orient;
  return options;
}

TEST(GoldenImages, PixelsAreThoseOfPillow) {
  TestDecoder rgb, gray(options_of(PixelMode::kGray, false)), rgba(options_of(PixelMode::kRgba, false)),
      oriented(options_of(PixelMode::kRgb, true));
  const std::vector<Golden> all = goldens();
  ASSERT_GE(all.size(), 60u);
  for (const Golden& golden : all) {
    SCOPED_TRACE(golden.name);
    EXPECT_EQ(digest_of(rgb.decode(golden.bytes)), golden.rgb);
    EXPECT_EQ(digest_of(gray.decode(golden.bytes)), golden.gray);
    EXPECT_EQ(digest_of(rgba.decode(golden.bytes)), golden.rgba);
    EXPECT_EQ(digest_of(oriented.decode(golden.bytes)), golden.oriented);
  }
}

TEST(GoldenImages, RegionsArePartsOfTheWhole) {
  uint64_t draw = 0;
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random_below(random_bits(5, ++draw, 0), bound));
  };
  for (PixelMode mode : {PixelMode::kRgb, PixelMode::kGray, PixelMode::kRgba, PixelMode::kUnchanged}) {
    for (bool orient : {false, true}) {
      TestDecoder decoder(options_of(mode, orient));
      for (const Golden& golden : goldens()) {
        SCOPED_TRACE(golden.name);
        const Decoded whole = decoder.decode(golden.bytes);
        ASSERT_TRUE(whole.status.is_ok()) << whole.status.message();
        for (int i = 0; i < 8; ++i) {
          ImageRegion region{below(whole.height), below(whole.width), 0, 0};
          region.height = 1 + below(whole.height - region.top);
          region.width = 1 + below(whole.width - region.left);
          const Decoded part = decoder.decode(golden.bytes, region, 1 + below(9));
          ASSERT_TRUE(part.status.is_ok()) << part.status.message();
          ASSERT_TRUE(part.pixels ==
                      part_of(whole.pixels, whole.width, whole.channels * whole.element_bytes, region));
        }
      }
    }
  }
}

// Lines that nobody asks for are skipped; those asked for are the right ones.
TEST(GoldenImages, LinesMayBeLeftOut) {
  TestDecoder decoder;
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    const Decoded whole = decoder.decode(golden.bytes);
    decoder.scratch().reset();
    ASSERT_TRUE(decoder.decoder().open(bytes_of(golden.bytes)).is_ok());
    ASSERT_TRUE(decoder.decoder().start({0, 0, whole.height, whole.width}, 2, decoder.scratch()).is_ok());
    for (int64_t y = whole.height > 6 ? 3 : 0; y + 2 <= whole.height; y += 5) {
      const std::byte* const* lines = decoder.decoder().lines(y, 2);
      ASSERT_NE(lines, nullptr) << decoder.decoder().status().message();
      for (int64_t i = 0; i < 2; ++i) {
        const size_t bytes = static_cast<size_t>(whole.width * whole.channels);
        ASSERT_EQ(std::memcmp(lines[i], &whole.pixels[static_cast<size_t>(y + i) * bytes], bytes), 0)
            << y + i;
      }
    }
    decoder.decoder().close();
  }
}

TEST(GoldenImages, AnImageMayBeStartedAgain) {
  TestDecoder decoder;
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    const Decoded whole = decoder.decode(golden.bytes);
    decoder.scratch().reset();
    ASSERT_TRUE(decoder.decoder().open(bytes_of(golden.bytes)).is_ok());
    for (int times = 0; times < 2; ++times) {
      ASSERT_TRUE(decoder.decoder().start({0, 0, whole.height, whole.width}, 1, decoder.scratch()).is_ok());
      const std::byte* const* lines = decoder.decoder().lines(0, 1);
      ASSERT_NE(lines, nullptr);
      EXPECT_EQ(std::memcmp(lines[0], whole.pixels.data(), static_cast<size_t>(whole.width * whole.channels)),
                0);
    }
  }
}

}  // namespace
}  // namespace dataline::golden_images_test
