// SPDX-License-Identifier: Apache-2.0
#include "core/source/text_encoding.h"

#include <algorithm>
#include <array>

namespace dataline {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr size_t kSeenBytes = 4;  // the longest mark, or the first character of UTF-32

// "" for what may be UTF-8.
std::string_view foreign_encoding(std::string_view start) {
  using namespace std::string_view_literals;
  // The marks of UTF-32 come first: the little-endian one begins with that of UTF-16.
  if (start.starts_with("\xff\xfe\0\0"sv) || start.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (start.starts_with("\xff\xfe"sv) || start.starts_with("\xfe\xff"sv)) return "UTF-16";
  if (start.size() < kSeenBytes) return "";
  // Without a mark: the first characters of CSV and JSON are ASCII, where zero bytes show how wide a character is.
  std::string zeros;
  for (const char c : start.substr(0, kSeenBytes)) zeros += c == '\0' ? '0' : 'x';
  if (zeros == "000x") return "UTF-32BE";
  if (zeros == "x000") return "UTF-32LE";
  if (zeros == "0x0x") return "UTF-16BE";
  return zeros == "x0x0" ? "UTF-16LE" : "";
}

}  // namespace

Status check_encoding(const std::string& name, std::string_view start) {
  const std::string_view encoding = foreign_encoding(start);
  if (encoding.empty()) return Status::ok();
  return error(Code::kUnsupported, name, ": offset 0: ", encoding, ", expected UTF-8 (iconv -f ", encoding,
               " -t UTF-8 converts it)");
}

Result<std::string_view> utf8_text(const std::string& name, std::string_view text) {
  DL_RETURN_IF_ERROR(check_encoding(name, text));
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

Result<int64_t> bytes_before_text(const MappedFile& file) {
  std::array<char, kSeenBytes> start{};
  const int64_t count = std::min(file.bytes(), std::ssize(start));
  DL_RETURN_IF_ERROR(file.read(0, count, reinterpret_cast<std::byte*>(start.data())));
  const std::string_view text(start.data(), static_cast<size_t>(count));
  DL_ASSIGN_OR_RETURN(const std::string_view rest, utf8_text(file.path(), text));
  return static_cast<int64_t>(text.size() - rest.size());
}

}  // namespace dataline
