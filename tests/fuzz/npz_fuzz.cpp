// Any bytes as an .npz archive: refused by name, or every way of reading gives the same samples, and those of stored arrays
// are the bytes where the archive is said to have them.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/base/text.h"
#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kMostRowBytes = 1 << 16;

bool gathered_or_swapped(const Source& source) {
  for (const std::string& note : source.info().notes) {
    if (note.find("swapped") != std::string::npos || note.find("Fortran") != std::string::npos) return true;
  }
  return false;
}

// "array 'x', record 3, offset 200": 200, and nothing for what was inflated.
std::optional<size_t> stored_at(const Source& source, int64_t index, size_t column) {
  const std::string within = source.place_of(index, column).within;
  const size_t at = within.rfind(", offset ");
  if (at == std::string::npos) return std::nullopt;
  const std::optional<int64_t> offset = parse_i64(std::string_view(within).substr(at + 9));
  return offset ? std::optional(static_cast<size_t>(*offset)) : std::nullopt;
}

// All looked-at samples, one after another; nothing: refused.
std::optional<std::string> samples(const std::string& path, std::string_view bytes, std::string_view keys,
                                   IoMode io) {
  Result<SourceRef> opened = open_source(concat("npz:", path, keys), context(io));
  if (!opened.is_ok()) {
    check_names(opened.status(), path);
    return std::nullopt;
  }
  const Source& source = *opened.value();
  const bool as_stored = !gathered_or_swapped(source);
  int64_t row_bytes = 0;
  for (const Column& column : source.schema().columns) {
    check(column.row_bytes > 0, "a sample of an array has bytes");
    row_bytes += std::min(column.row_bytes, kMostRowBytes);
  }
  std::string out = std::to_string(source.count());
  if (row_bytes > kMostRowBytes) return out;
  Rows rows(source);
  for (const int64_t index : some_of(source.count())) {
    const auto got = rows.read(index);
    check(got.size() == source.schema().columns.size(), "a sample is read");
    for (size_t c = 0; c < got.size(); ++c) {
      out += got[c];
      const std::optional<size_t> at = as_stored ? stored_at(source, index, c) : std::nullopt;
      if (!at) continue;
      check(*at <= bytes.size() && bytes.substr(*at, got[c].size()) == got[c],
            "a sample is the stored bytes");
    }
  }
  return out;
}

void run(std::string_view bytes) {
  static const Folder folder;
  const std::string path = folder.write("fuzz.npz", bytes);
  for (const char* keys : {"", "?rows=false&dtype=bf16"}) {
    const auto mapped = samples(path, bytes, keys, IoMode::kMmap);
    for (IoMode io : {IoMode::kPread, IoMode::kMemory})
      check(samples(path, bytes, keys, io) == mapped, "every way of reading gives the same");
  }
}

const Target kTarget("npz", run);

}  // namespace
}  // namespace dataline::fuzz
