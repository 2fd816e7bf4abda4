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
  if (format.is_member == nullptr) return has_suffix(name, format.suffixes);  // of the host's
  return format.is_member(directory, name, context);
}

bool is_companion_of(const Format& format, const std::string& directory, const std::string& name) {
  return format.is_companion != nullptr && format.is_companion(directory, name);
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

std::string note_of(const std::string& path, const LeftOut& left_out, const OpenContext& context) {
  if (left_out.count() == 0) return {};
  std::string note = concat(path, ": left out: ", left_out.text());
  context.log(LogLevel::kInfo, note);
  return note;
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
    return error(Code::kEmpty, path, ": no ", format.name, " files (", format.members, ") among the ",
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
  out.note = note_of(path, left_out, context);
  return out;
}

std::string left_out_beside(const Format& format, const std::string& path,
                            const std::vector<std::string>& opened, const OpenContext& context) {
  const Result<DirectoryNames> listed = list_directory(path);
  if (!listed.is_ok()) return {};
  const DirectoryNames& names = listed.value();
  LeftOut left_out;
  for (const std::string& name : names.files) {
    const bool member = is_member_of(format, path, name, context);
    const bool read =
        opened.empty() || std::find(opened.begin(), opened.end(), join_path(path, name)) != opened.end();
    if (!member) left_out.add(LeftOut::Kind::kOther, name);
    if (member && !read) left_out.add(LeftOut::Kind::kHidden, name);  // by the format's own rule
  }
  for (const std::string& name : names.hidden)
    if (is_member_of(format, path, name, context)) left_out.add(LeftOut::Kind::kHidden, name);
  for (const std::string& name : names.directories) {
    const std::string below = join_path(path, name) + "/";
    const bool entered = std::any_of(opened.begin(), opened.end(),
                                     [&](const std::string& file) { return file.starts_with(below); });
    if (!entered) left_out.add(LeftOut::Kind::kDirectory, name);
  }
  return note_of(path, left_out, context);
}

}  // namespace dataline
