// Any bytes as an index of Megatron-LM: the first two choose how many bytes of data lie beside it and how documents are packed,
// the rest is the index. Refused by name, or the documents are the stored tokens, as many as the index says by a second
// reading of it, and packed rows hold each token once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/source/open.h"
#include "core/source/packing/packing.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kMaxDocuments = 4096;  // of those that are packed

// Data in which every byte tells its place.
std::string data_of(size_t bytes) {
  std::string data(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 131 + i / 256);
  return data;
}

size_t width_of(uint64_t code) {
  constexpr size_t kWidths[] = {0, 1, 1, 2, 4, 8, 0, 0, 2};
  check(code < std::size(kWidths) && kWidths[code] > 0, "the tokens of an accepted index are integers");
  return kWidths[code];
}

// Where each document ends in the data, by the definition of the format.
std::vector<uint64_t> ends_in(std::string_view index) {
  const uint64_t sequences = number_at(index, 18, 8, false), documents = number_at(index, 26, 8, false);
  const size_t width = width_of(number_at(index, 17, 1, false));
  check(index.size() >= 34 + sequences * 12 + documents * 8, "an accepted index is whole");
  std::vector<uint64_t> begins = {0};
  for (size_t s = 0; s < sequences; ++s) {
    check(number_at(index, 34 + sequences * 4 + s * 8, 8, false) == begins.back(),
          "a sequence follows the one before it");
    begins.push_back(begins.back() + number_at(index, 34 + s * 4, 4, false) * width);
  }
  std::vector<uint64_t> ends;
  for (size_t d = 1; d < documents; ++d)
    ends.push_back(begins.at(number_at(index, 34 + sequences * 12 + d * 8, 8, false)));
  return ends;
}

void check_documents(const Source& source, std::string_view index, std::string_view data) {
  const std::vector<uint64_t> ends = ends_in(index);
  check(source.count() == static_cast<int64_t>(ends.size()), "as many documents as the index says");
  check((ends.empty() ? 0 : ends.back()) == data.size(), "the documents are all of the data");
  Rows rows(source);
  for (const int64_t d : some_of(source.count())) {
    const uint64_t begin = d == 0 ? 0 : ends[static_cast<size_t>(d - 1)];
    const auto got = rows.read(d);
    check(got.size() == 1 && got[0] == data.substr(begin, ends[static_cast<size_t>(d)] - begin),
          "a document is the stored tokens");
  }
}

void check_rows(SourceRef source, uint8_t choice, std::string_view data) {
  if (source->count() > kMaxDocuments) return;
  const auto width = static_cast<size_t>(dtype_bytes(source->schema().fields[0].dtype));
  PackOptions options{.length = 1 + choice % 31};
  if (choice >= 128)
    options = {.length = 1 + choice % 31, .method = PackMethod::kBestFit, .window = 1 + choice % 7};
  const SourceRef packed = pack_source(source, options, context()).take();
  Rows rows(*packed);
  std::vector<std::string> got, stored;
  for (int64_t r = 0; r < packed->count(); ++r) {
    const auto row = rows.read(r);
    check(row.size() == 5, "a row is read");
    for (size_t t = 0; t < static_cast<size_t>(options.length); ++t) {
      if (number_at(row[2], t * 4, 4, false) != 0) got.emplace_back(row[0].substr(t * width, width));
    }
  }
  for (size_t at = 0; at < data.size(); at += width) stored.emplace_back(data.substr(at, width));
  std::sort(got.begin(), got.end());
  std::sort(stored.begin(), stored.end());
  check(got == stored, "packed rows hold each token once");
}

void run(std::string_view input) {
  static const Folder folder;
  if (input.size() < 2) return;
  const std::string data = data_of(byte_at(input, 0) * size_t{2});
  const std::string_view index = input.substr(2);
  folder.write("fuzz.bin", data);
  const std::string path = folder.write("fuzz.idx", index);
  Result<SourceRef> opened = open_source("megatron:" + path, context());
  if (!opened.is_ok()) return check_names(opened.status(), folder.path("fuzz."));
  check_documents(*opened.value(), index, data);
  check_rows(opened.value(), byte_at(input, 1), data);
}

const Target kTarget("megatron", run);

}  // namespace
}  // namespace dataline::fuzz
