// A region of a JPEG is that part of the whole image, bit for bit: every sampling, every offset, every kind of file.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/sweep_stride.h"
#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::jpeg_region_test {
namespace {

struct Sampling {
  const char* name;
  std::vector<int> h, v;
};

const Sampling kSamplings[] = {
    {"4:4:4", {1, 1, 1}, {1, 1, 1}}, {"4:2:2", {2, 1, 1}, {1, 1, 1}}, {"4:2:0", {2, 1, 1}, {2, 1, 1}},
    {"4:4:0", {1, 1, 1}, {2, 1, 1}}, {"4:1:1", {4, 1, 1}, {1, 1, 1}}, {"4:1:0", {4, 1, 1}, {2, 1, 1}},
    {"4:4:1", {1, 1, 1}, {4, 1, 1}}, {"mixed", {2, 2, 1}, {2, 1, 1}}, {"odd", {2, 1, 2}, {2, 2, 1}}};

void check_regions(const JpegKind& kind, const std::vector<ImageRegion>& regions, const std::string& name) {
  SCOPED_TRACE(name);
  const std::string bytes = make_jpeg(kind);
  const int channels = static_cast<int>(kind.h.size());
  const bool gray = channels == 1;
  const std::vector<unsigned char> whole = plain_decode(bytes, channels == 4 ? JCS_CMYK
                                                               : gray        ? JCS_GRAYSCALE
                                                                             : JCS_RGB);
  DecodeOptions options;
  options.mode = PixelMode::kUnchanged;
  TestDecoder decoder(options);
  for (const ImageRegion& region : regions) {
    Decoded got = decoder.decode(bytes, region);
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    ASSERT_TRUE(got.pixels == part_of(whole, kind.width, channels, region))
        << region.top << "," << region.left << " " << region.height << "x" << region.width << " of "
        << kind.height << "x" << kind.width;
  }
}

// Each left and right edge with a few tops and bottoms, and the other way round.
std::vector<ImageRegion> regions_of(int64_t height, int64_t width) {
  std::vector<ImageRegion> regions = {{0, 0, height, width}};
  for (int64_t left = 0; left < width; ++left) {
    for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{17}, width - left}) {
      if (left + size <= width) regions.push_back({left % height, left, height - left % height, size});
    }
  }
  for (int64_t top = 0; top < height; ++top) {
    for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{9}, int64_t{18}, height - top}) {
      if (top + size <= height) regions.push_back({top, top % width, size, width - top % width});
    }
  }
  return regions;
}

TEST(JpegRegion, EverySamplingAndOffsetEqualsTheWholeDecode) {
  for (const Sampling& sampling : kSamplings) {
    for (auto [height, width] : {std::pair{50, 67}, std::pair{33, 64}, std::pair{49, 81}}) {
      JpegKind kind;
      kind.height = height;
      kind.width = width;
      kind.h = sampling.h;
      kind.v = sampling.v;
      check_regions(kind, regions_of(height, width), sampling.name);
    }
  }
}

TEST(JpegRegion, ScansThatAreNotOneEqualTheWholeDecode) {
  for (const Sampling& sampling : kSamplings) {
    for (int way = 0; way < 4; ++way) {
      JpegKind kind;
      kind.height = 50;
      kind.width = 67;
      kind.h = sampling.h;
      kind.v = sampling.v;
      kind.progressive = way < 2;
      kind.dc_only = way == 1;
      kind.interleaved = way != 2;
      kind.restart_rows = way == 3 ? 1 : 0;
      check_regions(kind, regions_of(50, 67), std::string(sampling.name) + " way " + std::to_string(way));
    }
  }
}

TEST(JpegRegion, GrayEqualsTheWholeDecode) {
  for (int sampling : {1, 2, 4}) {
    JpegKind kind;
    kind.height = 45;
    kind.width = 61;
    kind.h = {sampling};
    kind.v = {sampling};
    kind.in = kind.stored = JCS_GRAYSCALE;
    check_regions(kind, regions_of(45, 61), "gray " + std::to_string(sampling));
    kind.progressive = true;
    check_regions(kind, regions_of(45, 61), "progressive gray " + std::to_string(sampling));
  }
}

TEST(JpegRegion, FourComponentsEqualTheWholeDecode) {
  for (J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    JpegKind kind;
    kind.height = 41;
    kind.width = 53;
    kind.h = stored == JCS_YCCK ? std::vector{2, 1, 1, 2} : std::vector{1, 1, 1, 1};
    kind.v = kind.h;
    kind.in = JCS_CMYK;
    kind.stored = stored;
    check_regions(kind, regions_of(41, 53), stored == JCS_YCCK ? "YCCK" : "CMYK");
  }
}

// Images narrower or lower than a block, of which libjpeg takes other upsamplers.
TEST(JpegRegion, TinyImagesEqualTheWholeDecode) {
  for (const Sampling& sampling : kSamplings) {
    for (int height : {1, 2, 3, 5, 9}) {
      for (int width = 1; width <= 12; width += sweep_stride()) {
        JpegKind kind;
        kind.height = height;
        kind.width = width;
        kind.h = sampling.h;
        kind.v = sampling.v;
        check_regions(kind, regions_of(height, width), std::string(sampling.name) + " tiny");
      }
    }
  }
}

}  // namespace
}  // namespace dataline::jpeg_region_test
