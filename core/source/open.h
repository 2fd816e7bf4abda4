// Opening a dataset by its URI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/memory/mapped_file.h"
#include "core/source/format.h"
#include "core/source/source.h"

namespace dataline {

// Opens `scheme:path[,path...][?key=value&...]` or a bare path, whose format is detected from content, then suffix. A
// directory stands for its files of that format, in natural order. Several paths are concatenated, named paths zipped.
// Reads headers only, except for .gz files and io=memory. Checks the cancel token between files, and reports progress
// (OpenContext::progress), of which the log is told when it takes long.
//
// kBadUri with column: bad syntax, an unknown scheme or key, a bad value, a missing key. kUnsupported: a known kind of file
// that is not read. kEmpty: a directory without files of the format. kCancelled. Otherwise the format's own errors.
// `known`: the formats that a scheme or a file may have.
Result<SourceRef> open_source(std::string_view uri, const OpenContext& context, FormatSpan known = formats());

}  // namespace dataline
