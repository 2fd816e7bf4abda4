// SPDX-License-Identifier: Apache-2.0
#include "core/source/npz/zip_directory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/arrays/arrays.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr int64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr int64_t kMaxCommentBytes = 65535;
constexpr uint32_t kInZip64 = 0xffffffff;  // the value is in the zip64 extra field
constexpr uint32_t kInZip64Short = 0xffff;
constexpr uint32_t kSizesFollow = 1 << 3;  // a flag
constexpr size_t kMembersPerLook = 1024;   // at the cancel token

uint32_t u16_at(Bytes bytes, int64_t at) { return load_little<uint16_t>(bytes.data() + at); }
uint32_t u32_at(Bytes bytes, int64_t at) { return load_little<uint32_t>(bytes.data() + at); }
uint64_t u64_at(Bytes bytes, int64_t at) { return load_little<uint64_t>(bytes.data() + at); }

Bytes piece(Bytes bytes, int64_t at, int64_t count) {
  return bytes.subspan(static_cast<size_t>(at), static_cast<size_t>(count));
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

template <typename... Parts>
Status zip_error(Code code, const MappedFile& file, int64_t offset, const Parts&... parts) {
  return error(code, file.path(), ": offset ", offset, ": ", parts...);
}

// The values of a zip64 extra field, for the fields of a header that say so, in their order.
class Zip64Values {
 public:
  // Finds the field among all extra fields, each u16 id, u16 size, data. False: one reaches beyond them. Less than a header
  // at their end is padding.
  bool find(Bytes extra) {
    constexpr uint32_t kZip64Id = 1;
    while (extra.size() >= 4) {
      const int64_t bytes = u16_at(extra, 2);
      if (!extent_fits(4, bytes, static_cast<int64_t>(extra.size()))) return false;
      if (u16_at(extra, 0) == kZip64Id && values_.empty()) values_ = piece(extra, 4, bytes);
      extra = extra.subspan(static_cast<size_t>(4 + bytes));
    }
    return true;
  }

  // A field of 32 bits, or the next of 64 that it stands for. Nothing: there is none, or it is above 2^63 - 1.
  std::optional<int64_t> value(uint32_t field) {
    if (field != kInZip64) return field;
    if (values_.size() < 8) return std::nullopt;
    const std::optional<int64_t> out = to_i64(u64_at(values_, 0));
    values_ = values_.subspan(8);
    return out;
  }

 private:
  Bytes values_;
};

// Where the central directory lies.
struct DirectoryPlace {
  int64_t offset = 0, bytes = 0, members = 0;
};

// The numbers of an end record; all but the volumes are compared with those of a zip64 one.
struct EndRecord {
  uint64_t volume = 0, directory_volume = 0, members_here = 0, members = 0, bytes = 0, offset = 0;
};

Status no_end(const MappedFile& file, Bytes tail) {
  std::array<std::byte, kDescribedBytes> start{};
  const int64_t count = std::min<int64_t>(file.bytes(), kDescribedBytes);
  DL_RETURN_IF_ERROR(file.read(0, count, start.data()));
  const Bytes first = Bytes(start).first(static_cast<size_t>(count));
  const std::string_view magic = "PK\x03\x04", begin = text_of(first).substr(0, magic.size());
  if (begin != magic.substr(0, begin.size())) {
    return zip_error(Code::kCorrupt, file, 0, "not a zip archive: expected PK\\x03\\x04, got ",
                     describe_first_bytes(first));
  }
  return zip_error(Code::kTruncated, file, file.bytes(), "no zip end record in the last ", tail.size(),
                   " bytes: the archive is truncated");
}

// The offset of the end record: the last one whose comment ends with the file.
Result<int64_t> find_end(const MappedFile& file, EndRecord& end) {
  std::vector<std::byte> tail(static_cast<size_t>(std::min(file.bytes(), kEndBytes + kMaxCommentBytes)));
  const auto bytes = static_cast<int64_t>(tail.size());
  DL_RETURN_IF_ERROR(file.read(file.bytes() - bytes, bytes, tail.data()));
  for (int64_t at = bytes - kEndBytes; at >= 0; --at) {
    if (u32_at(tail, at) != kEndMagic || u16_at(tail, at + 20) != bytes - at - kEndBytes) continue;
    end = {u16_at(tail, at + 4),  u16_at(tail, at + 6),  u16_at(tail, at + 8),
           u16_at(tail, at + 10), u32_at(tail, at + 12), u32_at(tail, at + 16)};
    return file.bytes() - bytes + at;
  }
  return no_end(file, tail);
}

// Where there is a zip64 end record before the end record at `at`: replaces `end`, and `at` by its own offset.
Status take_end64(const MappedFile& file, int64_t& at, EndRecord& end) {
  std::array<std::byte, kLocator64Bytes> locator{};
  const int64_t locator_at = at - kLocator64Bytes;
  if (locator_at < 0) return Status::ok();
  DL_RETURN_IF_ERROR(file.read(locator_at, kLocator64Bytes, locator.data()));
  if (u32_at(locator, 0) != kLocator64Magic) return Status::ok();
  const std::optional<int64_t> record_at = to_i64(u64_at(locator, 8));
  if (!record_at || !extent_fits(*record_at, kEnd64Bytes, locator_at)) {
    return zip_error(Code::kCorrupt, file, locator_at,
                     "zip64 locator: expected an end record before it, got offset ", u64_at(locator, 8));
  }
  std::array<std::byte, kEnd64Bytes> record{};
  DL_RETURN_IF_ERROR(file.read(*record_at, kEnd64Bytes, record.data()));
  if (u32_at(record, 0) != kEnd64Magic)
    return zip_error(Code::kCorrupt, file, *record_at, "expected a zip64 end record, got ",
                     describe_first_bytes(record));
  if (u64_at(record, 4) != static_cast<uint64_t>(locator_at - *record_at - 12)) {
    return zip_error(Code::kCorrupt, file, *record_at, "zip64 end record of ", u64_at(record, 4),
                     " bytes, expected ", locator_at - *record_at - 12, ", up to its locator");
  }
  const EndRecord end64{u32_at(record, 16), u32_at(record, 20), u64_at(record, 24),
                        u64_at(record, 32), u64_at(record, 40), u64_at(record, 48)};
  const auto agree = [](uint64_t value, uint64_t value64, uint32_t in_zip64) {
    return value == in_zip64 || value == value64;
  };
  if (!agree(end.members, end64.members, kInZip64Short) || !agree(end.bytes, end64.bytes, kInZip64) ||
      !agree(end.offset, end64.offset, kInZip64)) {
    return zip_error(Code::kCorrupt, file, *record_at,
                     "zip64 end record and end record contradict each other");
  }
  end = end64;
  at = *record_at;
  return Status::ok();
}

Result<DirectoryPlace> find_directory(const MappedFile& file) {
  EndRecord end;
  DL_ASSIGN_OR_RETURN(int64_t at, find_end(file, end));
  DL_RETURN_IF_ERROR(take_end64(file, at, end));
  if (end.volume != 0 || end.directory_volume != 0 || end.members_here != end.members)
    return zip_error(Code::kUnsupported, file, at, "a zip archive of several volumes is not supported");
  const std::optional<int64_t> offset = to_i64(end.offset), bytes = to_i64(end.bytes);
  if (!offset || !bytes || !extent_fits(*offset, *bytes, at) || *offset + *bytes != at) {
    return zip_error(Code::kCorrupt, file, at, "zip end record: a directory of ", end.bytes,
                     " bytes at offset ", end.offset, " does not end here");
  }
  if (*bytes > kMaxZipDirectoryBytes) {
    return zip_error(Code::kTooLarge, file, *offset, "zip directory of ", *bytes, " bytes, at most ",
                     kMaxZipDirectoryBytes, " are supported");
  }
  if (end.members > kMaxArrays)
    return zip_error(Code::kTooLarge, file, at, end.members, " zip members, at most ", kMaxArrays,
                     " are supported");
  return DirectoryPlace{*offset, *bytes, static_cast<int64_t>(end.members)};
}

// Reads the entry at the start of `rest`, which lies at `offset`, and moves behind it.
Status take_entry(const MappedFile& file, Bytes& rest, int64_t& offset, ZipMember& member) {
  const auto left = static_cast<int64_t>(rest.size());
  if (left < kEntryBytes || u32_at(rest, 0) != kEntryMagic) {
    return zip_error(Code::kCorrupt, file, offset, "expected a zip directory entry of 46 bytes, got ", left,
                     " bytes, ",
                     describe_first_bytes(rest.first(std::min<size_t>(rest.size(), kDescribedBytes))));
  }
  const int64_t name_bytes = u16_at(rest, 28), extra_bytes = u16_at(rest, 30);
  const int64_t all_bytes = kEntryBytes + name_bytes + extra_bytes + u16_at(rest, 32);
  if (all_bytes > left) {
    return zip_error(Code::kCorrupt, file, offset, "zip directory entry of ", all_bytes,
                     " bytes, the directory has ", left);
  }
  member.name = text_of(piece(rest, kEntryBytes, name_bytes));
  member.flags = u16_at(rest, 8);
  member.method = u16_at(rest, 10);
  member.crc32 = u32_at(rest, 16);
  const std::string at = concat("zip member ", printable(member.name), ": ");
  Zip64Values zip64;
  if (!zip64.find(piece(rest, kEntryBytes + name_bytes, extra_bytes)))
    return zip_error(Code::kCorrupt, file, offset, at, "an extra field reaches beyond the others");
  const std::optional<int64_t> bytes = zip64.value(u32_at(rest, 24)), stored = zip64.value(u32_at(rest, 20)),
                               header = zip64.value(u32_at(rest, 42));
  if (!bytes || !stored || !header)
    return zip_error(Code::kCorrupt, file, offset, at,
                     "a size or offset is missing in its zip64 field, or above 2^63");
  const uint32_t volume = u16_at(rest, 34);
  if (volume != 0 && volume != kInZip64Short)
    return zip_error(Code::kUnsupported, file, offset, at, "is in volume ", volume,
                     ", and several volumes are not supported");
  member.bytes = *bytes;
  member.stored_bytes = *stored;
  member.header_offset = *header;
  rest = rest.subspan(static_cast<size_t>(all_bytes));
  offset += all_bytes;
  return Status::ok();
}

// Members lie one after another before the directory. What the local header may have beyond its name is checked when it is
// read.
Status check_rooms(const MappedFile& file, const DirectoryPlace& place, ZipDirectory& directory) {
  std::pmr::vector<ZipMember*> order(directory.memory.get());
  for (ZipMember& member : directory.members) order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->header_offset > b->header_offset; });
  int64_t room_end = place.offset;
  std::string_view next = "the directory";
  for (ZipMember* member : order) {  // from the last to the first
    const int64_t least = kLocalBytes + static_cast<int64_t>(member->name.size());
    const std::optional<int64_t> bytes = checked_add(least, member->stored_bytes);
    if (!bytes || !extent_fits(member->header_offset, *bytes, room_end)) {
      return error(Code::kCorrupt, zip_member_text(file, *member), ": its ", member->stored_bytes,
                   " bytes reach into ", next, " at offset ", room_end);
    }
    member->room_end = room_end;
    room_end = member->header_offset;
    next = "the next member";
  }
  return Status::ok();
}

}  // namespace

