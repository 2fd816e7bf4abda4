// Where a record lies, for messages about a sample that is bad: the file of a folder, member and offset in a tar, record
// and offset in a file of records, the row of an array.
//
// Threads: values, externally synchronized.
// Cost: asked only when a sample is bad; it may read a header and allocates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/row_errors.h"

namespace dataline {

class Source;
struct Run;

struct Place {
  std::string path;  // of the file; empty where there is none
  std::string
      within;  // "record 7, offset 1024", "member n01/7.jpg, offset 512", "array row 7"; empty: the whole file
};

// A place is at most so many bytes of a message, so that the cause has room beside it in dl_bad_sample too.
constexpr size_t kMaxPlaceBytes = 176;

// The end of a text that is too long, after "...": of a path, the name of the file. Whole characters of UTF-8.
std::string tail_of(std::string_view text, size_t most_bytes);

// "PATH: WITHIN" in at most kMaxPlaceBytes; of a long path its end.
std::string place_text(const Place& place);

// After locate(): its errors name their file themselves; of a path too long for a message they keep its end.
void shorten_places(const Source& source, const Run& run);
// After a program has run over a column: its errors from `first` on are put behind the place of their record.
void name_places(const Source& source, const Run& run, size_t column, size_t first);

}  // namespace dataline
