// PGM, PPM and PAM: what is read, by which mode, and what is refused. Pillow's pixels are decode_pillow's.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/transform/decode/bad_image_table.h"

namespace dataline::pnm_test {
namespace {

using namespace std::string_literals;

// 3 x 2 pixels of `channels`: 1, 2, 3, ...
std::string pixels_of(int channels) {
  std::string pixels;
  for (int i = 0; i < 6 * channels; ++i) pixels += static_cast<char>(i + 1);
  return pixels;
}
const std::string kPpm = "P6\n3 2\n255\n" + pixels_of(3);

std::vector<unsigned char> bytes(const std::string& text) { return {text.begin(), text.end()}; }

DecodeOptions mode_of(PixelMode mode) {
  DecodeOptions options;
  options.mode = mode;
  return options;
}

TEST(Pnm, PixelsAreTheFilesOwn) {
  TestDecoder decoder;
  for (const std::string& file :
       {kPpm, "P6 3 2 255 " + pixels_of(3), "P6\n# by hand\n3 # wide\n2\n#\n255\n" + pixels_of(3),
        pam_header(2, 3, 3) + pixels_of(3),
        "P7\n# any order\nMAXVAL 255\nDEPTH 3\nTUPLTYPE RGB of mine\nHEIGHT 2\nWIDTH 3\nENDHDR\n" +
            pixels_of(3),
        kPpm + "and bytes behind them"}) {
    const Decoded got = decoder.decode(file);
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    EXPECT_EQ(got.height, 2);
    EXPECT_EQ(got.width, 3);
    EXPECT_EQ(got.pixels, bytes(pixels_of(3)));
  }
}

TEST(Pnm, LinesOfARectangleLieInTheFile) {
  TestDecoder decoder;
  ASSERT_TRUE(decoder.decoder().open(bytes_of(kPpm)).is_ok());
  ASSERT_TRUE(decoder.decoder().start({1, 1, 1, 2}, 1, decoder.scratch()).is_ok());
  const std::byte* const* line = decoder.decoder().lines(0, 1);
  EXPECT_EQ(line[0], bytes_of(kPpm).data() + 11 + 9 + 3) << "no copy";
}

TEST(Pnm, ModesAreAsOfOtherFormats) {
  TestDecoder grey(mode_of(PixelMode::kGray)), colour(mode_of(PixelMode::kRgb)),
      clear(mode_of(PixelMode::kRgba)), stored(mode_of(PixelMode::kUnchanged));
  const std::string pgm = "P5 3 2 255\n" + pixels_of(1);
  EXPECT_EQ(grey.decode(pgm).pixels, bytes(pixels_of(1)));
  EXPECT_EQ(colour.decode(pgm, {1, 2, 1, 1}).pixels, bytes("\6\6\6"));
  EXPECT_EQ(clear.decode(pgm, {0, 0, 1, 1}).pixels, bytes("\1\1\1\xFF"));
  EXPECT_EQ(grey.decode(kPpm, {0, 0, 1, 1}).pixels, bytes("\2")) << "luma";
  EXPECT_EQ(clear.decode(kPpm, {0, 1, 1, 1}).pixels, bytes("\4\5\6\xFF"));
  const std::string with_alpha = pam_header(2, 3, 4) + pixels_of(4);
  EXPECT_EQ(clear.decode(with_alpha).pixels, bytes(pixels_of(4)));
  EXPECT_EQ(colour.decode(with_alpha, {0, 1, 1, 1}).pixels, bytes("\5\6\7"));
  const std::string grey_alpha = pam_header(2, 3, 2) + pixels_of(2);
  EXPECT_EQ(clear.decode(grey_alpha, {0, 1, 1, 1}).pixels, bytes("\3\3\3\4"));
  EXPECT_EQ(stored.decode(grey_alpha).channels, 2);
  EXPECT_EQ(stored.decode(grey_alpha).pixels, bytes(pixels_of(2)));
}

// Scaled as Pillow does: round(v / maxval * 255), halves to even.
TEST(Pnm, EveryMaxvalTextAndBits) {
  TestDecoder grey(mode_of(PixelMode::kGray)), colour(mode_of(PixelMode::kRgb)),
      stored(mode_of(PixelMode::kUnchanged));
  EXPECT_EQ(grey.decode("P1 3 2 01#1 1\n0 1 0 1").pixels, bytes("\xFF\0\xFF\0\xFF\0"s));
  EXPECT_EQ(grey.decode("P4 9 2 \x55\x80\xAA\x7F"s, {0, 1, 2, 8}).pixels,
            bytes("\0\xFF\0\xFF\0\xFF\0\0\xFF\0\xFF\0\xFF\0\xFF\xFF"s));
  EXPECT_EQ(grey.decode("P2 3 1 10\n0 5\t10").pixels, bytes("\0\x80\xFF"s)) << "127.5 to the even 128";
  EXPECT_EQ(grey.decode("P5 3 1 10\n\0\5\x14"s).pixels, bytes("\0\x80\xFF"s)) << "above the maxval";
  EXPECT_EQ(colour.decode("P3 1 1 1023 0 512 1023").pixels, bytes("\0\x80\xFF"s));
  EXPECT_EQ(colour.decode("P6 1 1 65535 \0\0\x80\0\xFF\xFF"s).pixels, bytes("\0\x80\xFF"s));
  EXPECT_EQ(grey.decode("P5 3 1 65535 \0\x07\0\xFF\1\0"s).pixels, bytes("\x07\xFF\xFF"s)) << "clipped";
  EXPECT_EQ(stored.decode("P5 2 1 1023 \0\x07\3\xFF"s).pixels, bytes("\7\0\xFF\3"s)) << "u16 of this machine";
  EXPECT_EQ(stored.decode("P5 2 1 100 \7\x64"s).pixels, bytes("\7\x64"));
  EXPECT_EQ(grey.decode("P2 2 2 255 1 2 3 4", {1, 1, 1, 1}).pixels, bytes("\4"));
}

TEST(Pnm, WhatIsDamagedOrOfAnotherKindIsRefused) {
  const std::string pam = pam_header(2, 3, 3) + pixels_of(3);
  DecodeOptions few;
  few.limits.max_pixels = 5;
  std::vector<BadImage> table = {
      {"the kind alone", "P6\n", Code::kTruncated, {"ends at byte 3, inside its header"}},
      {"no height", "P6\n3 ", Code::kTruncated, {"inside its header"}},
      {"nothing behind the maxval", "P6 3 2 255", Code::kTruncated, {"inside its header"}},
      {"no pixel", "P6 3 2 255\n", Code::kTruncated, {"expected 18 bytes of them from byte 11 on, got 0"}},
      {"cut in its last pixel",
       kPpm.substr(0, kPpm.size() - 1),
       Code::kTruncated,
       {"inside its pixels", "got 17"}},
      {"PAM without an end", pam.substr(0, 30), Code::kTruncated, {"inside its header"}},
      {"a comment without an end",
       "P6 # never" + std::string(5000, '.'),
       Code::kCorrupt,
       {"more than 4096 bytes"}},
      {"a cut bitmap", "P4\n9 1\n\xFF", Code::kTruncated, {"expected 2 bytes of them from byte 7 on, got 1"}},
      {"17 bits", "P6 1 1 65536 ......", Code::kCorrupt, {"maxval 65536, expected 1 to 65535"}},
      {"16 bits that are cut", "P5 1 1 65535 .", Code::kTruncated, {"expected 2 bytes of them"}},
      {"text that ends",
       "P2 2 2 9 1 2 333 ",
       Code::kCorrupt,
       {"at byte 13: expected a value of at most 9, got 333"}},
      {"too few values", "P2 2 2 9 1 2 3        ", Code::kTruncated, {"a value is missing"}},
      {"too little text", "P3 1 1 9 1 2", Code::kTruncated, {"expected at least 5 bytes of them"}},
      {"a word among values", "P2 1 2 9 1 two ", Code::kCorrupt, {"at byte 11: expected a number"}},
      {"a long number", "P2 1 1 9 00000000001 ", Code::kCorrupt, {"at most 10 digits"}},
      {"a bit of 2", "P1 2 2 0 1 2 0 ", Code::kCorrupt, {"expected a value of at most 1, got 2"}},
      {"no width", "P6 0 2 255 ", Code::kCorrupt, {"width", "got '0'"}},
      {"a negative height", "P6 1 -2 255 ", Code::kCorrupt, {"height", "got '-2'"}},
      {"a width that is no number", "P6 wide 2 255 ", Code::kCorrupt, {"got 'wide'"}},
      {"a width beyond 31 bits", "P6 4294967296 2 255 ", Code::kCorrupt, {"got '4294967296'"}},
      {"pixels beyond max_pixels",
       "P6 2147483647 2147483647 255 ",
       Code::kTooLarge,
       {"max_pixels is 178956970"}},
      {"more than a limit", kPpm, Code::kTooLarge, {"max_pixels is 5"}, few},
      {"PAM without a depth", "P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 255\nENDHDR\n.", Code::kCorrupt, {"lacks"}},
      {"PAM of five channels",
       "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\n.....",
       Code::kCorrupt,
       {"depth 5"}},
      {"PAM with another word", "P7\nWIDE 1\n", Code::kCorrupt, {"expected WIDTH", "got 'WIDE'"}}};
  for (size_t bytes = 3; bytes < kPpm.size(); ++bytes)
    table.push_back({"cut after " + std::to_string(bytes),
                     kPpm.substr(0, bytes),
                     Code::kTruncated,
                     {"PNM ends at byte " + std::to_string(bytes)}});
  check_bad_images(table, kPpm);
}

}  // namespace
}  // namespace dataline::pnm_test
