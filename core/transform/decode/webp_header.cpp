// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/image_header.h"

#include <algorithm>
#include <cstring>

#include "core/base/bytes.h"
#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kRiffBytes = 12, kWebpChunkBytes = 8;
constexpr int64_t kFrameBytes = 16;  // of an ANMF chunk, before the chunks of its frame
constexpr int kAnimated = 0x02, kXmp = 0x04, kExif = 0x08, kAlpha = 0x10;
constexpr int64_t kMaxWebpChunks = 1 << 16;

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

// The chunk at `at`; false if its 8-byte header is not in the file.
bool chunk_at(Bytes encoded, int64_t at, Chunk* chunk) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  if (!extent_fits(at, kWebpChunkBytes, size)) return false;
  const int64_t length = load_little<uint32_t>(&encoded[at + 4]);
  chunk->at = at;
  chunk->name = {reinterpret_cast<const char*>(&encoded[at]), 4};
  chunk->body = encoded.subspan(at + kWebpChunkBytes, std::min(length, size - at - kWebpChunkBytes));
  chunk->next = at + kWebpChunkBytes + length + (length & 1);
  return true;
}

Status read_lossy(const Chunk& chunk, int64_t size, ImageHeader* header) {
  if (chunk.body.size() < 10) return cut(size, chunk.at + kWebpChunkBytes + 10);
  if ((byte_at(chunk.body, 0) & 1) != 0) {
    return error(Code::kCorrupt, "WebP at byte ", chunk.at, " holds an interframe, expected a key frame");
  }
  if (std::memcmp(&chunk.body[3], "\x9D\x01\x2A", 3) != 0) {
    return error(Code::kCorrupt, "WebP has no start code at byte ", chunk.at + kWebpChunkBytes + 3,
                 ", expected 9d 01 2a");
  }
  header->width = load_little<uint16_t>(&chunk.body[6]) & 0x3FFF;
  header->height = load_little<uint16_t>(&chunk.body[8]) & 0x3FFF;
  return Status::ok();
}

Status read_lossless(const Chunk& chunk, int64_t size, ImageHeader* header) {
  if (chunk.body.size() < 5) return cut(size, chunk.at + kWebpChunkBytes + 5);
  if (byte_at(chunk.body, 0) != 0x2F) {
    return error(Code::kCorrupt, "WebP has no lossless signature at byte ", chunk.at + kWebpChunkBytes,
                 ", expected 2f");
  }
  const uint32_t bits = load_little<uint32_t>(&chunk.body[1]);
  if (bits >> 29 != 0) {
    return error(Code::kCorrupt, "WebP lossless version ", bits >> 29, " at byte ",
                 chunk.at + kWebpChunkBytes + 1, ", expected 0");
  }
  header->width = (bits & 0x3FFF) + 1;
  header->height = (bits >> 14 & 0x3FFF) + 1;
  header->channels = (bits >> 28 & 1) != 0 ? 4 : 3;
  return Status::ok();
}

Status read_extended(const Chunk& chunk, int64_t size, ImageHeader* header, int* flags) {
  if (chunk.body.size() < 10) return cut(size, chunk.at + kWebpChunkBytes + 10);
  *flags = byte_at(chunk.body, 0);
  header->width = (load_little<uint32_t>(&chunk.body[4]) & 0xFFFFFF) + 1;
  header->height = (load_little<uint32_t>(&chunk.body[6]) >> 8) + 1;
  header->channels = (*flags & kAlpha) != 0 ? 4 : 3;
  return Status::ok();
}

// The first chunk of a name at or after `at`.
bool find_chunk(Bytes encoded, int64_t at, std::string_view name, Chunk* chunk) {
  for (int64_t i = 0; i < kMaxWebpChunks && chunk_at(encoded, at, chunk); ++i) {
    if (chunk->name == name) return true;
    at = chunk->next;
  }
  return false;
}

// The image chunk at or after `at`, and the last ALPH before it, found as libwebp does.
void find_image(Bytes encoded, int64_t at, WebpParts* parts) {
  Chunk chunk;
  for (int64_t i = 0; i < kMaxWebpChunks && chunk_at(encoded, at, &chunk); ++i) {
    if (chunk.name == "VP8 " || chunk.name == "VP8L") {
      parts->image = encoded.subspan(chunk.at + kWebpChunkBytes);
      parts->lossless = chunk.name == "VP8L";
      return;
    }
    if (chunk.name == "ALPH") parts->alpha = chunk.body;
    at = chunk.next;
  }
}

uint32_t load_24(Bytes bytes, int64_t at) {
  return static_cast<uint32_t>(byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 |
                               byte_at(bytes, at + 2) << 16);
}

