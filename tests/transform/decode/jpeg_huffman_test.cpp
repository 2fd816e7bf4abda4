// Our Huffman decoder in libjpeg's place: it takes every file of one sequential scan, gives the same pixels, and leaves
// libjpeg the word on what is damaged.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/sweep_stride.h"
#include "tests/transform/decode/decoded.h"
#include "tests/transform/decode/jpeg_files.h"
#include "tests/transform/decode/jpeg_whole.h"

namespace dataline::jpeg_huffman_test {
namespace {

void expect_ours(const JpegKind& kind) {
  const std::string bytes = make_jpeg(kind);
  const Whole expected = decode_whole(bytes_of(bytes), false), got = decode_whole(bytes_of(bytes), true);
  EXPECT_TRUE(got.attached);
  EXPECT_FALSE(got.gave_up);
  EXPECT_TRUE(got.status.is_ok()) << got.status.message();
  EXPECT_TRUE(got.pixels == expected.pixels);
}

// What a caller gets of a file is what libjpeg says of it: the pixels, or the error, and the lines before it.
void expect_as_libjpeg(TestDecoder& decoder, const std::string& bytes, const DecodeLimits& limits = {}) {
  const Whole expected = decode_whole(bytes_of(bytes), false, limits);
  const Decoded got = decoder.decode(bytes);
  ASSERT_EQ(got.status.code(), expected.status.code()) << got.status.message() << expected.status.message();
  EXPECT_EQ(got.status.message(), expected.status.message());
  ASSERT_LE(got.pixels.size(), expected.pixels.size());
  EXPECT_TRUE(got.pixels.size() == expected.pixels.size() || !got.status.is_ok());
  ASSERT_TRUE(std::equal(got.pixels.begin(), got.pixels.end(), expected.pixels.begin()));
}

constexpr DecodeLimits kStrict = {.accept_warnings = false};

TestDecoder unchanged_decoder(const DecodeLimits& limits = {}) {
  DecodeOptions options;
  options.limits = limits;
  options.mode = PixelMode::kUnchanged;
  return TestDecoder(options);
}

std::vector<JpegKind> small_kinds() {
  std::vector<JpegKind> kinds(4);
  for (JpegKind& kind : kinds) kind.width = 40, kind.height = 35;
  kinds[1].h = kinds[1].v = {1, 1, 1};
  kinds[1].quality = 20;
  kinds[1].own_tables = true;
  kinds[2].restart_rows = 1;
  kinds[3].h = kinds[3].v = {1};
  kinds[3].in = kinds[3].stored = JCS_GRAYSCALE;
  return kinds;
}

size_t place_of(const std::string& bytes, const char* marker) { return bytes.find(marker); }
size_t scan_of(const std::string& bytes) {
  const size_t header = place_of(bytes, "\xFF\xDA");
  return header + 2 + static_cast<unsigned char>(bytes[header + 3]);
}

class JpegHuffmanTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if !DATALINE_HAS_JPEG_HUFFMAN
    GTEST_SKIP() << "built without DATALINE_WITH_JPEG_HUFFMAN";
#endif
  }
};

#if DATALINE_HAS_JPEG_HUFFMAN
// What libjpeg reports of itself is compared with the header that we were compiled with.
TEST_F(JpegHuffmanTest, LeavesTheFilesOfAnotherLibraryToLibjpeg) {
  const std::string bytes = make_jpeg({});
  const auto attaches = [&](auto change) {
    JpegHuffman huffman;
    JpegSession session{DecodeLimits()};
    EXPECT_TRUE(session.begin(bytes_of(bytes)).is_ok());
    auto start = [](jpeg_decompress_struct& info) {
      jpeg_read_header(&info, TRUE);
      jpeg_start_decompress(&info);
    };
    EXPECT_TRUE(session.run(start).is_ok());
    change(*session.info().err);
    return huffman.attach(session.info());
  };
  EXPECT_TRUE(attaches([](jpeg_error_mgr&) {}));
  EXPECT_FALSE(attaches([](jpeg_error_mgr& errors) { ++errors.last_jpeg_message; }));
  if (std::string_view(DATALINE_LIBJPEG_YEARS).empty()) return;  // forced on for an untested release
  std::vector<const char*> messages(JMSG_LASTMSGCODE, "Copyright (C) 1991-1998, Thomas G. Lane");
  EXPECT_FALSE(attaches([&](jpeg_error_mgr& errors) { errors.jpeg_message_table = messages.data(); }));
}
#endif

