// SPDX-License-Identifier: Apache-2.0
#include "core/memory/windows/system.h"

#include <io.h>

#include <algorithm>
#include <iterator>

namespace dataline::windows {
namespace {

constexpr size_t kShortPath = 240;  // MAX_PATH, less the name of a file in a directory

struct Pair {
  DWORD code;
  int number;
};
constexpr Pair kNumbers[] = {
    Pair{ERROR_FILE_NOT_FOUND, ENOENT},
    Pair{ERROR_PATH_NOT_FOUND, ENOENT},
    Pair{ERROR_INVALID_NAME, ENOENT},
    Pair{ERROR_BAD_PATHNAME, ENOENT},
    Pair{ERROR_INVALID_DRIVE, ENOENT},
    Pair{ERROR_BAD_NETPATH, ENOENT},
    Pair{ERROR_BAD_NET_NAME, ENOENT},
    Pair{ERROR_DIRECTORY, ENOTDIR},
    Pair{ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    Pair{ERROR_CANT_RESOLVE_FILENAME, ELOOP},
    Pair{ERROR_ACCESS_DENIED, EACCES},
    Pair{ERROR_PRIVILEGE_NOT_HELD, EPERM},
    Pair{ERROR_SHARING_VIOLATION, EBUSY},
    Pair{ERROR_LOCK_VIOLATION, EBUSY},
    Pair{ERROR_USER_MAPPED_FILE, EBUSY},
    Pair{ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    Pair{ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    Pair{ERROR_OUTOFMEMORY, ENOMEM},
    Pair{ERROR_COMMITMENT_LIMIT, ENOMEM},
    Pair{ERROR_NO_SYSTEM_RESOURCES, ENOMEM},
    Pair{ERROR_FILE_EXISTS, EEXIST},
    Pair{ERROR_ALREADY_EXISTS, EEXIST},
    Pair{ERROR_DISK_FULL, ENOSPC},
    Pair{ERROR_HANDLE_DISK_FULL, ENOSPC},
    Pair{ERROR_WRITE_PROTECT, EROFS},
    Pair{ERROR_NETNAME_DELETED, ENOTCONN},
    Pair{ERROR_SEM_TIMEOUT, ETIMEDOUT},
    Pair{ERROR_INVALID_HANDLE, EBADF},
    Pair{ERROR_INVALID_PARAMETER, EINVAL},
    Pair{ERROR_NOT_SUPPORTED, ENOSYS},
};

// Appends the parts of `name` to an absolute path, for the prefix \\?\ takes neither "/" nor "." nor "..".
std::wstring joined(std::wstring path, std::wstring_view name) {
  constexpr size_t kPrefix = 4;
  const size_t root = path.find(L'\\', kPrefix);  // behind the drive
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find_first_of(L"/\\", at), name.size());
    const std::wstring_view part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == L".") continue;
    if (part == L"..") {
      path.resize(std::max(std::min(path.rfind(L'\\'), path.size()), std::min(root, path.size())));
    } else {
      if (!path.ends_with(L'\\')) path += L'\\';
      path += part;
    }
  }
  return path;
}

}  // namespace

int errno_of(DWORD code) {
  for (const Pair& pair : kNumbers) {
    if (pair.code == code) return pair.number;
  }
  return EIO;
}

void set_errno() { errno = errno_of(GetLastError()); }

std::optional<std::wstring> wide(std::string_view text) {
  if (text.empty()) return std::wstring();
  const int bytes = static_cast<int>(std::min<size_t>(text.size(), 1 << 20));
  const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, nullptr, 0);
  std::wstring out(static_cast<size_t>(std::max(count, 0)), L'\0');
  if (count > 0) {
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, out.data(), count);
    return out;
  }
  errno = EILSEQ;
  return std::nullopt;
}

std::string narrow(std::wstring_view text) {
  if (text.empty()) return "";
  const int units = static_cast<int>(text.size());
  const int count = WideCharToMultiByte(CP_UTF8, 0, text.data(), units, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<size_t>(std::max(count, 0)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), units, out.data(), count, nullptr, nullptr);
  return out;
}

std::optional<std::wstring> wide_path(std::string_view path) {
  std::optional<std::wstring> short_one = wide(path);
  if (!short_one || short_one->size() < kShortPath || short_one->starts_with(L"\\\\?\\")) return short_one;
  std::wstring whole(static_cast<size_t>(GetFullPathNameW(short_one->c_str(), 0, nullptr, nullptr)), L'\0');
  whole.resize(GetFullPathNameW(short_one->c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr));
  if (whole.starts_with(L"\\\\")) return L"\\\\?\\UNC\\" + whole.substr(2);
  return L"\\\\?\\" + whole;
}

std::optional<std::wstring> final_path(HANDLE file) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD size = GetFinalPathNameByHandleW(file, path.data(), static_cast<DWORD>(path.size()),
                                                 FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (size == 0) {
      set_errno();
      return std::nullopt;
    }
    const bool fits = size < path.size();
    path.resize(size);
    if (fits) return path;
  }
}

std::optional<std::wstring> path_below(int directory, std::string_view name) {
  const std::optional<std::wstring> folder = final_path(handle_of(directory));
  if (!folder) return std::nullopt;
  const std::optional<std::wstring> below = wide(name);
  if (!below) return std::nullopt;
  return joined(*folder, *below);
}

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

Descriptor descriptor_of(HANDLE handle) {
  Descriptor descriptor(
      _open_osfhandle(reinterpret_cast<intptr_t>(handle), O_RDONLY | O_BINARY | O_NOINHERIT));
  if (!descriptor) {
    CloseHandle(handle);
    errno = EMFILE;
  }
  return descriptor;
}

HANDLE open_shared(const std::wstring& path, DWORD access) {
  const HANDLE handle =
      CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) set_errno();
  return handle;
}

}  // namespace dataline::windows
