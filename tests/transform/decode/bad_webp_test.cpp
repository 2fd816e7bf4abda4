// WebP files that are damaged or hostile, animations too; and what is no image that is decoded at all.
// SPDX-License-Identifier: Apache-2.0
#include "tests/transform/decode/bad_image_table.h"
#include "tests/transform/decode/webp_files.h"

namespace dataline::bad_webp_test {
namespace {

using namespace std::string_literals;

constexpr size_t kBody = 20;  // of the first chunk

// A file of one chunk: its RIFF header taken off.
std::string chunk_of(const std::string& webp) { return webp.substr(12); }

TEST(BadWebp, ContainersAndHeaders) {
  const std::string lossy = make_webp(40, 24, false, false), lossless = make_webp(40, 24, true, false);
  ASSERT_EQ(lossy.substr(12, 4), "VP8 ");
  ASSERT_EQ(lossless.substr(12, 4), "VP8L");
  const std::string image = chunk_of(lossy), exact = chunk_of(lossless);
  DecodeOptions few, small;
  few.limits.max_pixels = 959;
  small.limits.max_decoded_bytes = 10000;
  std::vector<BadImage> table = {
      {"RIFF alone", cut(lossy, 4), Code::kTruncated, {"ends at byte 4"}},
      {"cut inside RIFF's size", cut(lossy, 6), Code::kTruncated, {"ends at byte 6"}},
      {"cut before WEBP", cut(lossy, 8), Code::kTruncated, {"ends at byte 8"}},
      {"cut inside WEBP", cut(lossy, 11), Code::kTruncated, {"ends at byte 11"}},
      {"no chunk", cut(lossy, 12), Code::kTruncated, {"WebP ends at byte 12, expected 20"}},
      {"half a chunk's head", cut(lossy, 17), Code::kTruncated, {"ends at byte 17"}},
      {"a chunk's head alone", cut(lossy, 20), Code::kTruncated, {"expected 30 bytes"}},
      {"cut in the frame header", cut(lossy, 29), Code::kTruncated, {"ends at byte 29"}},
      {"cut behind the size", cut(lossy, 30), Code::kTruncated, {"inside the image"}},
      {"cut in the first partition", cut(lossy, 60), Code::kTruncated, {"inside the image"}},
      {"cut in the pixels", cut(lossy, lossy.size() - 60), Code::kTruncated, {"inside the image"}},
      {"lossless, a chunk's head alone", cut(lossless, 20), Code::kTruncated, {"expected 25 bytes"}},
      {"lossless, cut in the size", cut(lossless, 24), Code::kTruncated, {"ends at byte 24"}},
      {"lossless, cut behind the size", cut(lossless, 25), Code::kTruncated, {"inside the image"}},
      {"lossless, cut in the pixels",
       cut(lossless, lossless.size() / 2),
       Code::kTruncated,
       {"inside the image"}},
      {"WAVE", with(lossy, 8, "WAVE"), Code::kCorrupt, {"not an image"}},
      {"a RIFX file", with(lossy, 0, "RIFX"), Code::kCorrupt, {"not an image"}},
      {"an unknown first chunk", with(lossy, 12, "VP9 "), Code::kCorrupt, {"no image chunk at byte 12"}},
      {"text first",
       riff(riff_chunk("XMP ", "<x/>") + image),
       Code::kCorrupt,
       {"expected VP8, VP8L or VP8X"}},
      {"an interframe", with_byte(lossy, kBody, lossy[kBody] | 1), Code::kCorrupt, {"interframe"}},
      {"no start code", with_byte(lossy, kBody + 3, 0), Code::kCorrupt, {"start code at byte 23"}},
      {"no columns", with(lossy, kBody + 6, "\0\0"s), Code::kCorrupt, {"states 0 wide, 24 high"}},
      {"no lines", with(lossy, kBody + 8, "\0\0"s), Code::kCorrupt, {"states 40 wide, 0 high"}},
      {"no lossless signature",
       with_byte(lossless, kBody, 0x2E),
       Code::kCorrupt,
       {"lossless signature at byte 20"}},
      {"lossless version 7", with_byte(lossless, kBody + 4, 0xE0), Code::kCorrupt, {"version 7"}},
      {"an animation without a frame",
       riff(extended(0x02, 40, 24) + image),
       Code::kCorrupt,
       {"animated WebP has no frame (ANMF)"}},
      {"an animation of nothing", riff(extended(0x02, 1, 1)), Code::kCorrupt, {"has no frame"}},
      {"a frame of 15 bytes",
       riff(extended(0x02, 40, 24) + riff_chunk("ANMF", std::string(15, '\0'))),
       Code::kCorrupt,
       {"frame at byte 30 has 15 bytes, expected 16"}},
      {"a frame without an image",
       animation(0, 40, 24, 0, 0, 40, 24, riff_chunk("XYZW", "?")),
       Code::kCorrupt,
       {"frame at byte 44 has no image"}},
      {"a frame beyond its canvas",
       animation(0, 40, 24, 2, 0, 40, 24, image),
       Code::kCorrupt,
       {"40 wide, 24 high at 2,0 is outside the canvas of 40 wide, 24 high"}},
      {"a frame below its canvas",
       animation(0, 40, 24, 0, 2, 40, 24, image),
       Code::kCorrupt,
       {"40 wide, 24 high at 0,2 is outside the canvas of 40 wide, 24 high"}},
      {"a frame of another size than its image",
       animation(0, 80, 60, 0, 0, 41, 24, image),
       Code::kCorrupt,
       {"states 41 wide, 24 high, but its image has 40 wide, 24 high"}},
      {"a frame that is an interframe",
       animation(0, 40, 24, 0, 0, 40, 24, with_byte(image, 8, image[8] | 1)),
       Code::kCorrupt,
       {"byte 68 holds an interframe"}},
      {"an animation cut in its first frame",
       cut(animation(0, 40, 24, 0, 0, 40, 24, image), 200),
       Code::kTruncated,
       {"ends at byte 200"}},
      {"a damaged frame",
       animation(0, 40, 24, 0, 0, 40, 24, cut(exact, 13) + std::string(exact.size() - 13, '\xFF')),
       Code::kCorrupt,
       {"damaged"}},
      {"VP8X cut off", cut(riff(extended(0, 40, 24)), 25), Code::kTruncated, {"expected 30"}},
      {"VP8X alone", riff(extended(0, 40, 24)), Code::kTruncated, {"inside the image"}},
      {"VP8X of 9 bytes",
       riff(riff_chunk("VP8X", std::string(9, '\0')) + image),
       Code::kTruncated,
       {"expected 30"}},
      {"a canvas of another size", riff(extended(0, 41, 24) + image), Code::kCorrupt, {"damaged"}},
      {"a lossless canvas of another size", riff(extended(0, 40, 25) + exact), Code::kCorrupt, {"damaged"}},
      {"alpha that is not there",
       riff(extended(0x10, 40, 24) + riff_chunk("ALPH", "")),
       Code::kTruncated,
       {"WebP"}},
      {"a canvas of 2^24 squared",
       riff(extended(0, 1 << 24, 1 << 24) + image),
       Code::kTooLarge,
       {"16777216 wide, 16777216 high, max_pixels is 178956970"}},
      {"16383x16383",
       with(lossy, kBody + 6, "\xFF\x3F\xFF\x3F"),
       Code::kTooLarge,
       {"16383 wide, 16383 high"}},
      {"lossless, 16384x10000",
       with(lossless, kBody + 1, little32(16383 | 9999u << 14)),
       Code::kTooLarge,
       {"lossless WebP of 16384 wide, 10000 high needs", "max_decoded_bytes is 67108864"}},
      {"12000x12000 of nothing",
       with(lossy, kBody + 6, "\xE0\x2E\xE0\x2E"),
       Code::kTooLarge,
       {"12000 wide, 12000 high needs 432768000 bytes more, max_decoded_bytes is 67108864"}},
      {"max_pixels of 959",
       lossy,
       Code::kTooLarge,
       {"WebP of 40 wide, 24 high, max_pixels is 959; raise max_pixels to at least 960"},
       few},
      {"max_decoded_bytes of 10000", lossy, Code::kTooLarge, {"max_decoded_bytes is 10000"}, small},
      {"lossless, max_decoded_bytes of 10000",
       lossless,
       Code::kTooLarge,
       {"max_decoded_bytes is 10000"},
       small},
      {"zeros for a lossless image",
       cut(lossless, 25) + std::string(lossless.size() - 25, '\xFF'),
       Code::kCorrupt,
       {"damaged"}},
      {"a first partition beyond the chunk", with(lossy, kBody, "\x10\xFF\xFF"), Code::kCorrupt, {"WebP"}}};
  check_bad_images(table, lossy);
  check_bad_images(table, lossless);
}

TEST(BadWebp, WhatIsNoImageIsNamed) {
  const std::string good = make_webp(40, 24, true, true);
  const std::string rest(64, '.');
  std::vector<BadImage> table = {
      {"nothing", "", Code::kTruncated, {"0 bytes, expected an image"}},
      {"a zero", "\0"s, Code::kCorrupt, {"start with 00,"}},
      {"text", "hello, world", Code::kCorrupt, {"start with 68 65 6c 6c"}},
      {"a page of zeros", std::string(4096, '\0'), Code::kCorrupt, {"4096 bytes that start"}}};
  const std::pair<std::string, const char*> foreign[] = {
      {"GIF87a", "GIF is not supported"},
      {"GIF89a", "GIF is not supported"},
      {"II*\0"s, "TIFF is not supported"},
      {"MM\0*"s, "TIFF is not supported"},
      {"II+\0"s, "BigTIFF"},
      {"MM\0+"s, "BigTIFF"},
      {"BM", "BMP is not supported"},
      {"Pf\n", "PFM is not supported"},
      {"PF\n", "PFM is not supported"},
      {"\xFF\x0A", "JPEG XL is not supported"},
      {"\0\0\0\x0CJXL \r\n\x87\n"s, "JPEG XL is not supported"},
      {"\0\0\0\x0CjP  \r\n\x87\n"s, "JPEG 2000 is not supported"},
      {"\xFF\x4F\xFF\x51", "JPEG 2000 is not supported"},
      {"\0\0\0\x1C"
       "ftypavif"s,
       "AVIF is not supported"},
      {"\0\0\0\x1C"
       "ftypavis"s,
       "AVIF is not supported"},
      {"\0\0\0\x1C"
       "ftypheic"s,
       "HEIC is not supported"},
      {"\0\0\0\x1C"
       "ftypheix"s,
       "HEIC is not supported"},
      {"\0\0\0\x1C"
       "ftypmif1"s,
       "HEIF is not supported"},
      {"\0\0\1\0"s, "ICO is not supported"},
      {"8BPS", "PSD is not supported"},
      {"%PDF-1.4", "PDF is not an image"},
      {"PK\3\4", "a zip archive"},
      {"\x1F\x8B\x08", "gzipped bytes"},
      {"\x93NUMPY", "an npy file"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:", "git lfs pull"},
      {"<!DOCTYPE html>", "an HTML page"},
      {"<!doctype html>", "an HTML page"},
      {"<html>", "an HTML page"},
      {"<HTML>", "an HTML page"},
      {"<svg ", "SVG is not supported"},
      {"<?xml ", "XML text"},
      {"RIFF\x10\0\0\0AVI LIST"s, "not an image"},
      {"\x89MNG\r\n\x1A\n", "not an image"},
      {"\xD8\xFF\xE0\xFF", "not an image"},
      {"P0\n", "not an image"},
      {"P8\n", "not an image"}};
  for (const auto& [magic, text] : foreign) table.push_back({text, magic + rest, Code::kCorrupt, {text}});
  check_bad_images(table, good);
}

TEST(BadWebp, EveryPrefixIsTruncated) {
  for (bool lossless : {false, true}) {
    // The last byte may be padding.
    const std::string good = make_webp(40, 24, lossless, false);
    TestDecoder decoder;
    size_t needed = good.size();
    while (needed > good.size() - 3 && decoder.decode(good.substr(0, needed - 1)).status.is_ok()) --needed;
    check_prefixes(good, needed);
  }
}

TEST(BadWebp, EveryFlippedBitEndsInOrder) {
  for (int kind = 0; kind < 4; ++kind) {
    DecodeOptions options;
    options.limits.max_pixels = 1 << 20;
    options.mode = kind >= 2 ? PixelMode::kRgba : PixelMode::kRgb;
    check_bit_flips(make_webp(19, 14, kind % 2 == 1, kind >= 2), options);
  }
}

}  // namespace
}  // namespace dataline::bad_webp_test