TEST_F(JpegHuffmanTest, TakesEverySequentialFileAndGivesTheSamePixels) {
  for (int quality : {1, 30, 75, 95, 100}) {
    for (bool own_tables : {false, true}) {
      for (int restart_rows : {0, 1, 3}) {
        JpegKind kind;
        kind.width = 333;
        kind.height = 151;
        kind.quality = quality;
        kind.own_tables = own_tables;
        kind.restart_rows = restart_rows;
        SCOPED_TRACE(::testing::Message() << quality << " " << own_tables << " " << restart_rows);
        expect_ours(kind);
        kind.h = {4, 1, 2};
        kind.v = {1, 1, 1};
        expect_ours(kind);
        kind.h = kind.v = {1, 1, 1, 1};
        kind.in = kind.stored = JCS_CMYK;
        expect_ours(kind);
        kind.h = kind.v = {1};
        kind.in = kind.stored = JCS_GRAYSCALE;
        expect_ours(kind);
      }
    }
  }
}

TEST_F(JpegHuffmanTest, LeavesOtherFilesToLibjpeg) {
  JpegKind progressive, scans;
  progressive.progressive = true;
  scans.interleaved = false;
  EXPECT_FALSE(decode_whole(bytes_of(make_jpeg(progressive)), true).attached);
  EXPECT_FALSE(decode_whole(bytes_of(make_jpeg(scans)), true).attached);
}

TEST_F(JpegHuffmanTest, EveryFlippedBitGivesWhatLibjpegGives) {
  TestDecoder decoder = unchanged_decoder(), strict = unchanged_decoder(kStrict);
  int failed = 0, gave_up = 0, accepted = 0;
  for (const JpegKind& kind : small_kinds()) {
    const std::string good = make_jpeg(kind);
    for (size_t bit = 8 * scan_of(good); bit < 8 * good.size(); bit += static_cast<size_t>(sweep_stride())) {
      SCOPED_TRACE(::testing::Message() << "bit " << bit);
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      expect_as_libjpeg(decoder, flipped);
      expect_as_libjpeg(strict, flipped, kStrict);
      if (HasFatalFailure()) return;
      const Whole alone = decode_whole(bytes_of(flipped), true, kStrict);
      gave_up += alone.gave_up ? 1 : 0;
      failed += alone.gave_up && !decode_whole(bytes_of(flipped), false, kStrict).status.is_ok() ? 1 : 0;
      const Whole taken = decode_whole(bytes_of(flipped), false);
      accepted += taken.warned && taken.status.is_ok() ? 1 : 0;
    }
  }
  EXPECT_GT(gave_up, failed) << "libjpeg passes over some damage";
  EXPECT_GT(failed, 100);
  EXPECT_GT(accepted, 100) << "nothing was damaged and accepted";
}

TEST_F(JpegHuffmanTest, EveryPrefixGivesWhatLibjpegGives) {
  TestDecoder decoder = unchanged_decoder();
  for (const JpegKind& kind : small_kinds()) {
    const std::string good = make_jpeg(kind);
    for (size_t size = scan_of(good); size < good.size(); size += static_cast<size_t>(sweep_stride())) {
      SCOPED_TRACE(::testing::Message() << size << " of " << good.size() << " bytes");
      for (const char* end : {"", "\xFF", "\xFF\xFF", "\xFF\xFF\xD9"})
        expect_as_libjpeg(decoder, good.substr(0, size) + end);
      if (HasFatalFailure()) return;
    }
  }
}

