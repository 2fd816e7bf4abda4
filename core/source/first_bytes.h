// Words about a file for messages: what one of another format starts with (the commonest are known), and
// text that came from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/memory/mapped_file.h"

namespace dataline {

constexpr int64_t kFirstBytes = 48;  // enough to know a git-LFS pointer

// "a git-LFS pointer, not the data (git lfs pull fetches it)", "a zip archive", ... or the first bytes
// themselves: "bytes 89 50 4e 47". "an empty file" when there are none.
std::string describe_first_bytes(Bytes first);
std::string describe_first_bytes(const MappedFile& file);

// Text from a file, quoted, fit for a one-line message: at most 40 bytes, '?' for what is not ASCII.
std::string printable(std::string_view text);

}  // namespace dataline
