// One 512-byte header of a tar archive, read strictly: what tar programs read differently is refused.
//
// Sources: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

constexpr int64_t kTarBlockBytes = 512;

struct TarHeader {
  char type = '0';          // '\0' (old regular file), '0', '1', ..., 'x', 'g', 'L', 'K', ...
  int64_t bytes = 0;        // of the data that follows, as this header says
  std::string_view name;    // into the block
  std::string_view prefix;  // into the block; the whole name is prefix/name
};

// Whether all 512 bytes are zero: a half of the end mark.
bool is_zero_block(const std::byte* block);

// Views of the result live as long as the block. kCorrupt names file, offset and field: a wrong checksum (signed and
// unsigned sums are accepted, as tar does), an unknown magic, numbers that are neither octal nor base-256, a negative
// size. kUnsupported: names stored as no two programs read them (a prefix in a header that is not POSIX's).
Result<TarHeader> parse_tar_header(const std::string& path, int64_t offset, const std::byte* block);

}  // namespace dataline
