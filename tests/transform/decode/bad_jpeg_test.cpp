// JPEG files that are damaged, hostile or of a kind that is not decoded.
// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/decode/bad_image_table.h"
#include "tests/transform/decode/file_parts.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::bad_jpeg_test {
namespace {

std::string good_jpeg() {
  JpegKind kind;
  kind.width = 40;
  kind.height = 24;
  return make_jpeg(kind);
}

// Where the nth segment with that marker begins (its 0xFF).
size_t find_marker(const std::string& jpeg, int marker, int nth = 0) {
  for (size_t at = 2; at + 4 <= jpeg.size();) {
    const int code = static_cast<unsigned char>(jpeg[at + 1]);
    if (code == marker && nth-- == 0) return at;
    if (code == 0xDA) break;
    at += 2 + static_cast<unsigned char>(jpeg[at + 2]) * 256 + static_cast<unsigned char>(jpeg[at + 3]);
  }
  ADD_FAILURE() << "no marker " << marker;
  return 0;
}

struct Places {
  explicit Places(const std::string& jpeg)
      : dqt(find_marker(jpeg, 0xDB)),
        sof(find_marker(jpeg, 0xC0)),
        dht(find_marker(jpeg, 0xC4)),
        sos(find_marker(jpeg, 0xDA)),
        scan(sos + 14) {}
  size_t dqt, sof, dht, sos, scan;
};

std::string segment(int marker, const std::string& body) {
  return std::string("\xFF") + static_cast<char>(marker) + big16(static_cast<uint32_t>(body.size() + 2)) +
         body;
}

// Refused by libjpeg, or only with on_warning=error.
void check_strictly(std::vector<BadImage> table, const std::string& good) {
  for (BadImage& bad : table) bad.options.limits.accept_warnings = false;
  check_bad_images(table, good);
}

TEST(BadJpeg, CutsKindsAndSizes) {
  const std::string good = good_jpeg();
  const Places at(good);
  std::vector<BadImage> table = {
      {"one byte", cut(good, 1), Code::kTruncated, {"ends at byte 1"}},
      {"SOI alone", cut(good, 2), Code::kTruncated, {"ends at byte 2, before its size is known"}},
      {"a marker's 0xFF alone", cut(good, 3), Code::kTruncated, {"ends at byte 3"}},
      {"a marker without a length", cut(good, 4), Code::kTruncated, {"before its size"}},
      {"half a length", cut(good, 5), Code::kTruncated, {"before its size"}},
      {"cut before SOF", cut(good, at.sof), Code::kTruncated, {"before its size"}},
      {"cut inside SOF", cut(good, at.sof + 8), Code::kTruncated, {"before its size"}},
      {"cut at SOF's last byte", cut(good, at.sof + 18), Code::kTruncated, {"before its size"}},
      {"cut behind SOF", cut(good, at.sof + 19), Code::kTruncated, {"inside the image"}},
      {"cut inside DHT", cut(good, at.dht + 9), Code::kTruncated, {"inside the image"}},
      {"cut before SOS", cut(good, at.sos), Code::kTruncated, {"inside the image"}},
      {"cut inside SOS", cut(good, at.sos + 7), Code::kTruncated, {"inside the image"}},
      {"cut before the first coded byte", cut(good, at.scan), Code::kTruncated, {"inside the image"}},
      {"cut in the middle of the scan",
       cut(good, (at.scan + good.size()) / 2),
       Code::kTruncated,
       {"inside the image"}},
      {"no EOI", cut(good, good.size() - 2), Code::kTruncated, {"inside the image"}},
      {"half of EOI", cut(good, good.size() - 1), Code::kTruncated, {"inside the image"}},
      {"EOI in the middle",
       cut(good, (at.scan + good.size()) / 2) + "\xFF\xD9",
       Code::kCorrupt,
       {"premature end"}},
      {"SOI and EOI", "\xFF\xD8\xFF\xD9", Code::kCorrupt, {"EOI at byte 2"}},
      {"SOI twice", "\xFF\xD8" + good, Code::kCorrupt, {"SOI at byte 2"}},
      {"SOS before SOF",
       cut(good, at.sof) + good.substr(at.sos),
       Code::kCorrupt,
       {"SOS at byte", "before it"}},
      {"zeros behind SOI", "\xFF\xD8" + std::string(100, '\0'), Code::kTruncated, {"before its size"}},
      {"a segment of length 0", with(good, 4, big16(0)), Code::kCorrupt, {"byte 2 has length 0, expected 2"}},
      {"a segment of length 1", with(good, 4, big16(1)), Code::kCorrupt, {"length 1"}},
      {"a segment beyond the file", with(good, 4, big16(0xFFFF)), Code::kTruncated, {"before its size"}},
      {"12 bits", with_byte(good, at.sof + 4, 12), Code::kUnsupported, {"12 bits per channel", "expected 8"}},
      {"0 bits", with_byte(good, at.sof + 4, 0), Code::kUnsupported, {"0 bits"}},
      {"no lines", with(good, at.sof + 5, big16(0)), Code::kCorrupt, {"states 40 wide, 0 high"}},
      {"no columns", with(good, at.sof + 7, big16(0)), Code::kCorrupt, {"states 0 wide, 24 high"}},
      {"no components", with_byte(good, at.sof + 9, 0), Code::kCorrupt, {"0 components, expected 1, 3 or 4"}},
      {"2 components", with_byte(good, at.sof + 9, 2), Code::kCorrupt, {"2 components"}},
      {"5 components", with_byte(good, at.sof + 9, 5), Code::kCorrupt, {"5 components"}},
      {"4 components in a header for 3",
       with_byte(good, at.sof + 9, 4),
       Code::kCorrupt,
       {"15 bytes, expected 18"}},
      {"1 component in a header for 3",
       with_byte(good, at.sof + 9, 1),
       Code::kCorrupt,
       {"15 bytes, expected 9"}},
      {"SOF too short", with(good, at.sof + 2, big16(7)), Code::kCorrupt, {"has 5 bytes, expected 6"}},
      {"65535x65535",
       with(good, at.sof + 5, big16(65535) + big16(65535)),
       Code::kTooLarge,
       {"65535 wide, 65535 high, max_pixels is 178956970; raise max_pixels to at least 4294836225"}},
      {"wider than libjpeg takes",
       with(good, at.sof + 5, big16(8) + big16(65535)),
       Code::kCorrupt,
       {"65500"}},
      {"lines that are not there",
       with(good, at.sof + 5, big16(60000) + big16(1)),
       Code::kCorrupt,
       {"JPEG"}}};
  const std::pair<int, const char*> kinds[] = {
      {0xC3, "lossless JPEG (SOF3)"},      {0xC5, "hierarchical JPEG (SOF5)"},
      {0xC6, "hierarchical JPEG (SOF6)"},  {0xC7, "hierarchical JPEG (SOF7)"},
      {0xCB, "lossless JPEG (SOF11)"},     {0xCD, "hierarchical JPEG (SOF13)"},
      {0xCE, "hierarchical JPEG (SOF14)"}, {0xCF, "hierarchical JPEG (SOF15)"}};
  for (const auto& [marker, text] : kinds) {
    table.push_back(
        {text, with_byte(good, at.sof + 1, marker), Code::kUnsupported, {text, "is not supported"}});
  }
  check_strictly(table, good);
}

TEST(BadJpeg, TablesScansAndData) {
  const std::string good = good_jpeg();
  const Places at(good);
  JpegKind kind;
  kind.width = 64;
  kind.height = 64;
  kind.restart_rows = 1;
  const std::string restarts = make_jpeg(kind);
  std::string ones;  // no Huffman code is all ones
  for (int i = 0; i < 100; ++i) ones += std::string("\xFF\0", 2);
  const size_t restart = restarts.find("\xFF\xD0");
  const std::string dqt16 = segment(0xDB, std::string(1, '\x04') + std::string(64, '\1'));
  const std::string over =
      segment(0xC4, std::string(1, '\0') + std::string(16, '\xFF') + std::string(255, '\0'));
  const std::string clash = segment(
      0xC4, std::string(1, '\0') + std::string(1, '\5') + std::string(15, '\0') + std::string(5, '\0'));
  std::vector<BadImage> table = {
      {"sampling 0x0", with_byte(good, at.sof + 11, 0x00), Code::kCorrupt, {"sampling factors"}},
      {"sampling 5x1", with_byte(good, at.sof + 11, 0x51), Code::kCorrupt, {"sampling factors"}},
      {"sampling 1x5", with_byte(good, at.sof + 11, 0x15), Code::kCorrupt, {"sampling factors"}},
      {"blocks of 16 to a scan",
       with_byte(good, at.sof + 11, 0x44),
       Code::kCorrupt,
       {"too large for interleaved"}},
      {"sampling by thirds",
       with_byte(with_byte(good, at.sof + 11, 0x31), at.sof + 14, 0x21),
       Code::kUnsupported,
       {"ractional sampling"}},
      {"a quantization table that is not there",
       with_byte(good, at.sof + 12, 3),
       Code::kCorrupt,
       {"uantization table"}},
      {"quantization table 9", with_byte(good, at.sof + 12, 9), Code::kCorrupt, {"uantization table"}},
      {"no quantization tables",
       cut(good, at.dqt) + good.substr(at.sof),
       Code::kCorrupt,
       {"uantization table"}},
      {"a table for quantizer 4", inserted(good, at.dqt, dqt16), Code::kCorrupt, {"DQT index 4"}},
      {"quantizers of precision 15", with_byte(good, at.dqt + 4, 0xF0), Code::kCorrupt, {"JPEG"}},
      {"DQT too short",
       inserted(good, at.dqt, segment(0xDB, std::string(10, '\0'))),
       Code::kCorrupt,
       {"length"}},
      {"DHT too short",
       inserted(good, at.dht, segment(0xC4, std::string(5, '\0'))),
       Code::kCorrupt,
       {"length"}},
      {"DHT of too many codes", inserted(good, at.dht, over), Code::kCorrupt, {"Huffman table"}},
      {"codes that clash", inserted(good, at.sos, clash), Code::kCorrupt, {"Huffman table"}},
      {"Huffman table 5", with_byte(good, at.dht + 4, 5), Code::kCorrupt, {"DHT index 5"}},
      {"a Huffman table that is not there",
       with_byte(good, at.sos + 6, 0x33),
       Code::kCorrupt,
       {"Huffman table"}},
      {"an arithmetic table",
       inserted(good, at.sos, segment(0xCC, std::string("\x30\x01", 2))),
       Code::kCorrupt,
       {"DAC"}},
      {"a restart interval of 3 bytes",
       inserted(good, at.sos, segment(0xDD, std::string(3, '\1'))),
       Code::kCorrupt,
       {"length"}},
      {"no components in the scan", with_byte(good, at.sos + 4, 0), Code::kCorrupt, {"JPEG"}},
      {"5 components in the scan", with_byte(good, at.sos + 4, 5), Code::kCorrupt, {"length"}},
      {"a component twice", with_byte(good, at.sos + 7, 1), Code::kCorrupt, {"component ID 1"}},
      {"an unknown component", with_byte(good, at.sos + 5, 77), Code::kCorrupt, {"component ID 77"}},
      {"SOS too long", with(good, at.sos + 2, big16(14)), Code::kCorrupt, {"length"}},
      {"two frame headers", inserted(good, at.sos, good.substr(at.sof, 19)), Code::kCorrupt, {"two SOF"}},
      {"a frame header of another kind",
       inserted(good, at.sos, with_byte(good.substr(at.sof, 19), 1, 0xC9)),
       Code::kCorrupt,
       {"two SOF"}},
      {"no scan", cut(good, at.sos) + "\xFF\xD9", Code::kCorrupt, {"JPEG"}},
      {"an unknown marker", inserted(good, at.sos, segment(0xF3, "x")), Code::kCorrupt, {"marker"}},
      {"progressive without progression", with_byte(good, at.sof + 1, 0xC2), Code::kCorrupt, {"progressive"}},
      {"zeros for codes", cut(good, at.scan) + std::string(12, '\0'), Code::kTruncated, {"inside the image"}},
      {"ones for codes", cut(good, at.scan) + ones + "\xFF\xD9", Code::kCorrupt, {"Huffman code"}},
      {"a text for codes", cut(good, at.scan) + std::string(20, 'U') + "\xFF\xD9", Code::kCorrupt, {"JPEG"}},
      {"a restart marker out of order",
       with_byte(restarts, restart + 1, 0xD5),
       Code::kCorrupt,
       {"instead of RST0"}},
      {"a restart marker left out",
       cut(restarts, restart) + restarts.substr(restart + 2),
       Code::kCorrupt,
       {"JPEG"}},
      {"a restart marker too many",
       inserted(good, at.scan + 40, "\xFF\xD0"),
       Code::kCorrupt,
       {"premature end"}},
      {"another image's end", cut(good, at.scan + 30) + restarts.substr(restart), Code::kCorrupt, {"JPEG"}},
      {"a scan of restarts only",
       cut(good, at.scan) + "\xFF\xD0\xFF\xD1\xFF\xD2\xFF\xD9",
       Code::kCorrupt,
       {"premature"}},
      {"a later scan header cut off", cut(good, at.scan) + "\xFF\xDA", Code::kCorrupt, {"premature"}},
      {"max_pixels of 900",
       good,
       Code::kTooLarge,
       {"JPEG of 40 wide, 24 high, max_pixels is 900; raise max_pixels to at least 960"},
       {.limits = {.max_pixels = 900}}},
      {"max_decoded_bytes of 5000",
       good,
       Code::kTooLarge,
       {"JPEG of 40 wide, 24 high needs", "max_decoded_bytes is 5000"},
       {.limits = {.max_decoded_bytes = 5000}}},
      {"max_pixels of 0", good, Code::kTooLarge, {"max_pixels is 0"}, {.limits = {.max_pixels = 0}}}};
  check_strictly(table, good);
}

// A progressive file of any size: its scans each say "nothing" in a few bytes.
std::string many_scans(int scans, int width, int height) {
  JpegKind kind;
  kind.progressive = true;
  const std::string small = make_jpeg(kind);
  std::string bytes = small;
  const size_t sof = find_marker(small, 0xC2);
  bytes = with(bytes, sof + 5, big16(static_cast<uint32_t>(height)) + big16(static_cast<uint32_t>(width)));
  const std::string again = segment(0xDA, std::string("\x01\x01\x00\x01\x05\x02", 6));
  bytes.resize(bytes.size() - 2);
  for (int i = 0; i < scans; ++i) bytes += again + std::string(1, '\x7F');
  return bytes + "\xFF\xD9";
}

TEST(BadJpeg, BombsAreRefusedAtOnce) {
  const std::string good = good_jpeg();
  TestDecoder decoder;
  const std::vector<BadImage> bombs = {
      {"1000 scans", many_scans(1000, 64, 48), Code::kTooLarge, {"more than 100 scans, max_scans is 100"}},
      {"1000 scans of a large image", many_scans(1000, 4000, 4000), Code::kTooLarge, {"JPEG"}},
      {"101 scans", many_scans(95, 64, 48), Code::kTooLarge, {"max_scans is 100"}},
      {"progressive, 20000x8000",
       many_scans(1, 20000, 8000),
       Code::kTooLarge,
       {"progressive JPEG of 20000 wide, 8000 high needs 481344768 bytes", "max_decoded_bytes is 67108864"}},
      {"65500 columns of nothing",
       with(good, find_marker(good, 0xC0) + 5, big16(2700) + big16(65500)),
       Code::kCorrupt,
       {"JPEG"},
       {.limits = {.accept_warnings = false}}},
      {"100000 empty comments",
       [&] {
         std::string bytes = "\xFF\xD8";
         for (int i = 0; i < 100000; ++i) bytes += segment(0xFE, "");
         return bytes;
       }(),
       Code::kTruncated,
       {"before its size"}},
      {"a megabyte of fill bytes",
       "\xFF\xD8" + std::string(1 << 20, '\xFF'),
       Code::kTruncated,
       {"before its size"}}};
  PeakGrowth growth;
  for (const BadImage& bomb : bombs) {
    SCOPED_TRACE(bomb.name);
    TestDecoder limited(bomb.options);
    expect_refused(bomb, limited);
    EXPECT_TRUE(decoder.decode(good).status.is_ok());
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

TEST(BadJpeg, EveryPrefixIsTruncated) {
  const std::string good = good_jpeg();
  check_prefixes(good, good.size());
}

TEST(BadJpeg, EveryFlippedBitEndsInOrder) {
  check_bit_flips(good_jpeg(), {.limits = {.max_pixels = 1 << 20}});
  JpegKind kind;
  kind.width = kind.height = 16;
  kind.progressive = true;
  check_bit_flips(make_jpeg(kind), {.mode = PixelMode::kGray, .limits = {.max_pixels = 1 << 18}});
}

// A file that leaves out its tables is not decoded with those of the one before it.
TEST(BadJpeg, TablesOfTheLastImageAreNotKept) {
  const std::string good = good_jpeg();
  const Places at(good);
  const std::string bare = cut(good, at.dqt) + good.substr(at.sof);
  TestDecoder decoder;
  ASSERT_TRUE(decoder.decode(good).status.is_ok());
  EXPECT_EQ(decoder.decode(bare).status.code(), Code::kCorrupt);
}

// Damage that libjpeg only warns of: the picture is what libjpeg makes of it, and is said to have been warned of.
TEST(BadJpeg, WhatLibjpegOnlyWarnsOfIsAcceptedUnlessToldOtherwise) {
  const std::string good = good_jpeg();
  const Places at(good);
  JpegKind kind;
  kind.width = kind.height = 64;
  kind.restart_rows = 1;
  const std::string restarts = make_jpeg(kind);
  const size_t restart = restarts.find("\xFF\xD0");
  std::string ones;
  for (int i = 0; i < 100; ++i) ones += std::string("\xFF\0", 2);
  const std::pair<const char*, std::string> damaged[] = {
      {"EOI in the middle", cut(good, (at.scan + good.size()) / 2) + "\xFF\xD9"},
      {"no Huffman code", cut(good, at.scan) + ones + "\xFF\xD9"},
      {"a restart marker out of order", with_byte(restarts, restart + 1, 0xD5)},
      {"a restart marker left out", cut(restarts, restart) + restarts.substr(restart + 2)},
      {"a restart marker too many", inserted(good, at.scan + 40, "\xFF\xD0")}};
  DecodeOptions strict;
  strict.limits.accept_warnings = false;
  TestDecoder decoder, refusing(strict);
  for (const auto& [name, bytes] : damaged) {
    const Decoded got = decoder.decode(bytes);
    ASSERT_TRUE(got.status.is_ok()) << name << ": " << got.status.message();
    EXPECT_TRUE(got.warned) << name;
    EXPECT_EQ(refusing.decode(bytes).status.code(), Code::kCorrupt) << name;
    for (const ImageRegion& region : {ImageRegion{0, 3, 10, 20}, {11, 5, 13, 30}, {20, 0, 4, 40}}) {
      const Decoded part = decoder.decode(bytes, region, 2);
      EXPECT_TRUE(part.pixels == part_of(got.pixels, got.width, 3, region)) << name << ", top " << region.top;
    }
  }
  EXPECT_FALSE(decoder.decode(good).warned) << "of an earlier image";
}

// What stands between the last line and the end is read, as Pillow reads it: an end that is missing is no damage.
TEST(BadJpeg, WhatFollowsTheLastLineCountsForAWholeImage) {
  const std::string good = good_jpeg();
  const std::string bad = inserted(good, good.size() - 2, segment(0xF3, "x"));
  TestDecoder decoder;
  EXPECT_EQ(decoder.decode(bad).status.code(), Code::kCorrupt);
  EXPECT_TRUE(decoder.decode(bad, {0, 0, 8, 40}).status.is_ok()) << "below the region nothing is read";
  EXPECT_TRUE(decoder.decode(cut(good, good.size() - 2) + std::string(64, '\0')).status.is_ok());
}

TEST(BadJpeg, ArithmeticCodesAreDecodedAsHuffmanCodesAre) {
  for (bool progressive : {false, true}) {
    JpegKind kind;
    kind.progressive = progressive;
    const Decoded expected = TestDecoder().decode(make_jpeg(kind));
    kind.arithmetic = true;
    const std::string coded = make_jpeg(kind);
    if (coded.empty()) GTEST_SKIP() << "this libjpeg makes no arithmetic codes";
    TestDecoder decoder;
    const Decoded got = decoder.decode(coded);
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    EXPECT_TRUE(got.pixels == expected.pixels) << progressive;
    const ImageRegion part = {17, 9, 20, 31};
    EXPECT_TRUE(decoder.decode(coded, part).pixels == part_of(expected.pixels, got.width, 3, part));
  }
}

// What libjpeg warns of and Pillow takes: bytes between segments, an odd JFIF version, an unknown Adobe transform.
TEST(BadJpeg, HarmlessOdditiesDecode) {
  const std::string good = good_jpeg();
  const Places at(good);
  DecodeOptions strict;
  strict.limits.accept_warnings = false;
  TestDecoder decoder(strict);
  const Decoded whole = decoder.decode(good);
  const std::string adobe = segment(0xEE, std::string("Adobe\0\x64\0\0\0\0\x07", 12));
  const std::pair<const char*, std::string> oddities[] = {
      {"bytes between segments", inserted(good, at.dqt, "stray")},
      {"fill bytes", inserted(good, at.dqt, "\xFF\xFF\xFF")},
      {"JFIF 9", with_byte(good, 11, 9)},
      {"an unknown Adobe transform", inserted(good, at.dqt, adobe)},
      {"bytes behind EOI", good + "trailing"},
      {"another image behind EOI", good + good},
      {"an empty comment", inserted(good, at.dqt, segment(0xFE, ""))},
      {"odd numbers in a sequential scan header", with_byte(good, at.sos + 12, 5)}};
  for (const auto& [name, bytes] : oddities) {
    const Decoded got = decoder.decode(bytes);
    ASSERT_TRUE(got.status.is_ok()) << name << ": " << got.status.message();
    EXPECT_TRUE(got.pixels == whole.pixels) << name;
    EXPECT_FALSE(got.warned) << name;
  }
}

}  // namespace
}  // namespace dataline::bad_jpeg_test
