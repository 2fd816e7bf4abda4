// The lock is a byte far behind the data: Windows lets nobody else read or write what is locked.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/locked_file.h"

#include <algorithm>

#include "core/memory/directory_listing.h"
#include "core/memory/windows/system.h"

namespace dataline {
namespace {

constexpr DWORD kLockHigh = 0x40000000;

Status last_fault(const std::string& path) { return file_error(path, windows::errno_of(GetLastError())); }

Status link_error(const std::string& path, const char* what) {
  return error(Code::kNotAFile, path, ": ", what);
}

bool is_link(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  const DWORD attributes = wide ? GetFileAttributesW(wide->c_str()) : INVALID_FILE_ATTRIBUTES;
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

}  // namespace

Status LockedFile::write_at(int64_t offset, Bytes bytes) const {
  constexpr size_t kMaxWriteBytes = 1 << 30;  // of one call, which counts in 32 bits
  while (!bytes.empty()) {
    OVERLAPPED place = {};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(static_cast<uint64_t>(offset) >> 32);
    DWORD written = 0;
    const auto wanted = static_cast<DWORD>(std::min(bytes.size(), kMaxWriteBytes));
    if (WriteFile(windows::handle_of(descriptor_.get()), bytes.data(), wanted, &written, &place) == 0)
      return file_error_at(path_, offset, windows::errno_of(GetLastError()));
    bytes = bytes.subspan(written);
    offset += written;
  }
  return Status::ok();
}

Status LockedFile::set_bytes(int64_t bytes) const {
  FILE_END_OF_FILE_INFO end;
  end.EndOfFile.QuadPart = bytes;
  return SetFileInformationByHandle(windows::handle_of(descriptor_.get()), FileEndOfFileInfo, &end,
                                    sizeof end) != 0
             ? Status::ok()
             : last_fault(path_);
}

Status LockedFile::touch() const {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return SetFileTime(windows::handle_of(descriptor_.get()), nullptr, nullptr, &now) != 0 ? Status::ok()
                                                                                         : last_fault(path_);
}

Result<SharedDirectory> SharedDirectory::open(const std::string& path, WhenMissing when) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  if (when == WhenMissing::kMake && CreateDirectoryW(wide->c_str(), nullptr) == 0 &&
      GetLastError() != ERROR_ALREADY_EXISTS)
    return last_fault(path);
  const DWORD attributes = GetFileAttributesW(wide->c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return last_fault(path);
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0) return file_error(path, ENOTDIR);
  DL_ASSIGN_OR_RETURN(std::string absolute, absolute_path(path));
  return SharedDirectory(std::move(absolute), Descriptor());
}

Result<SharedDirectory> SharedDirectory::subdirectory(const std::string& name, WhenMissing when) const {
  DL_ASSIGN_OR_RETURN(SharedDirectory found, open(path_of(name), when));
  if (is_link(found.path())) return link_error(found.path(), "is a link, expected a directory");
  return found;
}

Result<std::optional<LockedFile>> SharedDirectory::open_file(const std::string& name, LockKind kind,
                                                             WhenLocked when, WhenMissing missing) const {
  const std::string path = path_of(name);
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  const HANDLE handle = CreateFileW(wide->c_str(), GENERIC_READ | GENERIC_WRITE,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    missing == WhenMissing::kMake ? OPEN_ALWAYS : OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_fault(path);
  Descriptor descriptor = windows::descriptor_of(handle);
  if (!descriptor) return file_error(path, EMFILE);
  BY_HANDLE_FILE_INFORMATION info;
  if (GetFileInformationByHandle(handle, &info) == 0) return last_fault(path);
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 || info.nNumberOfLinks > 1)
    return link_error(path, "is a link, expected a file with one name");
  OVERLAPPED place = {};
  place.OffsetHigh = kLockHigh;
  const DWORD flags = (kind == LockKind::kAlone ? LOCKFILE_EXCLUSIVE_LOCK : 0) |
                      (when == WhenLocked::kGiveUp ? LOCKFILE_FAIL_IMMEDIATELY : 0);
  if (LockFileEx(handle, flags, 0, 1, 0, &place) == 0) {
    const DWORD code = GetLastError();
    if (code == ERROR_LOCK_VIOLATION || code == ERROR_IO_PENDING) return std::optional<LockedFile>();
    return last_fault(path);
  }
  return std::optional(LockedFile(path, std::move(descriptor)));
}

Result<LockedFile> SharedDirectory::open_to_read(const std::string& name) const {
  Descriptor descriptor = open_without_lock(name);
  if (!descriptor) return file_error(path_of(name), errno);
  OVERLAPPED place = {};
  place.OffsetHigh = kLockHigh;
  static_cast<void>(LockFileEx(windows::handle_of(descriptor.get()), 0, 0, 1, 0, &place));
  return LockedFile(path_of(name), std::move(descriptor));
}

Descriptor SharedDirectory::open_without_lock(const std::string& name) const {
  return Descriptor::open(path_of(name), kFileFlags);
}

Result<FileFacts> SharedDirectory::facts(const std::string& name) const {
  FileFacts facts;
  if (is_link(path_of(name))) return facts;
  const int number = facts_of_path(path_of(name), facts);
  return number == 0 ? Result<FileFacts>(facts) : file_error(path_of(name), number);
}

Result<std::vector<std::string>> SharedDirectory::names() const {
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(path_));
  std::vector<std::string> names;
  for (DirectoryEntry entry; listing.next(entry);) names.push_back(entry.name);
  if (listing.failure() != 0) return file_error(path_, listing.failure());
  return names;
}

Status SharedDirectory::remove_file(const std::string& name) const {
  const std::optional<std::wstring> wide = windows::wide_path(path_of(name));
  if (!wide) return file_error(path_of(name), errno);
  return DeleteFileW(wide->c_str()) != 0 ? Status::ok() : last_fault(path_of(name));
}

Status SharedDirectory::remove_directory(const std::string& name) const {
  const std::optional<std::wstring> wide = windows::wide_path(path_of(name));
  if (!wide) return file_error(path_of(name), errno);
  return RemoveDirectoryW(wide->c_str()) != 0 ? Status::ok() : last_fault(path_of(name));
}

Result<std::string> absolute_path(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  const DWORD letters = GetFullPathNameW(wide->c_str(), 0, nullptr, nullptr);
  std::wstring found(letters, L'\0');
  const DWORD written = GetFullPathNameW(wide->c_str(), letters, found.data(), nullptr);
  if (written == 0 || written >= letters) return last_fault(path);
  found.resize(written);
  return windows::narrow(found);
}

Result<DiskSpace> disk_space(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  ULARGE_INTEGER free_bytes, bytes;
  if (GetDiskFreeSpaceExW(wide->c_str(), &free_bytes, &bytes, nullptr) == 0) return last_fault(path);
  return DiskSpace{.bytes = static_cast<int64_t>(bytes.QuadPart),
                   .free_bytes = static_cast<int64_t>(free_bytes.QuadPart)};
}

}  // namespace dataline
