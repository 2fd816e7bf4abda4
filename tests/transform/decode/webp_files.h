// WebP files: images by libwebp's encoder, containers put together chunk by chunk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <webp/encode.h>

#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/transform/decode/file_parts.h"

namespace dataline {

inline std::string riff_chunk(const std::string& name, const std::string& body) {
  return name + little32(static_cast<uint32_t>(body.size())) + body + std::string(body.size() % 2, '\0');
}
inline std::string riff(const std::string& chunks) {
  return "RIFF" + little32(static_cast<uint32_t>(chunks.size() + 4)) + "WEBP" + chunks;
}
// VP8X: flags, canvas.
inline std::string extended(int flags, uint32_t width, uint32_t height) {
  return riff_chunk("VP8X", std::string(1, static_cast<char>(flags)) + std::string(3, '\0') +
                                little32(width - 1).substr(0, 3) + little32(height - 1).substr(0, 3));
}

inline std::string make_webp(int width, int height, bool lossless, bool alpha) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < width * height * 4; ++i) {
    const int noise = static_cast<int>(random_bits(3, static_cast<uint64_t>(i), 0) % 32);
    pixels.push_back(
        static_cast<uint8_t>(alpha || i % 4 != 3 ? i / 4 % width * 5 + i % 4 * 40 + noise : 255));
  }
  uint8_t* memory = nullptr;
  const size_t size = lossless ? WebPEncodeLosslessRGBA(pixels.data(), width, height, width * 4, &memory)
                               : WebPEncodeRGBA(pixels.data(), width, height, width * 4, 70, &memory);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  WebPFree(memory);
  return bytes;
}

}  // namespace dataline
