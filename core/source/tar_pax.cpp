// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar_pax.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/first_bytes.h"

namespace dataline {
namespace {

constexpr std::string_view kPosixKeys[] = {"atime", "charset",    "comment",  "ctime", "gid",
                                           "gname", "hdrcharset", "linkpath", "mtime", "path",
                                           "size",  "uid",        "uname"};
// They say that the stored data is not the member's content.
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

// Nothing where the text does not begin with a whole record.
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

// One list of records, with its place for messages.
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
                    ": sparse, split and incremental archives are not read");
    }
    // POSIX keeps keys without a maker's name before a dot for itself: an unknown one may change anything.
    const bool known =
        std::find(std::begin(kPosixKeys), std::end(kPosixKeys), record.key) != std::end(kPosixKeys);
    const size_t dot = record.key.find('.');
    if (known || (dot != std::string_view::npos && dot > 0)) return Status::ok();
    return refuse(Code::kUnsupported, at, printable(record.key), " is not known");
  }

  Status take(size_t at, const PaxRecord& record, PaxRecords& out) const {
    DL_RETURN_IF_ERROR(check_key(at, record));
    if (record.key == "hdrcharset" && record.value != "BINARY" && record.value != "ISO-IR 10646 2000 UTF-8") {
      return refuse(Code::kUnsupported, at, "'hdrcharset' says ", printable(record.value),
                    ", names are UTF-8 or BINARY");
    }
    const bool is_path = record.key == "path";
    if (!is_path && record.key != "size") return Status::ok();
    if (global) {
      return refuse(Code::kUnsupported, at, printable(record.key),
                    " in a global header: readers apply it differently");
    }
    if (is_path ? out.path.has_value() : out.size.has_value())
      return refuse(Code::kCorrupt, at, printable(record.key), " is given twice");
    if (is_path) return take_path(at, record, out);
    out.size = all_digits(record.value) ? parse_i64(record.value) : std::nullopt;
    if (!out.size)
      return refuse(Code::kCorrupt, at, "'size' is ", printable(record.value), ", a number was expected");
    return Status::ok();
  }

  Status take_path(size_t at, const PaxRecord& record, PaxRecords& out) const {
    if (record.value.empty()) return refuse(Code::kCorrupt, at, "'path' is empty");
    if (record.value.find('\0') != std::string_view::npos)
      return refuse(Code::kCorrupt, at, "'path' holds a NUL byte");
    out.path = record.value;
    return Status::ok();
  }
};

}  // namespace

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
