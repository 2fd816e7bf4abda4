// Any bytes as JSON lines: the first chooses the fields. Refused by name, or each line is a sample or a bad one that names its line,
// the same from a mapped file and by reads, and text is UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"

namespace dataline::fuzz {
namespace {

constexpr std::string_view kKeys[] = {"", "?nulls=fill(1)", "?fields=a:text",
                                      "?fields=a:u8,m/b:f32[2],t:text&nulls=fill(0)",
                                      "?fields=n:i64[],f:f64,b:bool"};

void check_rows(const Source& mapped, const Source& read) {
  check(mapped.count() == read.count(), "as many lines however they are read");
  Rows first(mapped), second(read);
  for (const int64_t line : some_of(mapped.count())) {
    const auto a = first.read(line), b = second.read(line);
    check(a == b, "a line is the same however it is read");
    for (size_t f = 0; f < a.size(); ++f) {
      const Field& field = mapped.schema().fields[f];
      if (field.kind == FieldKind::kRagged && field.dtype != DType::kU8)
        check(a[f].size() % static_cast<size_t>(dtype_bytes(field.dtype)) == 0, "whole values");
      if (field.name == "t") check(!find_no_utf8(a[f]).has_value(), "text is UTF-8");
    }
  }
}

}  // namespace
}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 1) return 0;
  const std::string path = folder.write("fuzz.jsonl", {reinterpret_cast<const char*>(input) + 1, size - 1});
  const std::string uri = "jsonl:" + path + std::string(fuzz::kKeys[input[0] % std::size(fuzz::kKeys)]);
  Result<SourceRef> mapped = open_source(uri, fuzz::context(IoMode::kMmap));
  Result<SourceRef> read = open_source(uri, fuzz::context(IoMode::kPread));
  fuzz::check(mapped.is_ok() == read.is_ok(), "opened however it is read");
  if (!mapped.is_ok()) {
    if (mapped.status().code() != Code::kBadUri) fuzz::check_names(mapped.status(), "fuzz.jsonl");
    return 0;
  }
  fuzz::check_rows(*mapped.value(), *read.value());
  return 0;
}
