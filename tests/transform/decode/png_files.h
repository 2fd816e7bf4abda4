// PNG files put together chunk by chunk, their pixels in stored (uncompressed) deflate blocks or in given bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/transform/decode/file_parts.h"

namespace dataline {

inline uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = ~uint32_t{0};
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

inline std::string png_chunk(const std::string& name, const std::string& body) {
  return big32(static_cast<uint32_t>(body.size())) + name + body + big32(crc32_of(name + body));
}

inline std::string zlib_stored(const std::string& bytes) {
  std::string out = "\x78\x01";
  for (size_t at = 0; at == 0 || at < bytes.size(); at += 65535) {
    const std::string block = bytes.substr(at, 65535);
    const uint32_t size = static_cast<uint32_t>(block.size());
    out += at + 65535 >= bytes.size() ? '\1' : '\0';
    for (uint32_t word : {size, ~size & 0xFFFF}) {
      out += static_cast<char>(word);
      out += static_cast<char>(word >> 8);
    }
    out += block;
  }
  uint32_t a = 1, b = 0;
  for (unsigned char byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return out + big32(b << 16 | a);
}

const std::string kPngSignature = "\x89PNG\r\n\x1A\n";
const std::string kPngEnd = png_chunk("IEND", "");

struct PngKind {
  uint32_t width = 24, height = 10;
  int depth = 8, colour = 2, compression = 0, filter = 0, interlace = 0;
};

inline std::string png_header(const PngKind& kind) {
  std::string body = big32(kind.width) + big32(kind.height);
  for (int part : {kind.depth, kind.colour, kind.compression, kind.filter, kind.interlace}) {
    body += static_cast<char>(part);
  }
  return kPngSignature + png_chunk("IHDR", body);
}

// Rows without interlacing: a filter byte (0..4 in turn) and bytes that differ.
inline std::string png_rows_of(const PngKind& kind) {
  const int channels = kind.colour == 2 ? 3 : kind.colour == 4 ? 2 : kind.colour == 6 ? 4 : 1;
  const size_t row = (size_t{kind.width} * static_cast<size_t>(channels * kind.depth) + 7) / 8;
  std::string rows;
  for (uint32_t y = 0; y < kind.height; ++y) {
    rows += static_cast<char>(y % 5);
    for (size_t x = 0; x < row; ++x) rows += static_cast<char>(x * 7 + y * 31);
  }
  return rows;
}

inline std::string make_png(const PngKind& kind, const std::string& before_pixels = "") {
  return png_header(kind) + before_pixels + png_chunk("IDAT", zlib_stored(png_rows_of(kind))) + kPngEnd;
}

}  // namespace dataline