// Markers of restarts that are missing, out of turn, twice, after fill bytes; bytes before the next marker.
TEST_F(JpegHuffmanTest, OddMarkersGiveWhatLibjpegGives) {
  TestDecoder decoder = unchanged_decoder();
  JpegKind kind;
  kind.restart_rows = 1;
  const std::string good = make_jpeg(kind);
  const size_t first = good.find("\xFF\xD0", scan_of(good));
  ASSERT_NE(first, std::string::npos);
  const std::string head = good.substr(0, first), tail = good.substr(first + 2);
  for (std::string marker :
       {std::string(), std::string("\xFF\xD1"), std::string("\xFF\xD7"), std::string("\xFF\xD0\xFF\xD0"),
        std::string("\xFF\xFF\xFF\xD0"), std::string("\0\0\xFF\xD0", 4), std::string("\xFF\xD9"),
        std::string("\xFF\xE0\0\2", 4), std::string("\xFF\0\xFF\xD0", 4)}) {
    SCOPED_TRACE(::testing::PrintToString(marker));
    expect_as_libjpeg(decoder, head + marker + tail);
  }
  expect_as_libjpeg(decoder, good.substr(0, good.size() - 2) + std::string("\1\2\3\xFF\xD9", 5));
  expect_as_libjpeg(decoder, make_jpeg({}).insert(scan_of(make_jpeg({})), "\xFF\xD0"));
}

// DC differences of 2047 without end: libjpeg keeps 16 bits of the sum.
TEST_F(JpegHuffmanTest, ASumOfDcDifferencesThatOverflowsGivesWhatLibjpegGives) {
  JpegKind kind;
  kind.width = 8 * 40;
  kind.height = 8;
  kind.h = kind.v = {1};
  kind.in = kind.stored = JCS_GRAYSCALE;
  const std::string made = make_jpeg(kind);
  std::string bits, scan;
  for (int block = 0; block < 40; ++block)
    bits +=
        "111111110"
        "11111111111"
        "1010";  // DC of 11 bits, 2047, end of block
  bits.resize((bits.size() + 7) / 8 * 8, '1');
  for (size_t at = 0; at < bits.size(); at += 8) {
    scan += static_cast<char>(std::stoi(bits.substr(at, 8), nullptr, 2));
    if (scan.back() == '\xFF') scan += '\0';
  }
  const std::string bytes = made.substr(0, scan_of(made)) + scan + "\xFF\xD9";
  EXPECT_TRUE(decode_whole(bytes_of(bytes), true).gave_up);
  TestDecoder decoder = unchanged_decoder();
  expect_as_libjpeg(decoder, bytes);
}

// Tables are kept from image to image where they are the same, and only there.
TEST_F(JpegHuffmanTest, OneDecoderTakesFilesOfDifferentTables) {
  TestDecoder decoder = unchanged_decoder();
  JpegKind usual, own;
  own.own_tables = true;
  for (int i = 0; i < 8; ++i) {
    own.quality = 20 + 10 * i;
    for (const JpegKind& kind : {usual, own, usual}) expect_as_libjpeg(decoder, make_jpeg(kind));
  }
}

// A region below damage that libjpeg passes over is read from the lines that it begins with.
TEST_F(JpegHuffmanTest, ARegionBelowDamageIsThatOfTheWholeImage) {
  JpegKind kind;
  kind.width = 96;
  kind.height = 80;
  const std::string good = make_jpeg(kind);
  TestDecoder decoder = unchanged_decoder();
  int tried = 0;
  for (size_t bit = 8 * scan_of(good); bit < 8 * good.size() && tried < 40; bit += 5) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const Whole whole = decode_whole(bytes_of(flipped), false);
    if (!whole.status.is_ok() || !decode_whole(bytes_of(flipped), true).gave_up) continue;
    ++tried;
    for (const ImageRegion& region : {ImageRegion{0, 3, 80, 50}, {37, 20, 30, 70}, {70, 0, 10, 96}}) {
      const Decoded got = decoder.decode(flipped, region, 7);
      ASSERT_TRUE(got.status.is_ok()) << got.status.message();
      EXPECT_TRUE(got.pixels == part_of(whole.pixels, kind.width, 3, region))
          << "bit " << bit << " top " << region.top;
    }
  }
  EXPECT_GT(tried, 3);
}

}  // namespace
}  // namespace dataline::jpeg_huffman_test
