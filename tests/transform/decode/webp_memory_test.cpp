// What libwebp takes for a lossless image is known before it is called: hostile streams are refused for next to nothing,
// ordinary ones never, and what it really allocates stays below what was said.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_malloc.h"
#include "tests/transform/decode/bad_image_table.h"
#include "tests/transform/decode/webp_files.h"

namespace dataline::webp_memory_test {
namespace {

using tests::arm_malloc;
using tests::disarm_malloc;

std::string lossless_file(int width, int height, int groups, int cache_bits = 0) {
  return riff(riff_chunk(
      "VP8L", lossless_header(width, height) + lossless_groups(width, height, groups, cache_bits)));
}

// A lossy image whose alpha plane is as it is, not packed.
std::string plain_alpha_file(int width, int height) {
  return riff(
      extended(0x10, static_cast<uint32_t>(width), static_cast<uint32_t>(height)) +
      riff_chunk("ALPH", std::string(1, '\0') + std::string(static_cast<size_t>(width * height), '\x7F')) +
      make_webp(width, height, false, false).substr(12));
}

// A lossy image whose alpha plane is the hostile stream.
std::string alpha_file(int width, int height, int groups) {
  return riff(extended(0x10, static_cast<uint32_t>(width), static_cast<uint32_t>(height)) +
              riff_chunk("ALPH", "\x01" + lossless_groups(width, height, groups)) +
              make_webp(width, height, false, false).substr(12));
}

void expect_all_refused(const std::vector<BadImage>& table) {
  const std::string good = make_webp(40, 24, true, true);
  TestDecoder decoder;
  ASSERT_TRUE(decoder.decode(good).status.is_ok());
  PeakGrowth growth;
  for (const BadImage& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_refused(bad, decoder);
    EXPECT_TRUE(decoder.decode(good).status.is_ok());
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

TEST(WebpMemory, StreamsOfManyHuffmanGroupsAreRefusedForNextToNothing) {
  const std::string hostile = lossless_file(1024, 1024, 1 << 16);
  ASSERT_LT(hostile.size(), 300u << 10);
  const std::vector<std::string> parts = {"with 65536 groups of Huffman codes needs ", "bytes to decode",
                                          "max_decoded_bytes is 67108864"};
  std::vector<BadImage> table = {
      {"65536 groups", hostile, Code::kTooLarge, {"lossless WebP of 1024 wide, 1024 high"}},
      {"in a container",
       riff(extended(0, 1024, 1024) + riff_chunk("XYZW", "?") + hostile.substr(12)),
       Code::kTooLarge,
       {"lossless WebP of 1024 wide, 1024 high"}},
      {"in an alpha plane",
       alpha_file(1024, 1024, 1 << 16),
       Code::kTooLarge,
       {"WebP of 1024 wide, 1024 high"}},
      {"in an animation",
       animation(0, 2000, 2000, 100, 200, 1024, 1024, hostile.substr(12)),
       Code::kTooLarge,
       {"lossless WebP of 1024 wide, 1024 high"}}};
  for (BadImage& bad : table) bad.parts.insert(bad.parts.end(), parts.begin(), parts.end());
  table.push_back({"with the largest colour cache",
                   lossless_file(512, 512, 4000, 11),
                   Code::kTooLarge,
                   {"with 4000 groups of Huffman codes needs "}});
  expect_all_refused(table);
}

// By the error of a decoder that may take nothing.
int64_t said_bytes(const std::string& webp, PixelMode mode) {
  DecodeOptions options;
  options.mode = mode;
  options.limits.max_decoded_bytes = 1;
  const Decoded got = TestDecoder(options).decode(webp);
  const std::string& text = got.status.message();
  const size_t at = text.find("needs ");
  EXPECT_NE(at, text.npos) << text;
  return at == text.npos ? 0 : std::stoll(text.substr(at + 6));
}

// What the C library handed out at most while the image was decoded.
int64_t taken_bytes(const std::string& webp, PixelMode mode) {
  DecodeOptions options;
  options.mode = mode;
  options.limits.max_decoded_bytes = int64_t{1} << 33;
  TestDecoder decoder(options);
  decoder.scratch().reset();
  ImageDecoder& image = decoder.decoder();
  arm_malloc(-1, false);
  Status status = image.open(bytes_of(webp));
  if (status.is_ok()) status = image.start({0, 0, image.height(), image.width()}, 1, decoder.scratch());
  disarm_malloc();
  EXPECT_TRUE(status.is_ok()) << status.message();
  return tests::mallocs.peak_bytes;
}

std::string encoded(int width, int height, float quality, int kind) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) {
    const uint64_t draw = random_bits(9, static_cast<uint64_t>(kind), static_cast<uint64_t>(i));
    const int x = i % width, y = i / width;
    const int shade = kind == 0   ? x * 3 + y
                      : kind == 1 ? static_cast<int>(draw % 7) * 30
                                  : static_cast<int>(static_cast<uint32_t>(draw) +
                                                     static_cast<uint32_t>(x / 32 * 40 + y / 32 * 90));
    const int alpha = kind == 3 ? (x / 9 + y / 7) % 256 : 255;
    for (int value : {shade, shade / 2 + x / 50 * 9, ~shade, alpha})
      pixels.push_back(static_cast<uint8_t>(value));
  }
  WebPConfig config;
  WebPPicture picture;
  EXPECT_TRUE(WebPConfigInit(&config) && WebPPictureInit(&picture));
  config.lossless = 1;
  config.quality = quality;
  config.method = 3;  // the slower ones make no more groups
  picture.use_argb = 1;
  picture.width = width;
  picture.height = height;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  EXPECT_TRUE(WebPPictureImportRGBA(&picture, pixels.data(), width * 4) && WebPEncode(&config, &picture));
  std::string bytes(reinterpret_cast<char*>(writer.mem), writer.size);
  WebPMemoryWriterClear(&writer);
  WebPPictureFree(&picture);
  return bytes;
}

TEST(WebpMemory, LibwebpAllocatesNoMoreThanWasSaid) {
  if (!tests::kMallocIsOurs) GTEST_SKIP() << "the sanitizer has a malloc of its own";
  struct Case {
    std::string name, bytes;
  };
  std::vector<Case> cases;
  for (int kind = 0; kind < 4; ++kind) {
    for (float quality : {20.f, 75.f, 100.f}) {
      cases.push_back(
          {concat("kind ", kind, ", quality ", static_cast<int>(quality)), encoded(201, 157, quality, kind)});
    }
  }
  for (int groups : {1, 2, 999, 1001, 2601, 4096, 65536})
    cases.push_back({concat(groups, " groups"), lossless_file(1024, 1024, groups)});
  for (int bits : {1, 6, 11})
    cases.push_back({concat("500 groups, cache ", bits), lossless_file(256, 256, 500, bits)});
  cases.push_back({"alpha", alpha_file(320, 200, 3000)});
  cases.push_back({"lossy with alpha", make_webp(321, 203, false, true)});
  cases.push_back({"lossy with plain alpha", plain_alpha_file(160, 2000)});
  cases.push_back({"lossy", make_webp(321, 203, false, false)});
  for (const Case& one : cases) {
    for (PixelMode mode : {PixelMode::kRgb, PixelMode::kRgba}) {
      const int64_t said = said_bytes(one.bytes, mode), taken = taken_bytes(one.bytes, mode);
      EXPECT_LE(taken, said) << one.name;
      EXPECT_LE(said, 2 * taken + (256 << 10)) << one.name << ": said too much";
    }
  }
}

// What encoders make is far from the limit: pixels decide.
TEST(WebpMemory, OrdinaryImagesAreNeverRefused) {
  for (int kind = 0; kind < 4; ++kind) {
    const std::string webp = encoded(480, 320, 100, kind);
    DecodeOptions options;
    options.mode = PixelMode::kRgba;
    options.limits.max_decoded_bytes = int64_t{480} * 320 * 4 * 3 / 2 + (256 << 10);
    const Decoded got = TestDecoder(options).decode(webp);
    EXPECT_TRUE(got.status.is_ok()) << kind << ": " << got.status.message();
  }
}

TEST(WebpMemory, DamageInFrontOfTheCodesIsNoQuestionOfSize) {
  const std::string hostile = lossless_file(1024, 1024, 1 << 16);
  expect_all_refused(
      {{"a colour cache of 12 bits", lossless_file(1024, 1024, 1 << 16, 12), Code::kCorrupt, {"damaged"}},
       {"a colour cache of 15 bits", lossless_file(1024, 1024, 1 << 16, 15), Code::kCorrupt, {"damaged"}},
       {"cut in the image of groups", cut(hostile, 100000), Code::kTruncated, {"inside the image"}},
       {"transforms that repeat",
        riff(riff_chunk("VP8L", lossless_header(64, 64) + std::string(5000, '\x55'))),
        Code::kCorrupt,
        {"damaged"}}});
}

}  // namespace
}  // namespace dataline::webp_memory_test
