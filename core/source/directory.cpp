// SPDX-License-Identifier: Apache-2.0
#include "core/source/directory.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "core/base/text.h"
#include "core/memory/file_error.h"

namespace dataline {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool entry_is_directory(const std::string& directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return entry.d_type == DT_DIR;
  struct stat info;
  return ::stat(join_path(directory, entry.d_name).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// The subdirectories, or everything else; without hidden names.
Result<std::vector<std::string>> list(const std::string& directory, bool directories) {
  std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (open == nullptr) return file_error(directory, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr && errno != 0) return file_error(directory, errno);
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.' || entry_is_directory(directory, *entry) != directories) continue;
    names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

}  // namespace

std::string join_path(std::string_view directory, std::string_view name) {
  return concat(directory, directory.ends_with('/') ? "" : "/", name);
}

bool path_exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

Result<bool> is_directory(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return file_error(path, errno);
  return S_ISDIR(info.st_mode);
}

Result<std::vector<std::string>> list_files(const std::string& directory) { return list(directory, false); }

Result<std::vector<std::string>> list_directories(const std::string& directory) {
  return list(directory, true);
}

}  // namespace dataline
