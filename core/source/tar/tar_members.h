// The members of a tar archive in order, by their headers alone. Names are opaque: nothing is ever extracted.
//
// Read: ustar, GNU and pax archives (x, g: path and size override; GNU L and K: long names), octal and base-256 numbers;
// regular files and directories. Refused with name and offset: links, devices, FIFOs (kUnsafeType); sparse and split
// archives, unknown member types (kUnsupported); anything that Python's tarfile and GNU tar read differently.
// Sources: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual, "Basic Tar Format".
// Threads: externally synchronized. Lifetime: the file outlives the reader.
// Cost: one pread of 2 to 64 KiB per stretch of headers; data is not touched, unless damage is skipped.
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

// Whether the data says more of the member that follows: a pax header, a long name.
constexpr bool is_tar_extension(char type) {
  return type == 'x' || type == 'g' || type == 'L' || type == 'K';
}

// Whether all 512 bytes are zero: half of the end mark.
bool is_zero_block(const std::byte* block);

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
  int64_t data_offset = 0;    // a multiple of 512, unless bytes were lost or added before it
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
  // `skip_damage`: where no header is, the next place, at any byte, is looked for where a POSIX or GNU header with a valid checksum is,
  // and what lies between is left out. So is a member that lost bytes, for its data holds the header of another one; a member whose last
  // block, or what follows it, shows that it gained some; and one whose name or size the lost bytes may have said. All data is read
  // for that. Not seen: a hole in the last member, as zeros follow it anyway; a hole that ends in the data of another member just so
  // that a header follows. A header in the data of a member whose own header is lost (an archive in an archive) passes as one of this
  // archive: its losses() say where that may be.
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
  // A header at any byte.
  struct Found {
    int64_t offset, bytes;
    char type;
    std::string name;
    bool has_prefix;
  };
  // Where following headers ends.
  struct Chain {
    enum class How : uint8_t {
      kEndMark,
      kGoesOn,
      kRunsOut
    };  // kRunsOut: in a member that the file does not hold
    int64_t end;
    How how;
  };
  static Found found_of(int64_t offset, const TarHeader& header);
  Result<std::optional<Found>> find_header(int64_t from, int64_t limit);
  Result<Chain> follow(int64_t at, int64_t limit);
  Result<int64_t> first_byte_behind(int64_t from);  // that is not zero; the file's end: none
  Result<std::optional<int64_t>> header_within(const TarMember& member, int64_t from, int64_t limit,
                                               bool whole);
  Result<std::optional<int64_t>> doubt(const TarMember& member, Status& why);
  Result<bool> skip_to_header(int64_t from, int64_t at, Status cause);
  Result<bool> follows_extension(int64_t from, const Found& found);
  Result<bool> may_be_extended(int64_t from, const Found& found);
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
