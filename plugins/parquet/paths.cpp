// The files that a path of a URI stands for.
// SPDX-License-Identifier: Apache-2.0
#include "paths.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace dataline_parquet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffixes[] = {".parquet", ".parq", ".pq"};

// The library's rule for names in directories (dl_format.suffixes; guide: Directories): suffixes ignore case, hidden names
// and __MACOSX are left out. The library reports the other files.
bool is_member(std::string_view name) {
  if (name.front() == '.' || name == "__MACOSX") return false;
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
    return name.size() > suffix.size() &&
           std::equal(suffix.begin(), suffix.end(), name.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                      [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b); });
  });
}

// Natural order: runs of digits by their value, so that part-2 is before part-10.
bool is_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[j]);
      ++i, ++j;
      continue;
    }
    size_t m = i, n = j;
    while (m < a.size() && a[m] == '0') ++m;
    while (n < b.size() && b[n] == '0') ++n;
    size_t p = m, q = n;
    while (p < a.size() && is_digit(a[p])) ++p;
    while (q < b.size() && is_digit(b[q])) ++q;
    if (p - m != q - n) return p - m < q - n;
    const int order = a.compare(m, p - m, b, n, q - n);
    if (order != 0) return order < 0;
    i = p, j = q;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace

Failure files_of(const std::string& path, std::vector<std::string>& out) {
  std::error_code fault;
  if (path.find("://") != std::string::npos || !fs::is_directory(path, fault)) {
    out.push_back(path);
    return {};
  }
  std::vector<std::string> names;
  size_t seen = 0;
  for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault), ++seen) {
    const std::string name = at->path().filename().string();
    if (is_member(name) && !at->is_directory()) names.push_back(name);
  }
  if (fault) return failure(DL_ERR_IO, path, ": ", fault.message());
  if (names.empty()) {
    return failure(DL_ERR_EMPTY, path, ": no parquet files (*.parquet, *.parq, *.pq) among the ", seen,
                   " entries of this directory");
  }
  std::sort(names.begin(), names.end(), is_before);
  for (const std::string& name : names) out.push_back((fs::path(path) / name).string());
  return {};
}

}  // namespace dataline_parquet
