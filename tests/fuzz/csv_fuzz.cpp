// Any bytes as CSV. Refused by name, or each record is a sample or a bad one, the same from a mapped file and by reads, and text is
// UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"

namespace dataline::fuzz {
namespace {

constexpr std::string_view kKeys[] = {"", "?nulls=fill(1)", "?fields=t:text",
                                      "?header=false&delimiter=semicolon",
                                      "?fields=t:text,a:f32[2],b:bool&nulls=fill(0)"};

void check_rows(const Source& mapped, const Source& read) {
  check(mapped.count() == read.count(), "as many records however they are read");
  Rows first(mapped), second(read);
  for (const int64_t record : some_of(mapped.count())) {
    const auto a = first.read(record), b = second.read(record);
    check(a == b, "a record is the same however it is read");
    for (size_t f = 0; f < a.size(); ++f) {
      if (mapped.schema().fields[f].kind == FieldKind::kRagged)
        check(!find_no_utf8(a[f]).has_value(), "text is UTF-8");
    }
  }
}

}  // namespace
}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 1) return 0;
  const std::string path = folder.write("fuzz.csv", {reinterpret_cast<const char*>(input) + 1, size - 1});
  const std::string uri = "csv:" + path + std::string(fuzz::kKeys[input[0] % std::size(fuzz::kKeys)]);
  Result<SourceRef> mapped = open_source(uri, fuzz::context(IoMode::kMmap));
  Result<SourceRef> read = open_source(uri, fuzz::context(IoMode::kPread));
  fuzz::check(mapped.is_ok() == read.is_ok(), "opened however it is read");
  if (!mapped.is_ok()) {
    if (mapped.status().code() != Code::kBadUri) fuzz::check_names(mapped.status(), "fuzz.csv");
    return 0;
  }
  fuzz::check_rows(*mapped.value(), *read.value());
  return 0;
}
