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

// Bits as a lossless stream (VP8L) has them, lowest first.
class LosslessBits {
 public:
  LosslessBits& put(uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++count_) {
      if (count_ % 8 == 0) bytes_.push_back('\0');
      if ((value >> i & 1) != 0) bytes_.back() = static_cast<char>(bytes_.back() | 1 << count_ % 8);
    }
    return *this;
  }
  // Codes of one symbol, 0, which takes no bits.
  LosslessBits& put_zero_codes(int count) {
    for (int i = 0; i < count; ++i) put(1, 4);
    return *this;
  }
  // A code of the 256 literals, 8 bits each.
  LosslessBits& put_literal_code() {
    put(0, 1).put(12 - 4, 4);
    for (int i = 0; i < 12; ++i) put(i == 11 ? 1 : 0, 3);  // of lengths, only 8 is used, which takes no bits
    return put(1, 1).put(3, 3).put(256 - 2, 8);
  }
  LosslessBits& put_literal(int value) {
    for (int i = 7; i >= 0; --i) put(value >> i & 1, 1);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  int64_t count_ = 0;
};

inline std::string lossless_header(int width, int height) {
  return "\x2F" + little32(static_cast<uint32_t>(width - 1) | static_cast<uint32_t>(height - 1) << 14);
}

// A black image as a stream without VP8L's header: its blocks of 4x4 pixels name `groups` groups of codes, each of 20 bits,
// for which libwebp takes 12 KB or, with the largest colour cache, 20 KB.
inline std::string lossless_groups(int width, int height, int groups, int cache_bits = 0) {
  LosslessBits bits;
  bits.put(0, 1);
  bits.put(cache_bits > 0 ? 1 : 0, 1);
  if (cache_bits > 0) bits.put(static_cast<uint32_t>(cache_bits), 4);
  bits.put(1, 1).put(0, 3);  // an image of group numbers, of blocks of 4x4
  bits.put(0, 1).put_literal_code().put_literal_code().put_zero_codes(3);
  const int blocks = (width + 3) / 4 * ((height + 3) / 4);
  for (int i = 0; i < blocks; ++i) bits.put_literal(i % groups & 255).put_literal(i % groups >> 8);
  bits.put_zero_codes(5 * groups);
  return bits.bytes();
}

// An animation of one frame at `left`, `top` (even).
inline std::string animation(int flags, uint32_t canvas_width, uint32_t canvas_height, int left, int top,
                             int width, int height, const std::string& image) {
  auto three = [](int value) { return little32(static_cast<uint32_t>(value)).substr(0, 3); };
  return riff(extended(flags | 0x02, canvas_width, canvas_height) + riff_chunk("ANIM", std::string(6, '\0')) +
              riff_chunk("ANMF", three(left / 2) + three(top / 2) + three(width - 1) + three(height - 1) +
                                     three(100) + std::string(1, '\0') + image));
}

}  // namespace dataline
