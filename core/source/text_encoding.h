// The encoding of text files: UTF-8, with or without a byte order mark. Others are refused by name.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

// `start`: the first bytes of the text, or all of it. kUnsupported names UTF-16 and UTF-32, by their byte order marks, or
// by the zero bytes among the first four.
Status check_encoding(const std::string& name, std::string_view start);
// The text without the byte order mark of UTF-8. Errors: those of check_encoding().
Result<std::string_view> utf8_text(const std::string& name, std::string_view text);
// The bytes before the text of a file: 3 for the byte order mark of UTF-8, or 0. Errors: those of check_encoding(), and of
// the read.
Result<int64_t> bytes_before_text(const MappedFile& file);

}  // namespace dataline
