// LitData sets whose items are compressed within their chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "tests/source/frame_files.h"
#include "tests/source/litdata/litdata_files.h"

namespace dataline {

// In batches of so many items, each a frame.
inline std::string lit_batches(const LitChunk& chunk, size_t per_batch) {
  const size_t count = chunk.items.size(), batches = (count + per_batch - 1) / per_batch;
  std::string offsets = lit_word(0), table, frames;
  uint32_t end = 0;
  for (size_t i = 0; i < count; ++i) offsets += lit_word(end += static_cast<uint32_t>(chunk.item(i).size()));
  for (size_t first = 0; first < count; first += per_batch) {
    const size_t items = std::min(per_batch, count - first);
    std::string plain;
    for (size_t i = first; i < first + items; ++i) plain += chunk.item(i);
    const std::string frame = zstd_stored(plain);
    table += lit_word(static_cast<uint32_t>(first)) + lit_word(static_cast<uint32_t>(items)) +
             lit_word(static_cast<uint32_t>(24 + 4 * (count + 1) + 24 * batches + frames.size())) +
             lit_word(0) + lit_word(static_cast<uint32_t>(frame.size())) +
             lit_word(static_cast<uint32_t>(plain.size()));
    frames += frame;
  }
  return std::string("LDFZ01\0\0\1\0\0\0", 12) + lit_word(static_cast<uint32_t>(count)) +
         lit_word(static_cast<uint32_t>(per_batch)) + lit_word(static_cast<uint32_t>(batches)) + offsets +
         table + frames;
}

// One by one.
inline std::string lit_frames(const LitChunk& chunk) {
  LitChunk packed{{}, false};
  for (size_t i = 0; i < chunk.items.size(); ++i) packed.items.push_back({zstd_stored(chunk.item(i))});
  return packed.bytes();
}

// The index of such chunks, all called chunk.bin. `level`: batch or sample.
inline std::string lit_packed_index(const std::string& bytes, size_t items, const std::string& level) {
  LitConfig config = lit_config();
  config.compression = "\"zstd\", \"compression_level\": \"" + level + "\"";
  return lit_index({"{\"chunk_bytes\": " + std::to_string(bytes.size()) + ", \"chunk_size\": " +
                    std::to_string(items) + ", \"dim\": null, \"filename\": \"chunk.bin\"}"},
                   config);
}

}  // namespace dataline
