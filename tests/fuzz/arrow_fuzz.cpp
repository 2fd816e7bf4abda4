// Any bytes as an Arrow file or stream: the first chooses what nulls are and whether the file may be cut, the rest is the file. Refused
// by name, or every row is read in order or refused by name; what is mapped and what is read by pread is the same.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

std::vector<std::vector<std::string>> rows_of(const Source& source) {
  Rows rows(source);
  std::vector<std::vector<std::string>> out;
  for (const int64_t i : some_of(source.count())) {
    std::vector<std::string> columns;
    for (const std::string_view column : rows.read(i)) columns.emplace_back(column);
    out.push_back(std::move(columns));
  }
  return out;
}

void check_blocks(const Source& source) {
  BlockEnds ends;
  source.append_blocks(1 << 12, ends);
  check(source.count() == 0 ? ends.empty() : ends.back() == source.count(), "blocks hold each record");
  check(std::is_sorted(ends.begin(), ends.end()), "blocks follow each other");
  for (const int64_t i : some_of(source.count())) {
    static_cast<void>(source.cached(i));
    check(!source.place_of(i, 0).within.empty(), "a record has a place");
    check(source.record_items(i) >= -1, "a record has items, or says that it does not know");
  }
}

void run(std::string_view input) {
  static const Folder folder;
  if (input.empty()) return;
  const std::string path = folder.write("fuzz.arrow", input.substr(1));
  ArrowOptions options;
  if (byte_at(input, 0) % 2 == 1) options.fill = NullFill{1, 1};
  options.cut = byte_at(input, 0) / 2 % 2 == 1;
  Result<SourceRef> opened = open_arrow(path, options, context());
  if (!opened.is_ok()) return check_names(opened.status(), folder.path("fuzz.arrow"));
  if (has_huge_rows(*opened.value())) return;
  const Result<SourceRef> read = open_arrow(path, options, context(IoMode::kPread));
  check(read.is_ok(), "what is mapped can be read");
  check(read.value()->count() == opened.value()->count(), "as many rows");
  if (has_huge_rows(*read.value())) return;
  check(rows_of(*opened.value()) == rows_of(*read.value()), "mapped rows are those that are read");
  check_blocks(*opened.value());
}

const Target kTarget("arrow", run);

}  // namespace
}  // namespace dataline::fuzz
