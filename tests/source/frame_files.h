// Frames of LZ4 and Zstandard made by hand, so that every byte of them can be chosen and no compressor is needed: of blocks that
// are stored, and of one byte that is repeated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/source/frames.h"

namespace dataline {

inline std::string frame_number(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// Of blocks of at most `block` bytes (64 KiB: what the header says).
inline std::string lz4_stored(std::string_view data, size_t block = 65536) {
  std::string out("\x04\x22\x4d\x18\x60\x40\x82", 7);
  for (; !data.empty(); data.remove_prefix(std::min(block, data.size()))) {
    const std::string_view piece = data.substr(0, block);
    out += frame_number(piece.size() | 0x80000000u, 4);
    out += piece;
  }
  return out + frame_number(0, 4);
}

inline std::string zstd_frame(std::string_view blocks, size_t inflated) {
  return frame_number(0xfd2fb528u, 4) + '\xa0' + frame_number(inflated, 4) + std::string(blocks);
}
inline std::string zstd_block(size_t bytes, unsigned type, bool last) {
  return frame_number((last ? 1u : 0u) | type << 1 | bytes << 3, 3);
}
inline std::string zstd_stored(std::string_view data) {
  std::string blocks;
  const size_t bytes = data.size();
  do {
    const std::string_view piece = data.substr(0, size_t{128} << 10);
    data.remove_prefix(piece.size());
    blocks += zstd_block(piece.size(), 0, data.empty());
    blocks += piece;
  } while (!data.empty());
  return zstd_frame(blocks, bytes);
}
// So many bytes `value`, at most 128 KiB.
inline std::string zstd_repeated(char value, size_t bytes) {
  return zstd_frame(zstd_block(bytes, 1, true) + value, bytes);
}

inline std::string stored_frame(FrameCodec codec, std::string_view data) {
  return codec == FrameCodec::kLz4 ? lz4_stored(data) : zstd_stored(data);
}

}  // namespace dataline