std::string zip_member_text(const MappedFile& file, const ZipMember& member) {
  return concat(file.path(), ": offset ", member.header_offset, ": zip member ", printable(member.name));
}

Result<ZipDirectory> read_zip_directory(const MappedFile& file, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const DirectoryPlace place, find_directory(file));
  DL_ASSIGN_OR_RETURN(const Block block,
                      context.memory->allocate(place.bytes, 1, MemoryKind::kMetadata, file.path().c_str()));
  DL_RETURN_IF_ERROR(file.read(place.offset, place.bytes, block.data()));
  Bytes rest(block.data(), static_cast<size_t>(place.bytes));
  int64_t offset = place.offset;
  ZipDirectory directory(context.memory);
  for (int64_t m = 0; m < place.members; ++m) {
    if (directory.members.size() % kMembersPerLook == 0) {
      if (context.cancelled())
        return error(Code::kCancelled, file.path(), ": cancelled while its directory was read");
      context.report("reading the directory of ", file.path());
    }
    ZipMember member(directory.memory.get());
    DL_RETURN_IF_ERROR(take_entry(file, rest, offset, member));
    directory.members.push_back(std::move(member));
  }
  if (!rest.empty()) {
    return zip_error(Code::kCorrupt, file, offset, rest.size(), " bytes after the ", place.members,
                     " entries of the zip directory");
  }
  DL_RETURN_IF_ERROR(check_rooms(file, place, directory));
  return directory;
}

