// The extended headers of a tar archive (pax, typeflags x and g): records `<length> <key>=<value>\n`.
//
// Source: POSIX.1-2017, pax, "pax Extended Header".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// What of a record list matters to a reader of members. It wins over the header that follows.
struct PaxRecords {
  std::optional<std::string_view> path;  // into the text
  std::optional<int64_t> size;
};

// `offset` is that of text[0] in the file. kCorrupt: a list that is not wholly records, a path or size given twice,
// empty, or no number. kUnsupported, by name: keys that change what a member is (sparse files), keys that POSIX keeps
// for itself and this reader does not know, a path or size in a global (g) header, which readers apply differently.
// Keys of other makers (`SCHILY.xattr.user.x`) are passed over.
Result<PaxRecords> parse_pax(const std::string& path, int64_t offset, std::string_view text, bool global);

}  // namespace dataline
