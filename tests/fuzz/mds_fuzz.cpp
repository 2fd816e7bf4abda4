// Any bytes as a shard of MDS, then its index: the first two bytes are where they part. Refused by name, or each sample's columns fill the
// sample, the same from a mapped file and by reads.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"

namespace dataline::fuzz {
namespace {

void check_samples(const Source& mapped, const Source& read) {
  check(mapped.count() == read.count(), "as many samples however they are read");
  Rows first(mapped), second(read);
  for (const int64_t sample : some_of(mapped.count())) {
    const auto a = first.read(sample), b = second.read(sample);
    check(a == b, "a sample is the same however it is read");
    for (size_t f = 0; f < a.size(); ++f) {
      const Field& field = mapped.schema().fields[f];
      if (field.kind == FieldKind::kRagged)
        check(a[f].size() % static_cast<size_t>(field.item_bytes()) == 0, "whole values");
    }
  }
}

}  // namespace
}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(input) + 2, size - 2);
  const size_t shard = std::min(rest.size(), static_cast<size_t>(input[0] << 8 | input[1]));
  folder.write("s.mds", rest.substr(0, shard));
  const std::string uri = "mds:" + folder.write("index.json", rest.substr(shard));
  Result<SourceRef> mapped = open_source(uri, fuzz::context(IoMode::kMmap));
  Result<SourceRef> read = open_source(uri, fuzz::context(IoMode::kPread));
  fuzz::check(mapped.is_ok() == read.is_ok(), "opened however it is read");
  if (!mapped.is_ok()) {
    fuzz::check_names(mapped.status(), folder.path(""));
    return 0;
  }
  fuzz::check_samples(*mapped.value(), *read.value());
  return 0;
}
