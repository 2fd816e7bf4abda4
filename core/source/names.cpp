// SPDX-License-Identifier: Apache-2.0
#include "core/source/names.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/source/files.h"

namespace dataline {
namespace {

constexpr size_t kNamedOfKind = 3;  // of each kind

struct LeftOutWords {
  std::string_view one, several;
};
constexpr LeftOutWords kLeftOutWords[] = {{" file of another kind", " files of other kinds"},
                                          {" file", " files"},
                                          {" hidden name", " hidden names"},
                                          {" subdirectory", " subdirectories"}};

char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool is_hidden_name(std::string_view name) { return name.starts_with('.') || name == "__MACOSX"; }

bool is_hidden_path(std::string_view path) {
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name != "." && name != ".." && is_hidden_name(name)) return true;
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return false;
}

bool has_suffix(std::string_view name, std::string_view suffix) {
  if (name.size() < suffix.size()) return false;
  return std::equal(suffix.begin(), suffix.end(), name.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                    [](char a, char b) { return lower_ascii(a) == lower_ascii(b); });
}

bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return has_suffix(name, suffix); });
}

std::string lower_case(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), lower_ascii);
  return out;
}

std::string_view without_suffix(std::string_view name, std::string_view suffix) {
  return has_suffix(name, suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

void LeftOut::add(Kind kind, std::string_view name, int64_t count) {
  Names& names = names_[static_cast<size_t>(kind)];
  names.count += count;
  if (names.first.size() < kNamedOfKind) names.first.emplace_back(name);
}

int64_t LeftOut::count() const {
  int64_t count = 0;
  for (const Names& names : names_) count += names.count;
  return count;
}

std::string LeftOut::text() const {
  std::string out;
  for (size_t kind = 0; kind < std::size(kLeftOutWords); ++kind) {
    const Names& names = names_[kind];
    if (names.count == 0) continue;
    out += concat(out.empty() ? "" : ", ", names.count,
                  names.count == 1 ? kLeftOutWords[kind].one : kLeftOutWords[kind].several, " (");
    for (size_t i = 0; i < names.first.size(); ++i) {
      const std::string quoted = printable(names.first[i]);
      out += concat(i == 0 ? "" : ", ", std::string_view(quoted).substr(1, quoted.size() - 2));
    }
    out += names.count > static_cast<int64_t>(names.first.size()) ? ", ...)" : ")";
  }
  return out;
}

}  // namespace dataline
