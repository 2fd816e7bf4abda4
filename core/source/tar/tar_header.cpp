// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar_members.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/files.h"

namespace dataline {
namespace {

struct TarField {
  std::string_view name;
  size_t offset;
  size_t bytes;
};

constexpr TarField kName{"name", 0, 100};
constexpr TarField kSize{"size", 124, 12};
constexpr TarField kChecksum{"checksum", 148, 8};
constexpr TarField kTarMagic{"magic", 257, 8};
constexpr TarField kPrefix{"prefix", 345, 155};
// Not used, but checked, because readers that parse them stop or fail if they are not numbers.
constexpr TarField kOtherNumbers[] = {{"mode", 100, 8},   {"uid", 108, 8},      {"gid", 116, 8},
                                      {"mtime", 136, 12}, {"devmajor", 329, 8}, {"devminor", 337, 8}};
constexpr size_t kTypeOffset = 156;

std::string_view text_of(const std::byte* block, const TarField& field) {
  return {reinterpret_cast<const char*>(block) + field.offset, field.bytes};
}

std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Spaces, octal digits, then only spaces and NULs; an empty field is 0.
std::optional<int64_t> octal(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  int64_t value = 0;  // at most 12 digits, 36 bits
  for (; at < text.size() && text[at] >= '0' && text[at] <= '7'; ++at) value = value * 8 + (text[at] - '0');
  for (; at < text.size(); ++at) {
    if (text[at] != ' ' && text[at] != '\0') return std::nullopt;
  }
  return value;
}

// GNU: a first byte of 0x80, or 0xff for negative numbers, then big-endian bytes.
std::optional<int64_t> base_256(std::string_view text) {
  const bool negative = text[0] == '\xff';
  uint64_t value = negative ? ~uint64_t{0} : 0;
  for (size_t i = 1; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool fits = negative ? value >> 55 == 0x1ff : value >> 55 == 0;
    if (!fits) return std::nullopt;
    value = value << 8 | byte;
  }
  return static_cast<int64_t>(value);
}

std::optional<int64_t> number(std::string_view text) {
  return text[0] == '\x80' || text[0] == '\xff' ? base_256(text) : octal(text);
}

template <typename... Parts>
Status corrupt(const std::string& path, int64_t offset, const TarField& field, const Parts&... parts) {
  return error(Code::kCorrupt, path, ": offset ", offset + static_cast<int64_t>(field.offset), ": tar ",
               field.name, " ", parts...);
}

Result<int64_t> read_number(const std::string& path, int64_t offset, const std::byte* block,
                            const TarField& field) {
  std::string_view text = text_of(block, field);
  if (std::optional<int64_t> value = number(text)) return *value;
  return corrupt(path, offset, field, printable(text), " is not an octal or base-256 number");
}

// The sum over the block with spaces in place of the checksum. Some old programs summed signed bytes.
Status check_sum(const std::string& path, int64_t offset, const std::byte* block) {
  int64_t plain = 0, negatives = 0;
  for (size_t i = 0; i < kTarBlockBytes; ++i) {
    plain += std::to_integer<int64_t>(block[i]);
    negatives += std::to_integer<int64_t>(block[i]) >> 7;
  }
  for (size_t i = kChecksum.offset; i < kChecksum.offset + kChecksum.bytes; ++i) {
    plain += ' ' - std::to_integer<int64_t>(block[i]);
    negatives -= std::to_integer<int64_t>(block[i]) >> 7;
  }
  DL_ASSIGN_OR_RETURN(int64_t stored, read_number(path, offset, block, kChecksum));
  if (stored == plain || stored == plain - 256 * negatives) return Status::ok();
  return corrupt(path, offset, kChecksum, stored, ", the header's bytes sum to ", plain,
                 offset == 0 ? concat(" (not a tar archive? it starts with ",
                                      describe_first_bytes(Bytes(block, kDescribedBytes)), ")")
                             : std::string());
}

// Headers older than POSIX have no magic and no prefix; GNU's have other data where the prefix would be.
Status check_magic(const std::string& path, int64_t offset, const std::byte* block) {
  std::string_view magic = text_of(block, kTarMagic);
  if (magic.starts_with(std::string_view("ustar\0", 6))) return Status::ok();
  const bool known =
      magic == std::string_view("ustar  \0", 8) || magic == std::string_view("\0\0\0\0\0\0\0\0", 8);
  if (!known) return corrupt(path, offset, kTarMagic, printable(magic), ", expected 'ustar'");
  std::string_view prefix = text_of(block, kPrefix);
  if (std::all_of(prefix.begin(), prefix.end(), [](char c) { return c == '\0'; })) return Status::ok();
  return error(
      Code::kUnsupported, path, ": offset ", offset + static_cast<int64_t>(kPrefix.offset),
      ": bytes after the device numbers of a header that is not POSIX (tar --incremental, old sparse files): "
      "programs read them differently; write the archive again with tar --format=pax");
}

constexpr std::string_view kPosixKeys[] = {"atime", "charset",    "comment",  "ctime", "gid",
                                           "gname", "hdrcharset", "linkpath", "mtime", "path",
                                           "size",  "uid",        "uname"};
// They mean that the stored data is not the member's content.
constexpr std::string_view kChangingKeys[] = {"GNU.sparse.",     "GNU.volume.",     "GNU.dumpdir",
                                              "SCHILY.realsize", "SCHILY.filetype", "SCHILY.offset",
                                              "SCHILY.volhdr.",  "SUN.holesdata"};

struct PaxRecord {
  std::string_view key;
  std::string_view value;
  size_t bytes = 0;  // of the whole record
};

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Nothing if the text does not begin with a complete record.
std::optional<PaxRecord> first_record(std::string_view text) {
  const size_t space = text.substr(0, 21).find(' ');
  if (space == std::string_view::npos || !all_digits(text.substr(0, space))) return std::nullopt;
  const std::optional<int64_t> length = parse_i64(text.substr(0, space));
  if (!length || *length < static_cast<int64_t>(space) + 4 ||
      !extent_fits(0, *length, static_cast<int64_t>(text.size())))
    return std::nullopt;
  const auto bytes = static_cast<size_t>(*length);
  if (text[bytes - 1] != '\n') return std::nullopt;
  std::string_view body = text.substr(space + 1, bytes - space - 2);
  const size_t equals = body.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return PaxRecord{body.substr(0, equals), body.substr(equals + 1), bytes};
}

// Where a list of records is, for messages.
struct PaxText {
  const std::string& path;
  int64_t offset;
  bool global;

