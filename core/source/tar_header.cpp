// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar_header.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/source/first_bytes.h"

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
constexpr TarField kMagic{"magic", 257, 8};
constexpr TarField kPrefix{"prefix", 345, 155};
// Not used; checked because readers that do parse them end or fail where they are no numbers.
constexpr TarField kOtherNumbers[] = {{"mode", 100, 8},   {"uid", 108, 8},      {"gid", 116, 8},
                                      {"mtime", 136, 12}, {"devmajor", 329, 8}, {"devminor", 337, 8}};
constexpr size_t kTypeOffset = 156;

std::string_view text_of(const std::byte* block, const TarField& field) {
  return {reinterpret_cast<const char*>(block) + field.offset, field.bytes};
}

std::string_view upto_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

// Spaces, octal digits, then only spaces and NULs; nothing at all is 0.
std::optional<int64_t> octal(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  int64_t value = 0;  // 12 digits are 36 bits
  for (; at < text.size() && text[at] >= '0' && text[at] <= '7'; ++at) value = value * 8 + (text[at] - '0');
  for (; at < text.size(); ++at) {
    if (text[at] != ' ' && text[at] != '\0') return std::nullopt;
  }
  return value;
}

// GNU: a first byte of 0x80, then big-endian bytes; 0xff begins a negative number.
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
  return corrupt(path, offset, field, printable(text), " is no octal or base-256 number");
}

// The sum over the block with spaces in the place of the checksum; some old programs summed signed bytes.
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
                                      describe_first_bytes(Bytes(block, kFirstBytes)), ")")
                             : std::string());
}

// Before POSIX there was no magic and no prefix; GNU's keeps other things where the prefix would be.
Status check_magic(const std::string& path, int64_t offset, const std::byte* block) {
  std::string_view magic = text_of(block, kMagic);
  if (magic.starts_with(std::string_view("ustar\0", 6))) return Status::ok();
  const bool known =
      magic == std::string_view("ustar  \0", 8) || magic == std::string_view("\0\0\0\0\0\0\0\0", 8);
  if (!known) return corrupt(path, offset, kMagic, printable(magic), ", expected 'ustar'");
  std::string_view prefix = text_of(block, kPrefix);
  if (std::all_of(prefix.begin(), prefix.end(), [](char c) { return c == '\0'; })) return Status::ok();
  return error(Code::kUnsupported, path, ": offset ", offset + static_cast<int64_t>(kPrefix.offset),
               ": bytes after the device numbers of a header that is not POSIX's (tar --incremental, old "
               "sparse files): "
               "programs read them differently; write the archive anew with tar --format=pax");
}

}  // namespace

bool is_zero_block(const std::byte* block) {
  return block[0] == std::byte{0} && std::memcmp(block, block + 1, kTarBlockBytes - 1) == 0;
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
  header.name = upto_nul(text_of(block, kName));
  header.prefix = upto_nul(text_of(block, kPrefix));
  return header;
}

}  // namespace dataline
