// PNG files that are damaged or hostile.
// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/decode/bad_image_table.h"
#include "tests/transform/decode/png_files.h"

namespace dataline::bad_png_test {
namespace {

using namespace std::string_literals;

constexpr size_t kIdat = 33;  // of a good file

std::string pixels_chunk(const std::string& rows) { return png_chunk("IDAT", zlib_stored(rows)); }

PngKind kind_of(int colour, int depth) {
  PngKind kind;
  kind.colour = colour;
  kind.depth = depth;
  return kind;
}

TEST(BadPng, HeadersAndCuts) {
  const std::string good = make_png({});
  const std::string rows = png_rows_of({});
  auto header = [&](auto change) {
    PngKind kind;
    change(kind);
    return png_header(kind) + pixels_chunk(rows) + kPngEnd;
  };
  auto sized = [&](uint32_t width, uint32_t height) {
    return header([&](PngKind& kind) { kind.width = width, kind.height = height; });
  };
  auto typed = [&](int colour, int depth) {
    return header([&](PngKind& kind) { kind.colour = colour, kind.depth = depth; });
  };
  std::vector<BadImage> table = {
      {"one byte", cut(good, 1), Code::kTruncated, {"ends at byte 1"}},
      {"half a signature", cut(good, 5), Code::kTruncated, {"ends at byte 5"}},
      {"the signature alone", cut(good, 8), Code::kTruncated, {"PNG ends at byte 8, expected 33"}},
      {"cut inside IHDR", cut(good, 20), Code::kTruncated, {"ends at byte 20"}},
      {"cut at IHDR's checksum", cut(good, 32), Code::kTruncated, {"ends at byte 32"}},
      {"the header alone", cut(good, 33), Code::kTruncated, {"before its pixels (IDAT)"}},
      {"half a chunk's length", cut(good, 35), Code::kTruncated, {"before its pixels"}},
      {"IDAT's head alone", cut(good, 41), Code::kTruncated, {"before its pixels"}},
      {"cut inside IDAT", cut(good, 300), Code::kTruncated, {"ends at byte 300, inside its pixels"}},
      {"cut before the last row",
       cut(good, good.size() - 12 - 8 - 70),
       Code::kTruncated,
       {"inside its pixels"}},
      {"newlines changed",
       "\x89PNG\n\x1A\n" + good.substr(8),
       Code::kCorrupt,
       {"not an image", "89 50 4e 47"}},
      {"the high bit lost", "\x09PNG\r\n\x1A\n" + good.substr(8), Code::kCorrupt, {"not an image"}},
      {"IDAT before IHDR", kPngSignature + good.substr(kIdat), Code::kCorrupt, {"no header chunk at byte 8"}},
      {"IHDR of 12 bytes", with(good, 8, big32(12)), Code::kCorrupt, {"IHDR of 13 bytes"}},
      {"IHDR of 2^32-1 bytes", with(good, 8, big32(~0u)), Code::kCorrupt, {"IHDR of 13 bytes"}},
      {"CgBI before IHDR",
       kPngSignature +
           std::string("\0\0\0\x04"
                       "CgBI\x50\0\x20\x06\x2b\xd5\xb3\x7f",
                       16) +
           good.substr(8),
       Code::kUnsupported,
       {"CgBI", "pngcrush"}},
      {"IHDR in small letters", with(good, 12, "ihdr"), Code::kCorrupt, {"no header chunk"}},
      {"IHDR's checksum wrong", with_byte(good, 32, 1), Code::kCorrupt, {"checksum"}},
      {"no columns", sized(0, 10), Code::kCorrupt, {"byte 16 states 0 wide, 10 high"}},
      {"no lines", sized(24, 0), Code::kCorrupt, {"states 24 wide, 0 high"}},
      {"2^31 columns", sized(1u << 31, 1), Code::kCorrupt, {"2147483648 wide, 1 high"}},
      {"2^32-1 lines", sized(1, ~0u), Code::kCorrupt, {"1 wide, 4294967295 high"}},
      {"2^31-1 squared", sized(0x7FFFFFFF, 0x7FFFFFFF), Code::kTooLarge, {"max_pixels is 178956970"}},
      {"60000x60000", sized(60000, 60000), Code::kTooLarge, {"60000 wide, 60000 high, max_pixels"}},
      {"one line of 178956970",
       sized(178956970, 1),
       Code::kTooLarge,
       {"needs 1073823740 bytes", "max_decoded_bytes"}},
      {"interlaced, 13000x13000",
       header([](PngKind& kind) { kind.width = kind.height = 13000, kind.interlace = 1; }),
       Code::kTooLarge,
       {"interlaced PNG", "max_decoded_bytes is 67108864"}},
      {"colour type 1", typed(1, 8), Code::kCorrupt, {"byte 25 states colour type 1"}},
      {"colour type 5", typed(5, 8), Code::kCorrupt, {"colour type 5"}},
      {"colour type 7", typed(7, 8), Code::kCorrupt, {"colour type 7"}},
      {"colour type 255", typed(255, 8), Code::kCorrupt, {"colour type 255"}},
      {"0 bits", typed(0, 0), Code::kCorrupt, {"byte 24 states 0 bits"}},
      {"3 bits", typed(0, 3), Code::kCorrupt, {"3 bits"}},
      {"32 bits", typed(2, 32), Code::kCorrupt, {"32 bits"}},
      {"RGB of 4 bits", typed(2, 4), Code::kCorrupt, {"4 bits, which colour type 2 does not support"}},
      {"a palette of 16 bits", typed(3, 16), Code::kCorrupt, {"16 bits, which colour type 3"}},
      {"grey and alpha of 1 bit", typed(4, 1), Code::kCorrupt, {"1 bits"}},
      {"compression 1",
       header([](PngKind& kind) { kind.compression = 1; }),
       Code::kCorrupt,
       {"compression 1"}},
      {"filter method 64", header([](PngKind& kind) { kind.filter = 64; }), Code::kCorrupt, {"filter 64"}},
      {"interlace 2", header([](PngKind& kind) { kind.interlace = 2; }), Code::kCorrupt, {"interlace 2"}},
      {"max_pixels of 239", good, Code::kTooLarge, {"max_pixels is 239"}, {.limits = {.max_pixels = 239}}},
      {"max_decoded_bytes of 1000",
       good,
       Code::kTooLarge,
       {"max_decoded_bytes is 1000"},
       {.limits = {.max_decoded_bytes = 1000}}}};
  check_bad_images(table, good);
}

TEST(BadPng, ChunksAndPixels) {
  const std::string good = make_png({});
  const std::string rows = png_rows_of({});
  const std::string head = png_header({});
  const std::string packed = zlib_stored(rows);
  auto palette = [](size_t entries) { return png_chunk("PLTE", std::string(3 * entries, '\x11')); };
  const PngKind indexed = kind_of(3, 8);
  const std::string index_rows = png_rows_of(indexed);
  auto of_pixels = [&](const std::string& stream) { return head + png_chunk("IDAT", stream) + kPngEnd; };
  DecodeOptions rgba;
  rgba.mode = PixelMode::kRgba;
  std::vector<BadImage> table = {
      {"no chunks but the end",
       head + kPngEnd,
       Code::kCorrupt,
       {"no pixels (IDAT) before its end at byte 33"}},
      {"no end and no pixels", head + png_chunk("tEXt", "a"), Code::kTruncated, {"before its pixels"}},
      {"text beyond the file", head + big32(1000) + "tEXt", Code::kTruncated, {"before its pixels"}},
      {"a chunk of 2^31 bytes",
       head + big32(1u << 31) + "tEXt" + good.substr(kIdat),
       Code::kTruncated,
       {"before its"}},
      {"a chunk of 2^32-1 bytes",
       head + big32(~0u) + "tEXt" + good.substr(kIdat),
       Code::kTruncated,
       {"before its"}},
      {"IDAT of 2^32-1 bytes", with(good, kIdat, big32(~0u)), Code::kCorrupt, {"PNG, near byte"}},
      {"IDAT of 2^31-1 bytes", with(good, kIdat, big32(0x7FFFFFFF)), Code::kTruncated, {"PNG"}},
      {"IDAT shorter than it says", with(good, kIdat, big32(20)), Code::kCorrupt, {"checksum"}},
      {"IDAT's checksum wrong", with_byte(good, good.size() - 13, 1), Code::kCorrupt, {"checksum"}},
      {"IDAT empty", of_pixels(""), Code::kTruncated, {"fewer pixels"}},
      {"IDAT of one byte", of_pixels("x"), Code::kTruncated, {"fewer pixels"}},
      {"a thousand empty IDATs",
       [&] {
         std::string bytes = head;
         for (int i = 0; i < 1000; ++i) bytes += png_chunk("IDAT", "");
         return bytes + kPngEnd;
       }(),
       Code::kTruncated,
       {"fewer pixels"}},
      {"no deflate", of_pixels(std::string(200, 'x')), Code::kCorrupt, {"PNG, near byte"}},
      {"gzip for zlib", of_pixels("\x1F\x8B\x08" + packed), Code::kCorrupt, {"PNG, near byte"}},
      {"deflate block type 3",
       of_pixels("\x78\x01\x07" + packed.substr(3)),
       Code::kCorrupt,
       {"PNG, near byte"}},
      {"a stored block's length wrong",
       of_pixels(with_byte(packed, 3, 0x55)),
       Code::kCorrupt,
       {"PNG, near byte"}},
      {"one row too few",
       head + pixels_chunk(cut(rows, rows.size() - 73)) + kPngEnd,
       Code::kTruncated,
       {"fewer pixels"}},
      {"one byte too few",
       head + pixels_chunk(cut(rows, rows.size() - 1)) + kPngEnd,
       Code::kTruncated,
       {"fewer pixels"}},
      {"no rows", head + pixels_chunk("") + kPngEnd, Code::kTruncated, {"fewer pixels"}},
      {"one row", head + pixels_chunk(cut(rows, 73)) + kPngEnd, Code::kTruncated, {"fewer pixels"}},
      {"filter 5", head + pixels_chunk(with_byte(rows, 73, 5)) + kPngEnd, Code::kCorrupt, {"filter"}},
      {"filter 255 in the first row",
       head + pixels_chunk(with_byte(rows, 0, 255)) + kPngEnd,
       Code::kCorrupt,
       {"filter"}},
      {"filter 9 in the last row",
       head + pixels_chunk(with_byte(rows, 73 * 9, 9)) + kPngEnd,
       Code::kCorrupt,
       {"filter"}},
      {"pixels broken off by text",
       head + png_chunk("IDAT", cut(packed, 100)) + png_chunk("tEXt", "a") +
           png_chunk("IDAT", packed.substr(100)) + kPngEnd,
       Code::kTruncated,
       {"fewer pixels"}},
      {"pixels broken off by the end",
       head + png_chunk("IDAT", cut(packed, 100)) + kPngEnd,
       Code::kTruncated,
       {"fewer"}},
      {"pixels broken off by the file's end",
       head + png_chunk("IDAT", cut(packed, 100)),
       Code::kTruncated,
       {"fewer pixels"}},
      {"a palette image without one",
       png_header(indexed) + pixels_chunk(index_rows) + kPngEnd,
       Code::kCorrupt,
       {"PLTE"}},
      {"the palette behind the pixels",
       png_header(indexed) + pixels_chunk(index_rows) + palette(3) + kPngEnd,
       Code::kCorrupt,
       {"PLTE"}},
      {"a palette of no entries", make_png(indexed, palette(0)), Code::kCorrupt, {"PNG"}},
      {"a palette of 257 entries", make_png(indexed, palette(257)), Code::kCorrupt, {"PNG"}},
      {"a palette of 4 bytes", make_png(indexed, png_chunk("PLTE", "abcd")), Code::kCorrupt, {"PNG"}},
      {"a palette of a megabyte", make_png(indexed, palette(350000)), Code::kCorrupt, {"PNG"}},
      {"17 entries for 4 bits", make_png(kind_of(3, 4), palette(17)), Code::kCorrupt, {"PNG"}},
      {"the palette's checksum wrong",
       make_png(indexed, with_byte(palette(3), 18, 1)),
       Code::kCorrupt,
       {"checksum"}},
      {"tRNS's checksum wrong",
       make_png(kind_of(0, 8), with_byte(png_chunk("tRNS", big16(7)), 11, 1)),
       Code::kCorrupt,
       {"checksum"},
       rgba},
      {"a JPEG behind the signature",
       kPngSignature + std::string("\xFF\xD8\xFF\xE0", 4) + std::string(40, '\0'),
       Code::kCorrupt,
       {"no header chunk"}},
      {"zeros behind the signature",
       kPngSignature + std::string(40, '\0'),
       Code::kCorrupt,
       {"no header chunk"}},
      {"zeros behind the header", head + std::string(40, '\0'), Code::kTruncated, {"before its pixels"}},
      {"iDAT is not IDAT", with(good, kIdat + 4, "iDAT"), Code::kCorrupt, {"no pixels"}},
      {"ones for pixels",
       head + png_chunk("IDAT", std::string(500, '\xFF')) + kPngEnd,
       Code::kCorrupt,
       {"PNG, near byte"}}};
  check_bad_images(table, good);
}

TEST(BadPng, BombsAreRefusedAtOnceOrCostNothing) {
  const std::string good = make_png({});
  TestDecoder decoder;
  const Decoded whole = decoder.decode(good);
  std::string chunks = png_header({});
  for (int i = 0; i < 100000; ++i) chunks += std::string("\0\0\0\0tEXt\0\0\0\0", 12);
  // zTXt that says it inflates to a gigabyte: never looked at.
  const std::string text = png_chunk("zTXt", std::string("a\0\0", 3) + std::string(1 << 20, '\xED'));
  const std::string profile = png_chunk("iCCP", std::string("a\0\0", 3) + std::string(1 << 20, '\xED'));
  PeakGrowth growth;
  for (const std::string& bytes :
       {chunks + good.substr(kIdat), make_png({}, text), make_png({}, profile), good + chunks}) {
    const std::clock_t start = std::clock();
    const Decoded got = decoder.decode(bytes);
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    EXPECT_TRUE(got.pixels == whole.pixels);
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kMostSeconds);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

TEST(BadPng, EveryPrefixIsTruncated) {
  const std::string good = make_png({});
  check_prefixes(good, good.size() - kPngEnd.size());
}

TEST(BadPng, EveryFlippedBitEndsInOrder) {
  check_bit_flips(make_png({}), {.limits = {.max_pixels = 1 << 20}});
  check_bit_flips(
      make_png(kind_of(3, 8), png_chunk("PLTE", std::string(30, '\x22')) + png_chunk("tRNS", "\1\2")),
      {.mode = PixelMode::kRgba, .limits = {.max_pixels = 1 << 20}});
}

// Not an error: libpng and Pillow show such files too.
TEST(BadPng, AnIndexBeyondThePaletteIsBlack) {
  PngKind kind = kind_of(3, 8);
  kind.width = 3;
  kind.height = 1;
  const std::string palette = png_chunk("PLTE", "abcdef");
  const std::string bytes = png_header(kind) + palette + pixels_chunk("\0\1\2\0"s) + kPngEnd;
  TestDecoder decoder;
  const Decoded got = decoder.decode(bytes);
  ASSERT_TRUE(got.status.is_ok()) << got.status.message();
  EXPECT_EQ(std::string(got.pixels.begin(), got.pixels.end()), "def\0\0\0abc"s);
}

// Chunks beside the pixels are not needed: a damaged one does no harm.
TEST(BadPng, DamagedTextIsPassedOver) {
  TestDecoder decoder;
  const Decoded whole = decoder.decode(make_png({}));
  std::string text = png_chunk("tEXt", "comment");
  text.back() = 'x';
  for (const std::string& extra :
       {text, png_chunk("iCCP", "no profile"), png_chunk("gAMA", ""), png_chunk("abcd", "e")}) {
    const Decoded got = decoder.decode(make_png({}, extra));
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    EXPECT_TRUE(got.pixels == whole.pixels);
  }
}

}  // namespace
}  // namespace dataline::bad_png_test
