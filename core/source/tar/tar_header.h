// The headers of a tar archive, read strictly: whatever tar programs read differently is refused.
//
// Sources: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual, "Basic Tar Format".
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

constexpr int64_t kTarBlockBytes = 512;

// A header of one 512-byte block.
struct TarHeader {
  char type = '0';          // '\0' (old regular file), '0', '1', ..., 'x', 'g', 'L', 'K', ...
  int64_t bytes = 0;        // of the data that follows, according to this header
  std::string_view name;    // into the block
  std::string_view prefix;  // into the block; the whole name is prefix/name
};

// Whether all 512 bytes are zero: half of the end mark.
bool is_zero_block(const std::byte* block);

// The views point into the block. kCorrupt names file, offset and field: a wrong checksum (signed and unsigned sums are
// accepted, as in tar), an unknown magic, numbers that are neither octal nor base-256, a negative size. kUnsupported:
// names that programs read differently (a prefix in a header that is not POSIX's).
Result<TarHeader> parse_tar_header(const std::string& path, int64_t offset, const std::byte* block);

// What matters of an extended header (pax, typeflags x and g), a list of records `<length> <key>=<value>\n`. It overrides the
// header that follows.
struct PaxRecords {
  std::optional<std::string_view> path;  // into the text
  std::optional<int64_t> size;
};

// `offset` is that of text[0] in the file. kCorrupt: text that is not a list of records, a path or size that is given twice,
// empty, or not a number. kUnsupported, by name: keys that change what a member is (sparse files), unknown keys that POSIX
// reserves, a path or size in a global (g) header, which readers apply differently. Vendor keys (`SCHILY.xattr.user.x`)
// are ignored.
Result<PaxRecords> parse_pax(const std::string& path, int64_t offset, std::string_view text, bool global);

}  // namespace dataline
