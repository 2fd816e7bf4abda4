// SPDX-License-Identifier: Apache-2.0
#include "core/source/npy/npy_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr int64_t kVersionOffset = 6;
constexpr int64_t kLengthOffset = 8;

// Array-protocol letter and item size, as in '<f4'.
struct TypeName {
  char letter;
  int64_t bytes;
  DType dtype;
};

constexpr TypeName kNpyTypes[] = {
    TypeName{'b', 1, DType::kBool}, TypeName{'u', 1, DType::kU8},   TypeName{'u', 2, DType::kU16},
    TypeName{'u', 4, DType::kU32},  TypeName{'u', 8, DType::kU64},  TypeName{'i', 1, DType::kI8},
    TypeName{'i', 2, DType::kI16},  TypeName{'i', 4, DType::kI32},  TypeName{'i', 8, DType::kI64},
    TypeName{'f', 2, DType::kF16},  TypeName{'f', 4, DType::kF32},  TypeName{'f', 8, DType::kF64},
    TypeName{'c', 8, DType::kC64},  TypeName{'c', 16, DType::kC128}};

// The extent of the header's text in the file.
struct TextExtent {
  int64_t offset;
  int64_t bytes;
};

// Array-protocol letters of types that are not read, and why.
struct Unread {
  std::string_view letters, why;
};

constexpr Unread kUnread[] = {{"SaU", "is text, which is not supported in npy files"},
                              {"Mm", "is a date or a time span; save it as i8 (view('i8'))"},
                              {"V", "is void; dtype=bf16 reads 2-byte void as bf16"},
                              {"buifc", "has an unsupported size (longdouble?)"}};

constexpr int64_t kNoSize = -1;

// The size in '<f4'; kNoSize if it is missing or has a sign or a leading zero.
int64_t type_bytes(std::string_view digits) {
  if (digits.starts_with('-') || (digits.size() > 1 && digits[0] == '0')) return kNoSize;
  return parse_i64(digits).value_or(kNoSize);
}

Status set_type(const std::string& at, NpyRules::Void2 void2, NpyHeader& header) {
  std::string_view type = header.descr;
  char order = '=';
  if (!type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos) {
    order = type[0];
    type.remove_prefix(1);
  }
  char letter = type.empty() ? '\0' : type[0];
  int64_t bytes = type.empty() ? kNoSize : type_bytes(type.substr(1));
  if (type == "?") letter = 'b', bytes = 1;
  std::string subject = concat(at, "npy type ", printable(header.descr));
  if (void2 != NpyRules::Void2::kRefuse && letter == 'V' && bytes == 2) {
    header.dtype = DType::kBf16;
    return Status::ok();
  }
  if (void2 == NpyRules::Void2::kOnlyBf16)
    return error(Code::kBadUri, subject, ": dtype=bf16 reads 'V2' only");
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  for (const TypeName& known : kNpyTypes) {
    if (known.letter != letter || bytes != known.bytes) continue;
    header.dtype = known.dtype;
    header.swapped = order == kForeign && known.bytes > 1;
    return Status::ok();
  }
  const auto unread = std::find_if(std::begin(kUnread), std::end(kUnread), [&](const Unread& one) {
    return one.letters.find(letter) != std::string_view::npos;
  });
  bool sized = bytes != kNoSize || letter == 'M' || letter == 'm';  // a unit follows these: M8[ns]
  if (unread == std::end(kUnread) || !sized)
    return error(Code::kCorrupt, subject, " is not a type such as '<f4'");
  return error(Code::kUnsupported, subject, " ", unread->why);
}

// Reads up to `out.size()` bytes from the start; fewer if the array has fewer.
Result<size_t> read_start(const NpyExtent& extent, std::span<std::byte> out) {
  int64_t count = std::min(extent.end - extent.begin, static_cast<int64_t>(out.size()));
  DL_RETURN_IF_ERROR(extent.file.read(extent.begin, count, out.data()));
  return static_cast<size_t>(count);
}