  template <typename... Parts>
  Status refuse(Code code, size_t at, const Parts&... parts) const {
    return error(code, path, ": offset ", offset + static_cast<int64_t>(at), ": pax record ", parts...);
  }

  Status check_key(size_t at, const PaxRecord& record) const {
    for (std::string_view changing : kChangingKeys) {
      if (!record.key.starts_with(changing)) continue;
      return refuse(Code::kUnsupported, at, printable(record.key),
                    ": sparse, split and incremental archives are not supported");
    }
    // POSIX reserves keys without a vendor prefix ("VENDOR."): an unknown one may change anything.
    const bool known =
        std::find(std::begin(kPosixKeys), std::end(kPosixKeys), record.key) != std::end(kPosixKeys);
    const size_t dot = record.key.find('.');
    if (known || (dot != std::string_view::npos && dot > 0)) return Status::ok();
    return refuse(Code::kUnsupported, at, printable(record.key), " is not known");
  }

  Status take(size_t at, const PaxRecord& record, PaxRecords& out) const {
    DL_RETURN_IF_ERROR(check_key(at, record));
    if (record.key == "hdrcharset" && record.value != "BINARY" && record.value != "ISO-IR 10646 2000 UTF-8") {
      return refuse(Code::kUnsupported, at, "'hdrcharset' is ", printable(record.value),
                    ", expected UTF-8 or BINARY");
    }
    const bool is_path = record.key == "path";
    if (!is_path && record.key != "size") return Status::ok();
    if (global) {
      return refuse(Code::kUnsupported, at, printable(record.key),
                    " in a global header: readers apply it differently");
    }
    if (is_path ? out.path.has_value() : out.size.has_value())
      return refuse(Code::kCorrupt, at, printable(record.key), " appears twice");
    if (is_path) return take_path(at, record, out);
    out.size = all_digits(record.value) ? parse_i64(record.value) : std::nullopt;
    if (!out.size)
      return refuse(Code::kCorrupt, at, "'size' is ", printable(record.value), ", expected a number");
    return Status::ok();
  }

  Status take_path(size_t at, const PaxRecord& record, PaxRecords& out) const {
    if (record.value.empty()) return refuse(Code::kCorrupt, at, "'path' is empty");
    if (record.value.find('\0') != std::string_view::npos)
      return refuse(Code::kCorrupt, at, "'path' contains a NUL byte");
    out.path = record.value;
    return Status::ok();
  }
};

}  // namespace

bool is_zero_block(const std::byte* block) {
  return block[0] == std::byte{0} && std::memcmp(block, block + 1, kTarBlockBytes - 1) == 0;
}

int64_t pax_records_bytes(std::string_view text) {
  size_t bytes = 0;
  while (const std::optional<PaxRecord> record = first_record(text.substr(bytes))) bytes += record->bytes;
  return static_cast<int64_t>(bytes);
}

Result<TarHeader> parse_tar_header(const std::string& path, int64_t offset, const std::byte* block) {
  DL_RETURN_IF_ERROR(check_sum(path, offset, block));
  DL_RETURN_IF_ERROR(check_magic(path, offset, block));
  for (const TarField& field : kOtherNumbers) {
    if (!number(text_of(block, field))) return read_number(path, offset, block, field).take_status();
  }
  TarHeader header;
  header.type = std::to_integer<char>(block[kTypeOffset]);
  DL_ASSIGN_OR_RETURN(header.bytes, read_number(path, offset, block, kSize));
  if (header.bytes < 0) return corrupt(path, offset, kSize, header.bytes, " is negative");
  header.name = until_nul(text_of(block, kName));
  header.prefix = until_nul(text_of(block, kPrefix));
  return header;
}

Result<PaxRecords> parse_pax(const std::string& path, int64_t offset, std::string_view text, bool global) {
  const PaxText list{path, offset, global};
  PaxRecords out;
  for (size_t at = 0; at < text.size();) {
    std::optional<PaxRecord> record = first_record(text.substr(at));
    if (!record) {
      return list.refuse(Code::kCorrupt, at, printable(text.substr(at)),
                         " is not of the form '<length> <key>=<value>'");
    }
    DL_RETURN_IF_ERROR(list.take(at, *record, out));
    at += record->bytes;
  }
  return out;
}

}  // namespace dataline
