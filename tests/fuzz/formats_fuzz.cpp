// Formats that are opened from a mapped file and by reads: both refuse the bytes and name the file, or both return the same records. Ragged
// fields hold complete values, and those of text formats are UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

enum class RaggedU8 { kBytes, kText };  // text is UTF-8

void check_records(const Source& mapped, const Source& read, RaggedU8 ragged) {
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
void open_both_ways(const std::string& uri, std::string_view name, RaggedU8 ragged) {
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

const Folder& folder() {
  static const Folder made;
  return made;
}

// The first byte chooses the keys, the rest is the file.
template <size_t kCount>
Target text_format(const char* scheme, const std::string_view (&keys)[kCount]) {
  return Target(scheme, [scheme, &keys](std::string_view input) {
    if (input.empty()) return;
    const std::string name = concat("fuzz.", scheme);
    const std::string path = folder().write(name, input.substr(1));
    open_both_ways(concat(scheme, ":", path, keys[byte_at(input, 0) % kCount]), name, RaggedU8::kText);
  });
}

// The first two bytes are where the file ends and its index begins.
Target indexed_format(const char* scheme, const char* file) {
  return Target(scheme, [scheme, file](std::string_view input) {
    if (input.size() < 2) return;
    const std::string_view rest = input.substr(2);
    const size_t end = std::min<size_t>(rest.size(), number_at(input, 0, 2, true));
    folder().write(file, rest.substr(0, end));
    const std::string uri = concat(scheme, ":", folder().write("index.json", rest.substr(end)));
    open_both_ways(uri, folder().path(""), RaggedU8::kBytes);
  });
}

constexpr std::string_view kCsv[] = {"", "?nulls=fill(1)", "?fields=t:text",
                                     "?header=false&delimiter=semicolon",
                                     "?fields=t:text,a:f32[2],b:bool&nulls=fill(0)"};
constexpr std::string_view kJsonl[] = {"", "?nulls=fill(1)", "?fields=a:text",
                                       "?fields=a:u8,m/b:f32[2],t:text&nulls=fill(0)",
                                       "?fields=n:i64[],f:f64,b:bool"};

const Target kTargets[] = {text_format("csv", kCsv), text_format("jsonl", kJsonl),
                           indexed_format("mds", "s.mds"), indexed_format("litdata", "c.bin")};

}  // namespace
}  // namespace dataline::fuzz
