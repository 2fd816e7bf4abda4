// Where the records of a CSV file are: one pass over the file, at open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/memory/mapped_file.h"
#include "core/source/adjacent_records.h"
#include "core/source/source.h"

namespace dataline {

// How the file is written.
struct CsvDialect {
  char delimiter = ',';
  bool header = true;  // the first record names the columns
  bool cut = false;    // a last record without its end is left out, also one that ends within quotes
};

struct CsvRecords {
  RecordEnds records;   // with their line ends, and blank lines before them; without the header
  int64_t longest = 0;  // bytes
  std::string header;   // the first record, if it names the columns, as it stands there
  int64_t cut_at = -1;  // where the record begins that was left out; -1: none
};

// kEmpty (no header), kUnsupported (UTF-16, UTF-32), kTruncated (a quote that is never closed), kTooLarge (a header of more than 8 MiB),
// kCancelled.
Result<CsvRecords> find_csv_records(const MappedFile& file, const CsvDialect& dialect,
                                    const OpenContext& context);

// A record without blank lines before it and without its line end.
std::string_view csv_record_text(std::string_view record, char delimiter);

}  // namespace dataline
