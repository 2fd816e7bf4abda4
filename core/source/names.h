// Which names of a directory, or of an archive, belong to a dataset. All formats follow this rule (docs/pages/guides/directories.md):
// - Hidden names, which begin with a dot, and `__MACOSX` are left out, with everything below them.
// - Suffixes ignore ASCII case.
// - Files of other kinds and subdirectories are left out, and reported once.
// Files that a URI, an index or a list names are read, whatever their names are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataline {

// The file with which a written set describes itself, beside its shards (core/write/manifest.h).
inline constexpr char kManifestName[] = "dataline.manifest";

// Whether a name is left out. `name` is one component of a path.
bool is_hidden_name(std::string_view name);
// Whether any component of a path in an archive is hidden. `.` and `..` are not names.
bool is_hidden_path(std::string_view path);

// Whether a name ends with a suffix, or with one of several, ignoring ASCII case.
bool has_suffix(std::string_view name, std::string_view suffix);
bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes);
std::string lower_case(std::string_view name);  // of ASCII
// The name without the suffix; the name itself where it does not end with it.
std::string_view without_suffix(std::string_view name, std::string_view suffix);

// What was left out, for one note: how many names of each kind, and the first ones in the order of add().
class LeftOut {
 public:
  enum class Kind : uint8_t { kOther, kFile, kHidden, kDirectory };

  void add(Kind kind, std::string_view name, int64_t count = 1);
  int64_t count() const;
  // "2 files of other kinds (MD5SUMS, README), 1 hidden name (._a.csv)"; empty: nothing was left out.
  std::string text() const;

 private:
  struct Names {
    int64_t count = 0;
    std::vector<std::string> first;
  };
  std::array<Names, 4> names_;
};

}  // namespace dataline
