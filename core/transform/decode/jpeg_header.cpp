// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/image_header.h"

#include <cstring>

#include "core/base/bytes.h"
#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kApp1 = 0xE1, kTem = 0x01;
constexpr int kDht = 0xC4, kJpg = 0xC8, kDac = 0xCC;

bool alone(int marker) { return marker == kTem || (marker >= 0xD0 && marker <= kEoi); }
bool frame_header(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kDht && marker != kJpg && marker != kDac;
}

struct Marker {
  int code = 0;
  int64_t at = 0;    // of its 0xFF
  int64_t body = 0;  // after the length, where it has one
  int64_t end = 0;   // where the walk goes on
};

// The next marker at or after `from`; bytes before it are skipped, as libjpeg does. False at the end of the file.
bool next_marker(Bytes encoded, int64_t from, Marker* marker) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  while (from < size) {
    const void* found = std::memchr(&encoded[from], 0xFF, static_cast<size_t>(size - from));
    if (found == nullptr) return false;
    marker->at = static_cast<const std::byte*>(found) - encoded.data();
    int64_t at = marker->at + 1;
    while (at < size && byte_at(encoded, at) == 0xFF) ++at;  // fill bytes
    if (at == size) return false;
    from = at + 1;
    if (byte_at(encoded, at) == 0) continue;  // a stuffed 0xFF of entropy-coded data
    marker->code = byte_at(encoded, at);
    marker->body = marker->end = from;
    return true;
  }
  return false;
}

Status cut(int64_t size) {
  return error(Code::kTruncated, "JPEG ends at byte ", size, ", before its size is known (no SOF marker)");
}

// Reads the length of a marker that has one, and sets where its body ends.
Status measure(Bytes encoded, Marker* marker) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  if (!extent_fits(marker->body, 2, size)) return cut(size);
  const int64_t length = load_big<uint16_t>(&encoded[marker->body]);
  if (length < 2) {
    return error(Code::kCorrupt, "JPEG segment at byte ", marker->at, " has length ", length,
                 ", expected 2 or more");
  }
  if (!extent_fits(marker->body, length, size)) return cut(size);
  marker->end = marker->body + length;
  marker->body += 2;
  return Status::ok();
}

Status refuse_kind(int kind) {
  // 9 and 10: arithmetic coding; libjpeg reports an error if it was built without.
  if (kind <= 2 || kind == 9 || kind == 10) return Status::ok();
  const bool lossless = kind == 3 || kind == 11;
  return error(Code::kUnsupported, lossless ? "lossless" : "hierarchical", " JPEG (SOF", kind,
               ") is not supported");
}

Result<ImageHeader> read_frame(Bytes encoded, const Marker& marker) {
  DL_RETURN_IF_ERROR(refuse_kind(marker.code - 0xC0));
  const int64_t bytes = marker.end - marker.body;
  if (bytes < 6) {
    return error(Code::kCorrupt, "JPEG frame header at byte ", marker.at, " has ", bytes,
                 " bytes, expected 6 or more");
  }
  ImageHeader header;
  header.format = ImageFormat::kJpeg;
  header.progressive = marker.code == 0xC2 || marker.code == 0xCA;
  header.bits = byte_at(encoded, marker.body);
  header.height = load_big<uint16_t>(&encoded[marker.body + 1]);
  header.width = load_big<uint16_t>(&encoded[marker.body + 3]);
  header.channels = byte_at(encoded, marker.body + 5);
  if (header.bits != 8) {
    return error(Code::kUnsupported, "JPEG of ", header.bits,
                 " bits per channel is not supported, expected 8");
  }
  if (header.height == 0 || header.width == 0) {
    return error(Code::kCorrupt, "JPEG frame header at byte ", marker.at, " states ",
                 picture_size(header.height, header.width), ", expected 1 or more");
  }
  if (header.channels != 1 && header.channels != 3 && header.channels != 4) {
    return error(Code::kCorrupt, "JPEG frame header at byte ", marker.at, " states ", header.channels,
                 " components, expected 1, 3 or 4");
  }
  if (bytes != 6 + 3 * header.channels) {
    return error(Code::kCorrupt, "JPEG frame header at byte ", marker.at, " has ", bytes, " bytes, expected ",
                 6 + 3 * header.channels, " for ", header.channels, " components");
  }
  return header;
}

// An APP1 segment. The first Exif block counts, and the last XMP packet, as in Pillow.
void take_orientation(Bytes body, Orientations& out) {
  constexpr std::string_view kExif("Exif\0\0", 6), kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  if (text.starts_with(kExif) && !out.exif) out.exif = exif_orientation(body);
  if (text.starts_with(kExif)) out.has_exif = true;
  if (text.starts_with(kXmp)) out.xmp = xmp_orientation(body.subspan(kXmp.size()));
}

// Segments between the frame header and the first scan. Damage ends the search and is not an error.
void take_later_orientations(Bytes encoded, Marker marker, Orientations& out) {
  while (next_marker(encoded, marker.end, &marker)) {
    if (alone(marker.code)) continue;
    if (marker.code == kSos || !measure(encoded, &marker).is_ok()) return;
    if (marker.code == kApp1) take_orientation(encoded.subspan(marker.body, marker.end - marker.body), out);
  }
}

}  // namespace

Result<ImageHeader> read_jpeg_header(Bytes encoded) {
  Orientations orientations;
  Marker marker;
  marker.end = 2;
  while (next_marker(encoded, marker.end, &marker)) {
    if (marker.code == kSoi || marker.code == kEoi) {
      return error(Code::kCorrupt, "JPEG has ", marker.code == kSoi ? "SOI" : "EOI", " at byte ", marker.at,
                   ", expected a frame header (SOF) before it");
    }
    if (alone(marker.code)) continue;
    DL_RETURN_IF_ERROR(measure(encoded, &marker));
    if (frame_header(marker.code)) {
      DL_ASSIGN_OR_RETURN(ImageHeader header, read_frame(encoded, marker));
      take_later_orientations(encoded, marker, orientations);
      header.orientation = orientations.chosen();
      return header;
    }
    if (marker.code == kSos) {
      return error(Code::kCorrupt, "JPEG has SOS at byte ", marker.at,
                   ", expected a frame header (SOF) before it");
    }
    if (marker.code == kApp1)
      take_orientation(encoded.subspan(marker.body, marker.end - marker.body), orientations);
  }
  return cut(static_cast<int64_t>(encoded.size()));
}

int64_t count_jpeg_scans(Bytes encoded, int64_t max) {
  int64_t scans = 0;
  Marker marker;
  marker.end = 2;
  while (scans <= max && next_marker(encoded, marker.end, &marker)) {
    if (marker.code == kEoi) break;
    if (alone(marker.code)) continue;
    if (!measure(encoded, &marker).is_ok()) break;
    if (marker.code == kSos) ++scans;
  }
  return scans;
}

}  // namespace dataline