// The size given by the frame's own image.
Status check_frame_size(const Chunk& frame, Bytes inside, int64_t size, const WebpParts& parts) {
  Chunk image;
  image.body = parts.image;
  image.at =
      frame.at + kWebpChunkBytes + kFrameBytes + (parts.image.data() - inside.data()) - kWebpChunkBytes;
  ImageHeader header;
  DL_RETURN_IF_ERROR(parts.lossless ? read_lossless(image, size, &header) : read_lossy(image, size, &header));
  if (header.width == parts.width && header.height == parts.height) return Status::ok();
  return error(Code::kCorrupt, "WebP frame at byte ", frame.at, " states ",
               picture_size(parts.height, parts.width), ", but its image has ",
               picture_size(header.height, header.width));
}

Status read_first_frame(Bytes encoded, const Chunk& frame, const ImageHeader& canvas, WebpParts* parts) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  if (!extent_fits(frame.at, frame.next - frame.at, size)) return cut(size, frame.next);
  if (static_cast<int64_t>(frame.body.size()) < kFrameBytes) {
    return error(Code::kCorrupt, "WebP frame at byte ", frame.at, " has ", frame.body.size(),
                 " bytes, expected ", kFrameBytes, " or more");
  }
  parts->left = int64_t{2} * load_24(frame.body, 0);
  parts->top = int64_t{2} * load_24(frame.body, 3);
  parts->width = int64_t{load_24(frame.body, 6)} + 1;
  parts->height = int64_t{load_24(frame.body, 9)} + 1;
  if (parts->left + parts->width > canvas.width || parts->top + parts->height > canvas.height) {
    return error(Code::kCorrupt, "WebP frame at byte ", frame.at, " of ",
                 picture_size(parts->height, parts->width), " at ", parts->left, ",", parts->top,
                 " is outside the canvas of ", picture_size(canvas.height, canvas.width));
  }
  parts->decodable = frame.body.subspan(kFrameBytes);
  find_image(parts->decodable, 0, parts);
  if (parts->image.empty()) {
    return error(Code::kCorrupt, "WebP frame at byte ", frame.at, " has no image, expected VP8 or VP8L");
  }
  return check_frame_size(frame, parts->decodable, size, *parts);
}

}  // namespace

Result<ImageHeader> read_webp_header(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  Chunk chunk;
  if (!chunk_at(encoded, kRiffBytes, &chunk)) return cut(size, kRiffBytes + kWebpChunkBytes);
  ImageHeader header;
  header.format = ImageFormat::kWebp;
  if (chunk.name == "VP8 ") {
    DL_RETURN_IF_ERROR(read_lossy(chunk, size, &header));
  } else if (chunk.name == "VP8L") {
    DL_RETURN_IF_ERROR(read_lossless(chunk, size, &header));
  } else if (chunk.name == "VP8X") {
    int flags = 0;
    DL_RETURN_IF_ERROR(read_extended(chunk, size, &header, &flags));
    Orientations found;
    Chunk exif, xmp;
    if ((flags & kExif) != 0 && find_chunk(encoded, chunk.next, "EXIF", &exif)) {
      found.exif = exif_orientation(exif.body);
      found.has_exif = true;
    }
    if ((flags & kXmp) != 0 && find_chunk(encoded, chunk.next, "XMP ", &xmp))
      found.xmp = xmp_orientation(xmp.body);
    header.orientation = found.chosen();
  } else {
    return error(Code::kCorrupt, "WebP has no image chunk at byte ", kRiffBytes,
                 ", expected VP8, VP8L or VP8X");
  }
  if (header.width == 0 || header.height == 0) {
    return error(Code::kCorrupt, "WebP header at byte ", chunk.at, " states ",
                 picture_size(header.height, header.width), ", expected 1 or more");
  }
  return header;
}

Result<WebpParts> find_webp_parts(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  WebpParts parts;
  parts.decodable = encoded;
  Chunk chunk;
  if (!chunk_at(encoded, kRiffBytes, &chunk)) return cut(size, kRiffBytes + kWebpChunkBytes);
  int flags = 0;
  ImageHeader canvas;
  if (chunk.name == "VP8X") DL_RETURN_IF_ERROR(read_extended(chunk, size, &canvas, &flags));
  parts.animated = (flags & kAnimated) != 0;
  parts.clear = (flags & kAlpha) != 0;
  if (!parts.animated) {
    find_image(encoded, chunk.at, &parts);
    return parts;
  }
  // As in Pillow, which does not decode truncated animations.
  const int64_t expected = kWebpChunkBytes + int64_t{load_little<uint32_t>(&encoded[4])};
  if (size < expected) return cut(size, expected);
  Chunk frame;
  if (!find_chunk(encoded, chunk.next, "ANMF", &frame))
    return error(Code::kCorrupt, "animated WebP has no frame (ANMF)");
  DL_RETURN_IF_ERROR(read_first_frame(encoded, frame, canvas, &parts));
  return parts;
}

}  // namespace dataline
