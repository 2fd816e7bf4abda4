// Exif blocks: the orientation where one is told, 1 wherever it is not, and nothing else whatever the bytes are.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/image_header.h"

#include <gtest/gtest.h>

#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/file_parts.h"

namespace dataline::exif_test {
namespace {

using namespace std::string_literals;

std::string little16(uint32_t value) { return {static_cast<char>(value), static_cast<char>(value >> 8)}; }

// An IFD of one entry.
std::string tiff(bool big, uint32_t tag, uint32_t type, uint32_t count, uint32_t value, uint32_t entries = 1,
                 uint32_t offset = 8) {
  auto u16 = [&](uint32_t v) { return big ? big16(v) : little16(v); };
  auto u32 = [&](uint32_t v) { return big ? big32(v) : little32(v); };
  const std::string held = type == 3 ? u16(value) + u16(0) : u32(value);
  return (big ? "MM\0*"s : "II*\0"s) + u32(offset) + u16(entries) + u16(tag) + u16(type) + u32(count) + held +
         u32(0);
}

int32_t orientation(const std::string& block) { return exif_orientation(bytes_of(block)).value_or(1); }

TEST(Exif, OrientationOfEitherByteOrderAndIntegerType) {
  for (bool big : {false, true}) {
    for (uint32_t value = 1; value <= 8; ++value) {
      EXPECT_EQ(orientation(tiff(big, 0x0112, 3, 1, value)), static_cast<int32_t>(value));
      EXPECT_EQ(orientation(tiff(big, 0x0112, 4, 1, value)), static_cast<int32_t>(value));
      const std::string prefixed = "Exif\0\0"s + tiff(big, 0x0112, 3, 1, value);
      EXPECT_EQ(orientation(prefixed), static_cast<int32_t>(value));
    }
  }
}

TEST(Exif, WhateverElseIsOne) {
  for (bool big : {false, true}) {
    const std::string cases[] = {
        "",
        "II*\0"s,
        "XX*\0"s + std::string(40, '\1'),
        tiff(!big, 0x0112, 3, 1, 6)
            .replace(0, 4, big ? "MM\0*"s : "II*\0"s),  // the other byte order than it says
        tiff(big, 0x0112, 3, 1, 0),
        tiff(big, 0x0112, 3, 1, 9),
        tiff(big, 0x0112, 4, 1, 0xFFFFFFFF),
        tiff(big, 0x0112, 3, 0, 6),
        tiff(big, 0x0112, 3, 2, 6),
        tiff(big, 0x0112, 3, 0xFFFFFFFF, 6),
        tiff(big, 0x0112, 1, 1, big ? 6u << 24 : 6u),  // a BYTE
        tiff(big, 0x0112, 2, 1, 6),
        tiff(big, 0x0112, 5, 1, 6),
        tiff(big, 0x0112, 255, 1, 6),
        tiff(big, 0x0113, 3, 1, 6),
        tiff(big, 0x0112, 3, 1, 6, 0),
        tiff(big, 0x0110, 3, 1, 6, 0xFFFF),  // entries that are not there
        tiff(big, 0x0112, 3, 1, 6, 1, 0),    // the directory is the header
        tiff(big, 0x0112, 3, 1, 6, 1, 25),
        tiff(big, 0x0112, 3, 1, 6, 1, 0x7FFFFFFF),
        tiff(big, 0x0112, 3, 1, 6, 1, 0xFFFFFFFF)};
    for (const std::string& block : cases)
      EXPECT_EQ(orientation(block), 1) << big << " case of " << block.size();
  }
}

TEST(Exif, CutsAndFlipsAreOrientations) {
  const std::string good = tiff(true, 0x0112, 3, 1, 6);
  for (size_t length = 0; length < 8 + 2 + 12; ++length) EXPECT_EQ(orientation(good.substr(0, length)), 1);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    const int32_t got = orientation(with_byte(good, bit / 8, good[bit / 8] ^ (1 << bit % 8)));
    EXPECT_TRUE(got >= 1 && got <= 8);
  }
}

TEST(Xmp, TheFirstOrientationOfOneDigit) {
  const auto of = [](const std::string& packet) { return xmp_orientation(bytes_of(packet)); };
  EXPECT_EQ(of("<a tiff:Orientation=\"6\"/>"), 6);
  EXPECT_EQ(of("<tiff:Orientation>8</tiff:Orientation>"), 8);
  EXPECT_EQ(of("tiff:Orientation = \"6\" tiff:Orientation=\"x\" tiff:Orientation>3"), 3);
  EXPECT_EQ(of("tiff:Orientation=\"9\""), 1);
  for (const char* none :
       {"", "tiff:Orientation", "tiff:Orientation=\"", "tiff:Orientation>", "Orientation=\"6\""})
    EXPECT_EQ(of(none), std::nullopt) << none;
}

}  // namespace
}  // namespace dataline::exif_test
