// A table of damaged and hostile images: each names its exact error, is refused at once and for next to no memory, and
// spoils nothing for the next good image of the same decoder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "tests/support/peak_growth.h"
#include "tests/transform/decode/decoded.h"

namespace dataline {

struct BadImage {
  std::string name;  // what is wrong
  std::string bytes;
  Code code;
  std::vector<std::string> parts;  // of the message
  DecodeOptions options = {};
};

// What a refusal may cost; sanitizers make everything slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 5;
#else
constexpr double kMostSeconds = 0.05;
#endif

inline void expect_refused(const BadImage& bad, TestDecoder& decoder) {
  const std::clock_t start = std::clock();  // of this process: other programs on the machine do not count
  const Decoded got = decoder.decode(bad.bytes);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_FALSE(got.status.is_ok()) << "expected " << code_name(bad.code);
  EXPECT_EQ(got.status.code(), bad.code) << got.status.message();
  EXPECT_EQ(got.status.message().find_first_of(std::string("\n\r\t\0", 4)), std::string::npos);
  for (const std::string& part : bad.parts) {
    EXPECT_NE(got.status.message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << got.status.message();
  }
  EXPECT_LT(seconds, kMostSeconds);
}

// Every image of the table, the good one after each.
inline void check_bad_images(const std::vector<BadImage>& table, const std::string& good) {
  TestDecoder decoder;
  const Decoded whole = decoder.decode(good);
  ASSERT_TRUE(whole.status.is_ok()) << whole.status.message();
  PeakGrowth growth;
  const DecodeLimits defaults;
  for (const BadImage& bad : table) {
    SCOPED_TRACE(bad.name);
    const DecodeLimits& limits = bad.options.limits;
    if (limits.max_pixels == defaults.max_pixels && limits.max_scans == defaults.max_scans &&
        limits.accept_warnings == defaults.accept_warnings &&
        limits.max_decoded_bytes == defaults.max_decoded_bytes && bad.options.mode == PixelMode::kRgb) {
      expect_refused(bad, decoder);
    } else {
      TestDecoder limited(bad.options);
      expect_refused(bad, limited);
    }
    const Decoded next = decoder.decode(good);
    EXPECT_TRUE(next.status.is_ok() && next.pixels == whole.pixels) << "the next good image";
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  EXPECT_GE(table.size(), 40u);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

// A part of a file less than `needed` bytes is kTruncated; what follows is not looked at.
inline void check_prefixes(const std::string& good, size_t needed) {
  TestDecoder decoder;
  for (size_t length = 0; length < good.size(); ++length) {
    const Decoded got = decoder.decode(good.substr(0, length));
    if (length < needed) {
      ASSERT_FALSE(got.status.is_ok()) << length << " bytes of " << good.size();
      EXPECT_EQ(got.status.code(), Code::kTruncated) << length << ": " << got.status.message();
    } else {
      EXPECT_TRUE(got.status.is_ok()) << length << ": " << got.status.message();
    }
  }
}

// Every flip of one bit: an error with words, or an image within the limits. The good one decodes afterwards.
inline void check_bit_flips(const std::string& good, const DecodeOptions& options = {}) {
  TestDecoder decoder(options, int64_t{8} << 20);
  const Decoded whole = decoder.decode(good);
  ASSERT_TRUE(whole.status.is_ok()) << whole.status.message();
  int refused = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Decoded got = decoder.decode(flipped);
    if (!got.status.is_ok()) {
      ++refused;
      ASSERT_FALSE(got.status.message().empty()) << "bit " << bit;
    }
    if (bit % 64 == 0) {
      ASSERT_TRUE(decoder.decode(good).pixels == whole.pixels) << "after bit " << bit;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace dataline
