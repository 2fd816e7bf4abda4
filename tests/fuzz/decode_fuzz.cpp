// Any bytes as an image of one format: refused, or decoded whole and in part, in several modes, with small limits. Results are read, so that
// a sanitizer sees what was never written.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/transform/decode/decoder.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kScratchBytes = 1 << 20;

// Every byte of the region; false when it could not be decoded, which must say why.
bool decode_region(ImageDecoder& decoder, const ImageRegion& region, int64_t most, uint64_t* sum) {
  const std::unique_ptr<std::byte[]> memory(new std::byte[kScratchBytes]);
  FrameScratch scratch(memory.get(), kScratchBytes);
  const Status started = decoder.start(region, most, scratch);
  if (!started.is_ok()) return !started.message().empty() ? false : (std::abort(), false);
  const int64_t line_bytes = region.width * decoder.channels() * decoder.element_bytes();
  for (int64_t y = 0; y < region.height; y += most) {
    const int64_t count = std::min(most, region.height - y);
    const std::byte* const* lines = decoder.lines(y, count);
    if (lines == nullptr) {
      if (decoder.status().is_ok() || decoder.status().message().empty()) std::abort();
      return false;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t b = 0; b < line_bytes; ++b) *sum += std::to_integer<uint64_t>(lines[i][b]);
    }
  }
  return true;
}

// `only`: other formats are refused by their first bytes before anything is tried.
void decode(std::string_view input, ImageFormat only) {
  const auto copy = exact_copy(input);
  const Bytes encoded(copy.get(), input.size());
  Result<ImageHeader> header = read_image_header(encoded);
  if (!header.is_ok() || header.value().format != only) return;
  DecodeOptions options;
  // Both policies, by something the fuzzer can change.
  options.limits = {.accept_warnings = input.size() % 2 == 0,
                    .max_pixels = 1 << 16,
                    .max_scans = 20,
                    .max_decoded_bytes = kScratchBytes};
  uint64_t sum = 0;
  for (PixelMode mode : {PixelMode::kRgb, PixelMode::kGray, PixelMode::kUnchanged, PixelMode::kRgba}) {
    options.mode = mode;
    options.orient = mode != PixelMode::kRgb;
    const auto decoder = std::make_unique<ImageDecoder>(options);
    if (!decoder->open(encoded).is_ok()) return;
    const int64_t height = decoder->height(), width = decoder->width();
    if (height < 1 || width < 1 || height * width > options.limits.max_pixels) std::abort();
    if (!decode_region(*decoder, {0, 0, height, width}, std::min<int64_t>(height, 3), &sum)) continue;
    const ImageRegion part = {height / 3, width / 3, (height + 1) / 2, (width + 1) / 2};
    // A part of what decoded as a whole decodes.
    if (!decoder->open(encoded).is_ok() || !decode_region(*decoder, part, 1, &sum)) std::abort();
  }
  // A sum that bytes cannot reach: the reads are not optimised away.
  if (sum == ~uint64_t{0}) std::abort();
}

const Target kTargets[] = {
    {"decode_jpeg", [](std::string_view input) { decode(input, ImageFormat::kJpeg); }},
    {"decode_png", [](std::string_view input) { decode(input, ImageFormat::kPng); }},
    {"decode_webp", [](std::string_view input) { decode(input, ImageFormat::kWebp); }}};

}  // namespace
}  // namespace dataline::fuzz
