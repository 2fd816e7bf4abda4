// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/own_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

namespace fs = std::filesystem;

fs::path path_of(std::string_view text) { return fs::path(std::u8string(text.begin(), text.end())); }

// Whether `path`, from which all links are resolved, lies in the directory.
bool lies_in(const fs::path& path, const fs::path& directory) {
  std::error_code failed;
  for (fs::path at = path.parent_path(); !failed; at = at.parent_path()) {
    if (fs::equivalent(at, directory, failed) && !failed) return true;
    if (at == at.parent_path()) break;
  }
  return false;
}

// A saved state or a page of `report`, which this program writes again.
bool is_ours(const fs::path& path) {
  constexpr std::string_view kHeads[] = {"dataline state ", "<!doctype html>\n<html lang=\"en\">"};
  std::string head(64, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](std::string_view ours) { return std::string_view(head).starts_with(ours); });
}

// `named`: a path of the URI, or a pattern of paths.
bool reads(const fs::path& target, std::string_view named) {
  std::error_code failed;
  const size_t wild = named.find_first_of("{*");
  const fs::path path = path_of(named);
  if (wild == std::string_view::npos) {
    if (fs::is_directory(path, failed)) return lies_in(target, path) && !is_ours(target);
    return fs::equivalent(target, path, failed) && !failed;
  }
  const fs::path before = path_of(named.substr(0, wild)).parent_path();
  const fs::path folder = before.empty() ? fs::path(".") : before;
  return target.extension() == path.extension() && lies_in(target, folder);
}

}  // namespace

void refuse_own_file(const std::string& target, std::string_view uri) {
  std::error_code failed;
  if (target.empty() || target == "-" || !fs::is_regular_file(path_of(target), failed)) return;
  const fs::path resolved = path_of(without_links(target));
  // Each piece between the marks of a URI that can be a path, with what precedes a colon and without.
  for (size_t begin = 0; begin <= uri.size();) {
    const size_t end = std::min(uri.find_first_of(",?&=", begin), uri.size());
    for (std::string_view piece = uri.substr(begin, end - begin); !piece.empty();) {
      if (reads(resolved, piece))
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
