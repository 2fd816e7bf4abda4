// What the files of a cache hold. Little-endian.
//
//   index       64 bytes: "DLCACHE2", u64 samples, the key (16 hex digits), zeros; then 32 bytes a sample:
//               u32 segment (0: none is kept), u32 bytes, u64 offset, u64 stamp, u32 CRC-32C of the sample's bytes,
//               u32 CRC-32C of the sample's number as u64 and the 28 bytes before
//   N.samples   segment N, six digits: 64 bytes, "DLCACHES", u64 N, the key, zeros; then samples one after the other, each from
//               a multiple of 64 on
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {

constexpr int64_t kStoreHeaderBytes = 64, kStoreEntryBytes = 32, kStoreKeyBytes = 16;
constexpr int64_t kStoredSampleAlignment = 64;
constexpr uint32_t kMostStoreSegments = 65535;

using StoreHeader = std::array<std::byte, static_cast<size_t>(kStoreHeaderBytes)>;

template <typename T>
void put_little(std::byte* to, T value) {
  for (size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

// The magic of an index that release 0.2 wrote: nobody reads it, and it is removed like others.
constexpr std::string_view kIndexMagic = "DLCACHE2", kOldIndexMagic = "DLCACHE1", kSegmentMagic = "DLCACHES";

// `number`: of samples, or of the segment; `key`: of kStoreKeyBytes.
inline StoreHeader store_header(std::string_view magic, int64_t number, std::string_view key) {
  StoreHeader out = {};
  std::memcpy(out.data(), magic.data(), magic.size());
  put_little(out.data() + 8, static_cast<uint64_t>(number));
  std::memcpy(out.data() + 16, key.data(), static_cast<size_t>(kStoreKeyBytes));
  return out;
}

// Whether an index begins so, whatever its number of samples.
inline bool is_header_of(const StoreHeader& header, std::string_view key) {
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  return (text.starts_with(kIndexMagic) || text.starts_with(kOldIndexMagic)) &&
         text.substr(16, static_cast<size_t>(kStoreKeyBytes)) == key;
}

inline bool is_old_header(const StoreHeader& header) {
  return std::string_view(reinterpret_cast<const char*>(header.data()), header.size())
      .starts_with(kOldIndexMagic);
}

inline bool is_store_key(std::string_view name) {
  return name.size() == static_cast<size_t>(kStoreKeyBytes) &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

constexpr std::string_view kSegmentSuffix = ".samples";
constexpr size_t kSegmentDigits = 6;

inline std::string segment_name(uint32_t segment) {
  std::string digits = std::to_string(segment);
  digits.insert(0, kSegmentDigits - std::min(digits.size(), kSegmentDigits), '0');
  return digits.append(kSegmentSuffix);
}

inline int64_t segment_number(std::string_view name) {  // `name`: is_segment_name()
  int64_t number = 0;
  for (const char digit : name.substr(0, kSegmentDigits)) number = number * 10 + (digit - '0');
  return number;
}

inline bool is_segment_name(std::string_view name) {
  return name.size() == kSegmentDigits + kSegmentSuffix.size() && name.ends_with(kSegmentSuffix) &&
         name.substr(0, kSegmentDigits).find_first_not_of("0123456789") == std::string_view::npos;
}

struct StoreEntry {
  uint32_t segment = 0, bytes = 0;
  uint64_t offset = 0, stamp = 0;
  uint32_t checksum = 0;

  using Stored = std::array<std::byte, static_cast<size_t>(kStoreEntryBytes)>;

  Stored stored(int64_t sample, const Crc32c& crc) const {
    Stored out;
    put_little(out.data(), segment);
    put_little(out.data() + 4, bytes);
    put_little(out.data() + 8, offset);
    put_little(out.data() + 16, stamp);
    put_little(out.data() + 24, checksum);
    put_little(out.data() + 28, own_checksum(sample, out, crc));
    return out;
  }
  // False for what no store wrote for this sample.
  bool load(int64_t sample, const Stored& from, const Crc32c& crc) {
    segment = load_little<uint32_t>(from.data());
    bytes = load_little<uint32_t>(from.data() + 4);
    offset = load_little<uint64_t>(from.data() + 8);
    stamp = load_little<uint64_t>(from.data() + 16);
    checksum = load_little<uint32_t>(from.data() + 24);
    return segment > 0 && segment <= kMostStoreSegments && offset < uint64_t{1} << 62 &&
           load_little<uint32_t>(from.data() + 28) == own_checksum(sample, from, crc);
  }

 private:
  static uint32_t own_checksum(int64_t sample, const Stored& stored, const Crc32c& crc) {
    std::byte number[8];
    put_little(number, static_cast<uint64_t>(sample));
    return crc.extend(crc.of(number), stored.data(), kStoreEntryBytes - 4);
  }
};

}  // namespace dataline
