// SPDX-License-Identifier: Apache-2.0
#include "core/source/usual_files.h"

#include <sys/stat.h>

#include <cerrno>

#include "core/memory/file_error.h"
#include "core/source/directory.h"

namespace dataline {
namespace {

constexpr std::string_view kSuffixes[] = {"", ".gz"};

// errno of looking at a path; 0 when something is there.
int look(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? 0 : errno;
}

Status check_folder(const std::string& path, std::string_view wanted) {
  DL_ASSIGN_OR_RETURN(bool directory, is_directory(path));
  if (directory) return Status::ok();
  return error(Code::kNotFound, path, ": is a file, expected the directory that holds ", wanted);
}

// The path of `name` in `folder`, plain or .gz; empty when neither is there.
Result<std::string> find_name(const std::string& folder, std::string_view name) {
  for (std::string_view suffix : kSuffixes) {
    std::string path = join_path(folder, concat(name, suffix));
    int failure = look(path);
    if (failure == 0) return path;
    if (failure != ENOENT && failure != ENOTDIR) return file_error(path, failure);
  }
  return std::string();
}

Result<std::string> find_any(const std::string& folder, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    DL_ASSIGN_OR_RETURN(std::string path, find_name(folder, name));
    if (!path.empty()) return path;
  }
  return std::string();
}

}  // namespace

bool path_exists(const std::string& path) { return look(path) == 0; }

Result<std::string> find_usual_folder(const std::string& path, std::span<const std::string_view> folders,
                                      std::span<const std::string_view> names) {
  DL_RETURN_IF_ERROR(check_folder(path, names.front()));
  for (std::string_view inner : folders) {
    std::string folder = inner.empty() ? path : join_path(path, inner);
    DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
    if (!found.empty()) return folder;
  }
  return error(Code::kNotFound, path, ": no ", names.front(), " in it, plain or .gz");
}

Result<std::string> find_usual_file(const std::string& folder, std::span<const std::string_view> names) {
  DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
  if (!found.empty()) return found;
  return error(Code::kNotFound, join_path(folder, names.front()), ": no such file, plain or .gz");
}

}  // namespace dataline
