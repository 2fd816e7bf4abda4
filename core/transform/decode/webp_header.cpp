// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/webp_header.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/transform/decode/exif.h"

namespace dataline {
namespace {

constexpr int64_t kRiffBytes = 12, kChunkBytes = 8;
constexpr int kAnimated = 0x02, kExif = 0x08, kAlpha = 0x10;
constexpr int64_t kMostChunks = 1 << 16;

int byte_at(Bytes bytes, int64_t at) { return static_cast<int>(bytes[at]); }

Status cut(int64_t size, int64_t expected) {
  return error(Code::kTruncated, "WebP ends at byte ", size, ", expected ", expected,
               " bytes of header or more");
}

struct Chunk {
  std::string_view name;
  Bytes body;      // as far as the file has it
  int64_t at = 0;  // of its name
  int64_t next = 0;
};

// The chunk at `at`; false where its 8 bytes do not lie in the file.
bool chunk_at(Bytes encoded, int64_t at, Chunk* chunk) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  if (!extent_fits(at, kChunkBytes, size)) return false;
  const int64_t length = load_little<uint32_t>(&encoded[at + 4]);
  chunk->at = at;
  chunk->name = {reinterpret_cast<const char*>(&encoded[at]), 4};
  chunk->body = encoded.subspan(at + kChunkBytes, std::min(length, size - at - kChunkBytes));
  chunk->next = at + kChunkBytes + length + (length & 1);
  return true;
}

Status read_lossy(const Chunk& chunk, int64_t size, ImageHeader* header) {
  if (chunk.body.size() < 10) return cut(size, chunk.at + kChunkBytes + 10);
  if ((byte_at(chunk.body, 0) & 1) != 0) {
    return error(Code::kCorrupt, "WebP at byte ", chunk.at, " holds an interframe, expected a key frame");
  }
  if (std::memcmp(&chunk.body[3], "\x9D\x01\x2A", 3) != 0) {
    return error(Code::kCorrupt, "WebP has no start code at byte ", chunk.at + kChunkBytes + 3,
                 ", expected 9d 01 2a");
  }
  header->width = load_little<uint16_t>(&chunk.body[6]) & 0x3FFF;
  header->height = load_little<uint16_t>(&chunk.body[8]) & 0x3FFF;
  return Status::ok();
}

Status read_lossless(const Chunk& chunk, int64_t size, ImageHeader* header) {
  if (chunk.body.size() < 5) return cut(size, chunk.at + kChunkBytes + 5);
  if (byte_at(chunk.body, 0) != 0x2F) {
    return error(Code::kCorrupt, "WebP has no lossless signature at byte ", chunk.at + kChunkBytes,
                 ", expected 2f");
  }
  const uint32_t bits = load_little<uint32_t>(&chunk.body[1]);
  if (bits >> 29 != 0) {
    return error(Code::kCorrupt, "WebP lossless version ", bits >> 29, " at byte ",
                 chunk.at + kChunkBytes + 1, ", expected 0");
  }
  header->width = (bits & 0x3FFF) + 1;
  header->height = (bits >> 14 & 0x3FFF) + 1;
  header->channels = (bits >> 28 & 1) != 0 ? 4 : 3;
  return Status::ok();
}

Status read_extended(const Chunk& chunk, int64_t size, ImageHeader* header, int* flags) {
  if (chunk.body.size() < 10) return cut(size, chunk.at + kChunkBytes + 10);
  *flags = byte_at(chunk.body, 0);
  if ((*flags & kAnimated) != 0) return error(Code::kUnsupported, "animated WebP is not supported");
  header->width = (load_little<uint32_t>(&chunk.body[4]) & 0xFFFFFF) + 1;
  header->height = (load_little<uint32_t>(&chunk.body[6]) >> 8) + 1;
  header->channels = (*flags & kAlpha) != 0 ? 4 : 3;
  return Status::ok();
}

int32_t find_orientation(Bytes encoded, int64_t at) {
  Chunk chunk;
  for (int64_t i = 0; i < kMostChunks && chunk_at(encoded, at, &chunk); ++i) {
    if (chunk.name == "EXIF") return exif_orientation_prefixed(chunk.body);
    at = chunk.next;
  }
  return 1;
}

}  // namespace

bool is_webp(Bytes encoded) {
  return encoded.size() >= kRiffBytes && std::memcmp(encoded.data(), "RIFF", 4) == 0 &&
         std::memcmp(&encoded[8], "WEBP", 4) == 0;
}

Result<ImageHeader> read_webp_header(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  Chunk chunk;
  if (!chunk_at(encoded, kRiffBytes, &chunk)) return cut(size, kRiffBytes + kChunkBytes);
  ImageHeader header;
  header.format = ImageFormat::kWebp;
  if (chunk.name == "VP8 ") {
    DL_RETURN_IF_ERROR(read_lossy(chunk, size, &header));
  } else if (chunk.name == "VP8L") {
    DL_RETURN_IF_ERROR(read_lossless(chunk, size, &header));
  } else if (chunk.name == "VP8X") {
    int flags = 0;
    DL_RETURN_IF_ERROR(read_extended(chunk, size, &header, &flags));
    if ((flags & kExif) != 0) header.orientation = find_orientation(encoded, chunk.next);
  } else {
    return error(Code::kCorrupt, "WebP has no image chunk at byte ", kRiffBytes,
                 ", expected VP8, VP8L or VP8X");
  }
  if (header.width == 0 || header.height == 0) {
    return error(Code::kCorrupt, "WebP header at byte ", chunk.at, " says ", header.width, "x", header.height,
                 ", expected 1 or more");
  }
  return header;
}

}  // namespace dataline
