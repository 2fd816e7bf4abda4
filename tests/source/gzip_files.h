// gzip members made by hand, so that every byte of them can be chosen and no compressor is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dataline {

inline uint32_t crc32_of(std::string_view data) {
  uint32_t crc = ~0u;
  for (char c : data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

inline std::string little_u32(uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
  return out;
}

// A deflate stream of stored blocks.
inline std::string stored_deflate(std::string_view data) {
  std::string out;
  do {
    std::string_view piece = data.substr(0, 65535);
    data.remove_prefix(piece.size());
    auto length = static_cast<uint16_t>(piece.size());
    out += data.empty() ? '\x01' : '\x00';
    for (uint16_t word : {length, static_cast<uint16_t>(~length)}) {
      out += static_cast<char>(word & 255);
      out += static_cast<char>(word >> 8);
    }
    out += piece;
  } while (!data.empty());
  return out;
}

// A deflate stream of the given bytes and then `runs` times 258 zeros, in fixed Huffman codes: 13 bits a run.
inline std::string zeros_deflate(std::string_view start, int64_t runs) {
  std::string out;
  uint32_t held = 0;
  int held_bits = 0;
  auto put = [&](uint32_t bits, int count) {  // first bit lowest
    held |= bits << held_bits;
    for (held_bits += count; held_bits >= 8; held_bits -= 8, held >>= 8) out += static_cast<char>(held & 255);
  };
  auto put_code = [&](uint32_t code, int count) {  // Huffman codes begin with their highest bit
    for (int bit = count - 1; bit >= 0; --bit) put((code >> bit) & 1, 1);
  };
  put(1, 1);  // the last block
  put(1, 2);  // fixed codes
  for (char c : start) {
    auto byte = static_cast<uint8_t>(c);
    byte < 144 ? put_code(0x30u + byte, 8) : put_code(0x190u + (byte - 144u), 9);
  }
  if (runs > 0) put_code(0x30, 8);  // one zero to repeat; the first run is one byte longer
  for (int64_t i = 0; i < runs; ++i) {
    put_code(0xc5, 8);  // length 258
    put_code(0, 5);     // distance 1
  }
  put_code(0, 7);  // end of block
  put(0, 7);       // fill the last byte
  return out;
}

inline std::string gzip_header(uint8_t flags = 0) {
  return {'\x1f', '\x8b', '\x08', static_cast<char>(flags), 0, 0, 0, 0, 0, '\xff'};
}

// A member around a deflate stream; checksum and length are those of `data`.
inline std::string gzip_member(std::string_view deflate, std::string_view data) {
  return gzip_header() + std::string(deflate) + little_u32(crc32_of(data)) +
         little_u32(static_cast<uint32_t>(data.size()));
}

inline std::string gzip_stored(std::string_view data) { return gzip_member(stored_deflate(data), data); }

}  // namespace dataline
