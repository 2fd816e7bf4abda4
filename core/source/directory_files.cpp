// SPDX-License-Identifier: Apache-2.0
#include "core/source/directory_files.h"

#include <algorithm>
#include <map>

#include "core/source/files.h"
#include "core/source/names.h"

namespace dataline {
namespace {

bool is_member_of(const Format& format, const std::string& directory, const std::string& name,
                  const OpenContext& context) {
  if (format.is_member == nullptr) return has_suffix(name, format.suffixes);
  return format.is_member(directory, name, context);
}

bool is_companion_of(const Format& format, const std::string& directory, const std::string& name) {
  return format.is_companion != nullptr && format.is_companion(directory, name);
}

// "*.parquet, *.pq": a format of the host has suffixes alone.
std::string members_text(const Format& format) {
  if (format.is_member != nullptr) return std::string(format.members);
  std::string out;
  for (std::string_view suffix : format.suffixes) out += concat(out.empty() ? "*" : ", *", suffix);
  return out;
}

std::string lower_suffix(std::string_view name) {
  return lower_case(name.substr(std::min(name.rfind('.'), name.size())));
}

// Neither the content nor the URI tells whether files with different suffixes have the same layout.
Status check_one_kind(const Format& format, const std::string& directory,
                      const std::vector<std::string>& names) {
  std::map<std::string, int64_t> kinds;
  for (const std::string& name : names) ++kinds[lower_suffix(name)];
  if (kinds.size() == 1) return Status::ok();
  std::string list;
  for (const auto& [suffix, count] : kinds) list += concat(list.empty() ? "" : ", ", count, " *", suffix);
  return error(Code::kMismatch, directory, ": ", format.name, " files with different suffixes (", list,
               "); expected one kind: name the files that have these records, as in ", format.name, ":",
               join_path(directory, names.front()), ",...");
}

}  // namespace

Result<DirectoryFiles> directory_files(const Format& format, const std::string& path,
                                       const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const DirectoryNames names, list_directory(path));
  std::vector<std::string> members;
  LeftOut left_out;
  for (const std::string& name : names.files) {
    if (is_member_of(format, path, name, context)) {
      members.push_back(name);
    } else if (!is_companion_of(format, path, name)) {
      left_out.add(LeftOut::Kind::kOther, name);
    }
  }
  if (members.empty()) {
    return error(Code::kEmpty, path, ": no ", format.name, " files (", members_text(format), ") among the ",
                 names.files.size(), " in this directory; ", names.text());
  }
  if (format.one_kind) DL_RETURN_IF_ERROR(check_one_kind(format, path, members));
  // Hidden names of other kinds are never data: .DS_Store, .gitattributes.
  for (const std::string& name : names.hidden) {
    if (is_member_of(format, path, name, context)) left_out.add(LeftOut::Kind::kHidden, name);
  }
  for (const std::string& name : names.directories) left_out.add(LeftOut::Kind::kDirectory, name);
  DirectoryFiles out;
  for (const std::string& name : members) out.paths.push_back(join_path(path, name));
  if (left_out.count() == 0) return out;
  out.note = concat(path, ": left out: ", left_out.text());
  context.log(LogLevel::kInfo, out.note);
  return out;
}

}  // namespace dataline
