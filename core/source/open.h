// Opening a dataset by its URI.
//
// Formats are rows of one table (formats.cpp): a later format joins by adding one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

// Opens `scheme:path[,path...][?key=value&...]` or a bare path, whose format is found from its content, then
// its suffix. A directory stands for its files of that format in natural order; several paths are
// concatenated, named paths zipped. Reads headers only, but for .gz files and io=memory. The cancel token is
// looked at between files; opening many is told to the log (kProgress).
//
// kBadUri with column: the text, an unknown scheme or key, a value, a key that is missing. kUnsupported: a file of a
// known kind that is not read. kEmpty: a directory without files of the format. kCancelled. Else what the
// readers say.
Result<SourceRef> open_source(std::string_view uri, const OpenContext& context);

}  // namespace dataline
