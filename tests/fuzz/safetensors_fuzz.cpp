// Any bytes as a .safetensors file: refused by name, or its tensors, in their order, are all of its data.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

// Where the first tensor begins.
size_t data_offset(std::string_view bytes) {
  check(bytes.size() >= 10, "an accepted file has a header");
  const uint64_t length = number_at(bytes, 0, 8, false);
  check(length <= bytes.size() - 8, "the header lies in the file");
  return 8 + length;
}

void check_tensors(const std::string& path, std::string_view bytes, bool rows, IoMode io) {
  Result<SourceRef> opened =
      open_source(concat("safetensors:", path, "?rows=", rows ? "true" : "false"), context(io));
  if (!opened.is_ok()) return check_names(opened.status(), path);
  const Source& source = *opened.value();
  const std::string_view data = bytes.substr(data_offset(bytes));
  std::vector<size_t> begins;
  size_t end = 0;
  for (const Column& column : source.schema().columns) {
    begins.push_back(end);
    check(column.row_bytes > 0, "a sample of a tensor has bytes");
    end += static_cast<size_t>(column.row_bytes * source.count());
  }
  check(rows || source.count() == 1, "the file is one sample");
  check(end == data.size(), "the tensors are all of the data");
  if (data.size() > 1 << 16) return;
  Rows read(source);
  for (const int64_t index : some_of(source.count())) {
    const auto got = read.read(index);
    check(got.size() == begins.size(), "a sample is read");
    for (size_t f = 0; f < got.size(); ++f) {
      const size_t at = begins[f] + static_cast<size_t>(index) * got[f].size();
      check(got[f] == data.substr(at, got[f].size()), "a sample is the stored bytes");
    }
  }
}

void run(std::string_view bytes) {
  static const Folder folder;
  const std::string path = folder.write("fuzz.safetensors", bytes);
  for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    for (const bool rows : {true, false}) check_tensors(path, bytes, rows, io);
  }
}

const Target kTarget("safetensors", run);

}  // namespace
}  // namespace dataline::fuzz