Result<int64_t> find_zip_data(const MappedFile& file, const ZipMember& member) {
  const std::string at = zip_member_text(file, member);
  std::array<std::byte, kLocalBytes> local{};
  DL_RETURN_IF_ERROR(file.read(member.header_offset, kLocalBytes, local.data()));
  if (u32_at(local, 0) != kLocalMagic) {
    return error(Code::kCorrupt, at, ": expected a local header, PK\\x03\\x04, got ",
                 describe_first_bytes(local));
  }
  const int64_t name_bytes = u16_at(local, 26), extra_bytes = u16_at(local, 28);
  const int64_t data_offset = member.header_offset + kLocalBytes + name_bytes + extra_bytes;
  if (!extent_fits(data_offset, member.stored_bytes, member.room_end)) {
    return error(Code::kCorrupt, at, ": with a local header of ", data_offset - member.header_offset,
                 " bytes its ", member.stored_bytes, " bytes reach beyond offset ", member.room_end);
  }
  // Both are at most 65535, and lie in the file.
  std::vector<std::byte> tail(static_cast<size_t>(name_bytes + extra_bytes));
  DL_RETURN_IF_ERROR(file.read(member.header_offset + kLocalBytes, name_bytes + extra_bytes, tail.data()));
  const bool same_name = text_of(piece(tail, 0, name_bytes)) == std::string_view(member.name);
  if (!same_name || u16_at(local, 8) != member.method)
    return error(Code::kCorrupt, at, ": its local header has another ", same_name ? "method" : "name");
  if ((u16_at(local, 6) & kSizesFollow) != 0) return data_offset;
  Zip64Values zip64;
  const bool extra_fits = zip64.find(piece(tail, name_bytes, extra_bytes));
  const std::optional<int64_t> bytes = zip64.value(u32_at(local, 22)),
                               stored = zip64.value(u32_at(local, 18));
  if (!extra_fits || bytes != member.bytes || stored != member.stored_bytes ||
      u32_at(local, 14) != member.crc32) {
    return error(Code::kCorrupt, at, ": its local header has another size or CRC-32 than the directory");
  }
  return data_offset;
}

}  // namespace dataline
