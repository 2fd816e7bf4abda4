// The lock is a byte far behind the data: Windows lets nobody else read or write what is locked.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/locked_file.h"

#include <algorithm>

#include "core/memory/windows/system.h"

namespace dataline {
namespace {

constexpr DWORD kLockHigh = 0x40000000;

Status last_fault(const std::string& path) { return file_error(path, windows::errno_of(GetLastError())); }

}  // namespace

Result<std::optional<LockedFile>> LockedFile::open(const std::string& path, LockKind kind, WhenLocked when) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  const HANDLE handle = CreateFileW(wide->c_str(), GENERIC_READ | GENERIC_WRITE,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_fault(path);
  Descriptor descriptor = windows::descriptor_of(handle);
  if (!descriptor) return file_error(path, EMFILE);
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

Result<LockedFile> LockedFile::open_to_read(const std::string& path) {
  Descriptor descriptor = Descriptor::open(path, kFileFlags);
  if (!descriptor) return file_error(path, errno);
  OVERLAPPED place = {};
  place.OffsetHigh = kLockHigh;
  static_cast<void>(LockFileEx(windows::handle_of(descriptor.get()), 0, 0, 1, 0, &place));
  return LockedFile(path, std::move(descriptor));
}

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

Status make_directory(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  if (CreateDirectoryW(wide->c_str(), nullptr) != 0) return Status::ok();
  return GetLastError() == ERROR_ALREADY_EXISTS ? Status::ok() : last_fault(path);
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

Status remove_file(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  return DeleteFileW(wide->c_str()) != 0 ? Status::ok() : last_fault(path);
}

Status remove_directory(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  return RemoveDirectoryW(wide->c_str()) != 0 ? Status::ok() : last_fault(path);
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
