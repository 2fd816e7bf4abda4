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

constexpr int kMaxDepth = 64;  // of subdirectories: a link may lead back

// The library's rule for names in directories (dl_format.suffixes; guide: Directories), and pyarrow's for underscores: files
// of metadata and of unfinished jobs have them.
bool is_left_out(std::string_view name) {
  return name.front() == '.' || name.front() == '_';  // __MACOSX too
}

bool is_member(std::string_view name) {
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

struct Entry {
  std::string name;
  bool folder = false;
};

// Appends the members of one directory, `folders` below `root`, and of its subdirectories. `seen`: how many entries there are.
Failure walk(const std::string& root, const std::string& folders, int depth, size_t& seen,
             std::vector<FoundFile>& out) {
  const fs::path path = folders.empty() ? fs::path(root) : fs::path(root) / folders;
  if (depth > kMaxDepth)
    return failure(DL_ERR_TOO_LARGE, path.string(), ": more than ", kMaxDepth,
                   " nested directories; does a link lead back?");
  std::error_code fault;
  std::vector<Entry> entries;
  for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault), ++seen) {
    Entry entry{at->path().filename().string(), false};
    if (is_left_out(entry.name)) continue;
    std::error_code none;  // of a link that leads nowhere: no directory
    entry.folder = at->is_directory(none);
    if (entry.folder || is_member(entry.name)) entries.push_back(std::move(entry));
  }
  if (fault) return failure(DL_ERR_IO, path.string(), ": ", fault.message());
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return is_before(a.name, b.name); });
  for (const Entry& entry : entries) {
    if (!entry.folder) {
      out.push_back({(path / entry.name).string(), folders});
      continue;
    }
    const std::string below = folders.empty() ? entry.name : folders + "/" + entry.name;
    if (Failure failed = walk(root, below, depth + 1, seen, out)) return failed;
  }
  return {};
}

}  // namespace

Failure files_of(const std::string& path, std::vector<FoundFile>& out) {
  std::error_code fault;
  if (path.find("://") != std::string::npos || !fs::is_directory(path, fault)) {
    out.push_back({path, ""});
    return {};
  }
  size_t seen = 0;
  if (Failure failed = walk(path, "", 0, seen, out)) return failed;
  if (!out.empty()) return {};
  return failure(
      DL_ERR_EMPTY, path, ": no parquet files (*.parquet, *.parq, *.pq) among the ", seen,
      " entries of this directory and its subdirectories (names that start with '.' or '_' are left out)");
}

}  // namespace dataline_parquet
