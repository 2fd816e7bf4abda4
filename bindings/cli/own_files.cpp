// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/own_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

namespace fs = std::filesystem;

fs::path path_of(std::string_view text) { return fs::path(std::u8string(text.begin(), text.end())); }

// The path, or the nearest parent of it that exists, without links.
fs::path existing_part(std::string path) {
  while (kind_of(path) == PathKind::kAbsent) {
    const size_t slash = path.find_last_of("/\\", path.find_last_not_of("/\\"));
    if (slash == std::string::npos) return path_of(without_links("."));
    path.resize(std::max<size_t>(slash, 1));
  }
  return path_of(without_links(path));
}

// Whether `path`, from which all links are resolved, is the directory or is below it.
bool lies_in(const fs::path& path, const fs::path& directory) {
  for (fs::path at = path;; at = at.parent_path()) {
    std::error_code failed;
    if (fs::equivalent(at, directory, failed) && !failed) return true;
    if (at == at.parent_path()) return false;
  }
}

// `named`: a path of the URI, or a pattern of paths.
bool reads(const fs::path& target, std::string_view named) {
  std::error_code failed;
  const size_t wild = named.find_first_of("{*");
  const fs::path path = path_of(named);
  if (wild == std::string_view::npos) return fs::equivalent(target, path, failed) && !failed;
  const fs::path before = path_of(named.substr(0, wild)).parent_path();
  const fs::path folder = before.empty() ? fs::path(".") : before;
  return fs::is_regular_file(target, failed) && target.extension() == path.extension() &&
         lies_in(target, folder);
}

// The same for a directory of the URI. The next open would count a new file in it.
bool lists(const fs::path& target, std::string_view named) {
  std::error_code failed;
  return fs::is_directory(path_of(named), failed) && lies_in(target, path_of(named));
}

}  // namespace

void refuse_own_file(const std::string& target, std::string_view uri) {
  if (target.empty() || target == "-") return;
  const fs::path resolved = existing_part(target);
  // Each piece between the marks of a URI that can be a path, with what precedes a colon and without.
  for (size_t begin = 0; begin <= uri.size();) {
    const size_t end = std::min(uri.find_first_of(",?&=", begin), uri.size());
    for (std::string_view piece = uri.substr(begin, end - begin); !piece.empty();) {
      const bool listed = lists(resolved, piece), exists = kind_of(target) == PathKind::kFile;
      if (listed && !exists)
        throw Failure{.message = target + ": is in '" + std::string(piece) +
                                 "', a directory of the dataset, where it could become a sample or a class: "
                                 "choose another place"};
      if (listed || reads(resolved, piece))
        throw Failure{.message =
                          target +
                          ": is a file of the dataset, which is never overwritten: choose another name"};
      const size_t colon = piece.find(':');
      if (colon == std::string_view::npos) break;
      piece.remove_prefix(colon + 1);
    }
    begin = end + 1;
  }
}

}  // namespace dataline::cli