// `offset` is in the file.
Status need(const NpyExtent& extent, int64_t offset, int64_t bytes, std::string_view what) {
  if (extent_fits(offset, bytes, extent.end)) return Status::ok();
  return error(Code::kTruncated, extent.name, ": offset ", offset, ": ", what, " needs ", bytes,
               " bytes, the ", extent.container, " has ", std::max<int64_t>(extent.end - offset, 0));
}

Result<TextExtent> find_text(const NpyExtent& extent) {
  std::array<std::byte, kDescribedBytes> start{};
  DL_ASSIGN_OR_RETURN(size_t got, read_start(extent, start));
  std::string_view magic(reinterpret_cast<const char*>(start.data()), std::min(got, kNpyMagic.size()));
  if (magic != kNpyMagic.substr(0, magic.size())) {
    return error(Code::kCorrupt, extent.name, ": offset ", extent.begin,
                 ": not an npy file: expected \\x93NUMPY, got ",
                 describe_first_bytes(Bytes(start).first(got)));
  }
  const int64_t version_offset = extent.begin + kVersionOffset, length_offset = extent.begin + kLengthOffset;
  DL_RETURN_IF_ERROR(need(extent, extent.begin, kLengthOffset, "npy magic and version"));
  auto major = std::to_integer<int32_t>(start[kVersionOffset]);
  auto minor = std::to_integer<int32_t>(start[kVersionOffset + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return error(Code::kUnsupported, extent.name, ": offset ", version_offset, ": npy version ", major, ".",
                 minor, ", expected 1.0, 2.0 or 3.0");
  }
  int64_t length_bytes = major == 1 ? 2 : 4;
  DL_RETURN_IF_ERROR(need(extent, length_offset, length_bytes, "header length"));
  int64_t text_bytes = major == 1 ? int64_t{load_little<uint16_t>(start.data() + kLengthOffset)}
                                  : int64_t{load_little<uint32_t>(start.data() + kLengthOffset)};
  int64_t text_offset = length_offset + length_bytes;
  DL_RETURN_IF_ERROR(need(extent, text_offset, text_bytes, "header"));
  if (text_bytes > kMaxNpyHeaderBytes) {
    return error(Code::kTooLarge, extent.name, ": offset ", length_offset, ": npy header of ", text_bytes,
                 " bytes, at most ", kMaxNpyHeaderBytes, " are supported");
  }
  return TextExtent{text_offset, text_bytes};
}

}  // namespace

Result<NpyHeader> read_npy_header(const NpyExtent& extent, const NpyRules& rules) {
  DL_ASSIGN_OR_RETURN(TextExtent found, find_text(extent));
  std::string text(static_cast<size_t>(found.bytes), '\0');
  DL_RETURN_IF_ERROR(extent.file.read(found.offset, found.bytes, reinterpret_cast<std::byte*>(text.data())));
  DL_ASSIGN_OR_RETURN(NpyHeader header, parse_npy_text(extent.name, found.offset, text));
  header.data_offset = found.offset + found.bytes;
  std::string at = concat(extent.name, ": offset ", found.offset, ": ");
  DL_RETURN_IF_ERROR(set_type(at, rules.void2, header));
  if (header.shape.empty() && !rules.zero_dims) {
    return error(Code::kUnsupported, at, "a 0-d npy array has no first axis to take samples from");
  }
  if (static_cast<int64_t>(header.shape.size()) > kMaxRank) {
    return error(Code::kUnsupported, at, "npy array of ", header.shape.size(), " dims, at most ", kMaxRank,
                 " are supported");
  }
  return header;
}

Result<NpyHeader> read_npy_header(const MappedFile& file, bool void2_as_bf16) {
  NpyRules rules;
  if (void2_as_bf16) rules.void2 = NpyRules::Void2::kOnlyBf16;
  return read_npy_header({file, 0, file.bytes(), file.path()}, rules);
}

}  // namespace dataline
