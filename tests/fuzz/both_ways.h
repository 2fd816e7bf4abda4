// A URI opened from a mapped file and by reads: refused both ways, or the same records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"

namespace dataline::fuzz {

enum class RaggedU8 { kBytes, kText };  // text is UTF-8

inline void check_records(const Source& mapped, const Source& read, RaggedU8 ragged) {
  check(mapped.count() == read.count(), "as many records however they are read");
  Rows first(mapped), second(read);
  for (const int64_t record : some_of(mapped.count())) {
    const auto a = first.read(record), b = second.read(record);
    check(a == b, "a record is the same however it is read");
    for (size_t f = 0; f < a.size(); ++f) {
      const Field& field = mapped.schema().fields[f];
      if (field.kind != FieldKind::kRagged) continue;
      check(a[f].size() % static_cast<size_t>(field.item_bytes()) == 0, "whole values");
      if (field.dtype == DType::kU8 && ragged == RaggedU8::kText)
        check(!find_no_utf8(a[f]).has_value(), "text is UTF-8");
    }
  }
}

// `name`: of the file, which a refusal names.
inline void open_both_ways(const std::string& uri, std::string_view name, RaggedU8 ragged) {
  const Result<SourceRef> mapped = open_source(uri, context(IoMode::kMmap));
  const Result<SourceRef> read = open_source(uri, context(IoMode::kPread));
  check(mapped.is_ok() == read.is_ok(), "opened however it is read");
  if (mapped.is_ok()) {
    if (has_huge_rows(*mapped.value()) || has_huge_rows(*read.value())) return;
    check_records(*mapped.value(), *read.value(), ragged);
  } else if (mapped.status().code() != Code::kBadUri) {
    check_names(mapped.status(), name);
  }
}

}  // namespace dataline::fuzz
