// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar_members.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/source/files.h"

namespace dataline {
namespace {

bool is_regular(char type) { return type == '0' || type == '\0' || type == '7'; }

struct RefusedType {
  char type;
  Code code;
  std::string_view what;
};

constexpr RefusedType kRefused[] = {
    {'1', Code::kUnsafeType, "a hard link: links are not followed; pack with tar --hard-dereference"},
    {'2', Code::kUnsafeType,
     "a symbolic link: links are not followed; pack its target with tar --dereference"},
    {'3', Code::kUnsafeType, "a character device, expected a file"},
    {'4', Code::kUnsafeType, "a block device, expected a file"},
    {'6', Code::kUnsafeType, "a FIFO, expected a file"},
    {'S', Code::kUnsupported, "a sparse file, stored with holes; pack without tar --sparse"},
    {'D', Code::kUnsupported, "a directory of an incremental archive, which is not supported"},
    {'M', Code::kUnsupported,
     "the rest of a member of another volume; archives of several volumes are not supported"},
    {'V', Code::kUnsupported, "a volume label; archives of several volumes are not supported"},
    {'X', Code::kUnsupported, "an extended header of Solaris, which is not supported"},
};

}  // namespace

Result<bool> TarMembers::next_whole(TarMember& member) {
  long_name_.reset();
  pax_path_.reset();
  pax_size_.reset();
  extended_ = pax_ = long_link_ = false;
  for (;;) {
    TarHeader header;
    DL_ASSIGN_OR_RETURN(bool found, read_header(header));
    if (!found) return false;
    if (!is_tar_extension(header.type)) {
      DL_RETURN_IF_ERROR(finish(header, member));
      return true;
    }
    DL_RETURN_IF_ERROR(extend(header));
  }
}

Result<bool> TarMembers::read_header(TarHeader& header) {
  const int64_t left = file_.bytes() - offset_;
  if (left == 0) {
    DL_RETURN_IF_ERROR(check_end());
    return false;
  }
  if (left < kTarBlockBytes) {
    return refuse(Code::kTruncated, "a tar header needs ", kTarBlockBytes, " bytes, the file has ", left);
  }
  DL_ASSIGN_OR_RETURN(const std::byte* block, window_.at(offset_, kTarBlockBytes));
  if (is_zero_block(block)) {
    DL_RETURN_IF_ERROR(check_tail());
    return false;
  }
  DL_ASSIGN_OR_RETURN(header, parse_tar_header(file_.path(), offset_, block));
  return true;
}

// The archive ends where a header could be.
Status TarMembers::check_end() {
  if (extended_ || end_ == TarEnd::kRequired || offset_ == 0) {
    return refuse(Code::kTruncated,
                  "expected a member or the end mark (two blocks of zeros), but the archive ends: it is "
                  "truncated, or its writer did not close it (tar:...?end=optional accepts it)");
  }
  return Status::ok();
}

// After the first block of zeros. One is enough: nothing that could have been cut off is a member. Other bytes are an error;
// most programs silently ignore them, for example a second archive (cat a.tar b.tar).
Status TarMembers::check_tail() {
  if (extended_) {
    return refuse(Code::kCorrupt, "expected a member after the header that extends it, got the end mark");
  }
  const int64_t tail = file_.bytes() - offset_;
  if (tail > kMaxTarTailBytes) {
    return refuse(Code::kCorrupt, "the end mark, then ", tail, " bytes; at most ", kMaxTarTailBytes,
                  " are searched");
  }
  constexpr int64_t kPieceBytes = 64 << 10;
  for (int64_t at = 0; at < tail; at += kPieceBytes) {
    const int64_t bytes = std::min(kPieceBytes, tail - at);
    DL_ASSIGN_OR_RETURN(const std::byte* piece, window_.at(offset_ + at, bytes));
    const std::byte* found =
        std::find_if(piece, piece + bytes, [](std::byte b) { return b != std::byte{0}; });
    if (found == piece + bytes) continue;
    return error(Code::kCorrupt, file_.path(), ": offset ", offset_ + at + (found - piece),
                 ": bytes after the end mark of the archive at offset ", offset_,
                 " (several archives in one file? name them one by one)");
  }
  return Status::ok();
}

// Keeps a pax header or a long name for the member that follows.
Status TarMembers::extend(const TarHeader& header) {
  const char type = header.type;
  const bool pax = type == 'x' || type == 'g';
  const std::string_view what = pax ? "a pax header" : "a long name";
  // Readers disagree on which of several overrides the others.
  if (pax_ || long_name_ || (long_link_ && type != 'L')) {
    return refuse(Code::kUnsupported, what, " after another header that extends the same member");
  }
  const int64_t data_offset = offset_ + kTarBlockBytes;
  if (header.bytes > kMaxTarExtensionBytes) {
    return refuse(Code::kTooLarge, what, " of ", header.bytes, " bytes, at most ", kMaxTarExtensionBytes);
  }
  const int64_t stored = round_up(header.bytes, kTarBlockBytes);
  if (!extent_fits(data_offset, stored, file_.bytes())) {
    return refuse(Code::kTruncated, what, " of ", header.bytes, " bytes needs ", stored, ", the file has ",
                  file_.bytes() - data_offset);
  }
  DL_ASSIGN_OR_RETURN(const std::byte* data, window_.at(data_offset, stored));
  std::string_view text(reinterpret_cast<const char*>(data), static_cast<size_t>(header.bytes));
  if (stored > header.bytes && data[header.bytes] != std::byte{0}) {
    return refuse(Code::kCorrupt, what, " of ", header.bytes, " bytes that continues after them");
  }
  if (pax) {
    DL_ASSIGN_OR_RETURN(PaxRecords records, parse_pax(file_.path(), data_offset, text, type == 'g'));
    pax_ = type == 'x';
    if (records.path) pax_path_ = std::string(*records.path);
    pax_size_ = records.size;
  } else {
    const size_t end = std::min(text.find('\0'), text.size());
    if (end == 0 || text.find_first_not_of('\0', end) != std::string_view::npos) {
      return refuse(Code::kCorrupt, what, " that is empty or contains a NUL byte");
    }
    if (type == 'K') long_link_ = true;
    if (type == 'L') long_name_ = std::string(text.substr(0, end));
  }
  extended_ = true;
  offset_ = data_offset + stored;
  return Status::ok();
}

Status TarMembers::finish(const TarHeader& header, TarMember& member) {
  const bool renamed = pax_path_ || long_name_;
  if (renamed) {
    name_ = pax_path_ ? *pax_path_ : *long_name_;
  } else {
    name_.assign(header.prefix);
    if (!name_.empty()) name_ += '/';
    name_ += header.name;
  }
  if (name_.empty()) return refuse(Code::kCorrupt, "a member without a name");
  DL_RETURN_IF_ERROR(check_type(header));
  member.name = name_;
  member.header_offset = offset_;
  member.data_offset = offset_ + kTarBlockBytes;
  member.bytes = pax_size_.value_or(header.bytes);
  // In archives older than POSIX a directory is a file whose name ends in '/'.
  const bool old_directory = header.type == '\0' && header.name.ends_with('/');
  if (old_directory && renamed)
    return refuse(Code::kCorrupt, "member ", printable(name_), " is a directory by one of its names");
  member.directory = header.type == '5' || old_directory;
  DL_RETURN_IF_ERROR(check_directory(header, member));
  DL_RETURN_IF_ERROR(check_extent(member));
  offset_ = member.data_offset + round_up(member.bytes, kTarBlockBytes);
  return Status::ok();
}

Status TarMembers::check_type(const TarHeader& header) const {
  if (is_regular(header.type) || header.type == '5') return Status::ok();
  for (const RefusedType& refused : kRefused) {
    if (header.type == refused.type) {
      return refuse(refused.code, "member ", printable(name_), " is ", refused.what);
    }
  }
  return refuse(Code::kUnsupported, "member ", printable(name_), " is of the unknown type ",
                printable(std::string_view(&header.type, 1)));
}

Status TarMembers::check_directory(const TarHeader& header, const TarMember& member) const {
  if (member.directory) {
    if (member.bytes == 0 && header.bytes == 0) return Status::ok();
    return refuse(Code::kCorrupt, "directory ", printable(name_), " of ",
                  std::max(member.bytes, header.bytes), " bytes, expected 0");
  }
  if (!name_.ends_with('/')) return Status::ok();
  return refuse(Code::kCorrupt, "member ", printable(name_),
                " is a directory by its name and a file by its type");
}

Status TarMembers::check_extent(const TarMember& member) const {
  const int64_t left = file_.bytes() - member.data_offset;
  const bool fits = member.bytes <= left && round_up(member.bytes, kTarBlockBytes) <= left;
  if (fits) return Status::ok();
  return refuse(Code::kTruncated, "member ", printable(name_), " of ", member.bytes,
                " bytes (stored in whole blocks of 512), the file has ", left);
}

}  // namespace dataline
