// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/exif.h"

#include <cstring>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kEntryBytes = 12;
constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kByte = 1, kShort = 3, kLong = 4;

struct Tiff {
  Bytes bytes;
  bool big;

  uint32_t u16(int64_t at) const {
    return big ? load_big<uint16_t>(&bytes[at]) : load_little<uint16_t>(&bytes[at]);
  }
  uint32_t u32(int64_t at) const {
    return big ? load_big<uint32_t>(&bytes[at]) : load_little<uint32_t>(&bytes[at]);
  }
  bool holds(int64_t at, int64_t count) const {
    return extent_fits(at, count, static_cast<int64_t>(bytes.size()));
  }
};

// The value of an entry of one number, whatever integer type its writer chose; 0 for any other.
uint32_t number_of(const Tiff& tiff, int64_t entry) {
  const uint32_t type = tiff.u16(entry + 2);
  if (tiff.u32(entry + 4) != 1) return 0;
  if (type == kShort) return tiff.u16(entry + 8);
  if (type == kLong) return tiff.u32(entry + 8);
  if (type == kByte) return static_cast<uint32_t>(tiff.bytes[entry + 8]);
  return 0;
}

}  // namespace

// Only the first IFD is read and no offset is followed from it: nothing can loop.
int32_t exif_orientation(Bytes bytes) {
  if (bytes.size() < 8) return 1;
  Tiff tiff{bytes, std::memcmp(bytes.data(), "MM\0*", 4) == 0};
  if (!tiff.big && std::memcmp(bytes.data(), "II*\0", 4) != 0) return 1;
  const int64_t ifd = tiff.u32(4);
  if (!tiff.holds(ifd, 2)) return 1;
  const int64_t entries = tiff.u16(ifd);
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t entry = ifd + 2 + i * kEntryBytes;
    if (!tiff.holds(entry, kEntryBytes)) return 1;
    if (tiff.u16(entry) != kOrientationTag) continue;
    const uint32_t value = number_of(tiff, entry);
    return value >= 1 && value <= 8 ? static_cast<int32_t>(value) : 1;
  }
  return 1;
}

int32_t exif_orientation_prefixed(Bytes block) {
  constexpr char kPrefix[] = {'E', 'x', 'i', 'f', 0, 0};
  if (block.size() >= sizeof kPrefix && std::memcmp(block.data(), kPrefix, sizeof kPrefix) == 0) {
    block = block.subspan(sizeof kPrefix);
  }
  return exif_orientation(block);
}

}  // namespace dataline
