// The members of a tar archive in order, by their headers alone. Names are opaque: nothing is ever extracted.
//
// Read: ustar, GNU and pax archives (x, g: path and size override; GNU L and K: long names), octal and base-256 numbers;
// regular files and directories. Refused with name and offset: links, devices, FIFOs (kUnsafeType); sparse and split
// archives, unknown member types (kUnsupported); anything that Python's tarfile and GNU tar read differently.
// Sources: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual, "Basic Tar Format".
// Threads: externally synchronized. Lifetime: the file outlives the reader.
// Cost: one pread of 2 to 64 KiB per stretch of headers; data is not touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/file_window.h"

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

// Whether the block has the magic of a POSIX or GNU header.
bool has_tar_magic(const std::byte* block);
// Bytes of the records of a pax header that a text begins with.
int64_t pax_records_bytes(std::string_view text);

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

constexpr int64_t kMaxTarExtensionBytes = 1 << 20;  // of a pax header or a long name
constexpr int64_t kMaxTarTailBytes = 16 << 20;      // zeros after the last member

struct TarMember {
  std::string_view name;      // valid until the next call
  int64_t header_offset = 0;  // of the member's own header, after any extended headers
  int64_t data_offset = 0;    // a multiple of 512
  int64_t bytes = 0;
  bool directory = false;
};

// The end mark must be there, or may be left out; kCut: the archive may be cut anywhere, and what is behind the last whole member is
// left out.
enum class TarEnd : uint8_t { kRequired, kOptional, kCut };

// Bytes of an archive that are left out.
struct TarLoss {
  int64_t offset = 0, bytes = 0;
  Status cause;
};

class TarMembers {
 public:
  // `skip_damage`: where no header is, the next block of 512 bytes is looked for that is a POSIX or GNU header with a valid checksum,
  // and what lies between is left out; so is a member whose name or size the lost bytes may have said. A header in the data of a
  // member whose own header is lost (an archive in an archive) passes as one of this archive: its losses() say where that may be.
  TarMembers(const MappedFile& file, TarEnd end, bool skip_damage = false)
      : file_(file), window_(file), end_(end), skips_(skip_damage) {}

  // False at the end of the archive. kTruncated, kCorrupt, kUnsupported, kUnsafeType, kTooLarge name file, offset and
  // member.
  Result<bool> next(TarMember& member);
  int64_t offset() const { return offset_; }  // of the next header
  bool cut() const { return cut_; }           // the archive was cut there, and that is allowed
  const std::vector<TarLoss>& losses() const { return losses_; }

 private:
  Result<bool> next_whole(TarMember& member);
  Result<bool> skip_to_header(int64_t from, Status cause);
  Result<bool> may_be_extended(int64_t from, int64_t found, const TarHeader& header);
  Result<bool> read_header(TarHeader& header);  // false: the end mark
  Status extend(const TarHeader& header);
  Status finish(const TarHeader& header, TarMember& member);
  Status check_type(const TarHeader& header) const;
  Status check_directory(const TarHeader& header, const TarMember& member) const;
  Status check_extent(const TarMember& member) const;
  Status check_end();
  Status check_tail();
  template <typename... Parts>
  Status refuse(Code code, const Parts&... parts) const {
    return error(code, file_.path(), ": offset ", offset_, ": ", parts...);
  }

  const MappedFile& file_;
  FileWindow window_;
  TarEnd end_;
  const bool skips_;  // what is damaged
  bool cut_ = false;
  std::vector<TarLoss> losses_;
  int64_t offset_ = 0;
  std::string name_;
  // From extended headers of the next member.
  std::optional<std::string> long_name_, pax_path_;
  std::optional<int64_t> pax_size_;
  bool extended_ = false, pax_ = false, long_link_ = false;
};

}  // namespace dataline
