// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/own_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

namespace fs = std::filesystem;

fs::path path_of(std::string_view text) { return fs::path(std::u8string(text.begin(), text.end())); }

// Whether `path`, from which all links are resolved and which may be new, is the directory or is below it.
bool lies_in(const fs::path& path, const fs::path& directory) {
  for (fs::path at = path;; at = at.parent_path()) {
    std::error_code failed;  // a part of the path may not exist yet
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
  std::error_code failed;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path_of(target), failed), failed);
  // Each piece between the marks of a URI that can be a path, with what precedes a colon and without.
  for (size_t begin = 0; begin <= uri.size();) {
    const size_t end = std::min(uri.find_first_of(",?&=", begin), uri.size());
    for (std::string_view piece = uri.substr(begin, end - begin); !piece.empty();) {
      const bool listed = lists(resolved, piece), exists = fs::is_regular_file(resolved, failed);
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
