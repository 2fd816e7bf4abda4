// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/memory/windows/system.h"

namespace dataline {
namespace {

constexpr int64_t kMaxReadBytes = 1 << 30;  // of one call, which counts in 32 bits

int64_t joined(DWORD high, DWORD low) { return static_cast<int64_t>(high) << 32 | static_cast<int64_t>(low); }

int64_t unix_ns(const FILETIME& time) {
  constexpr int64_t kTicksTo1970 = 116'444'736'000'000'000;  // of 100 ns, since 1601
  return (joined(time.dwHighDateTime, time.dwLowDateTime) - kTicksTo1970) * 100;
}

int facts_of_handle(HANDLE handle, FileFacts& out) {
  out = {};
  const DWORD type = GetFileType(handle);
  if (type != FILE_TYPE_DISK) {
    out.mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
    return 0;
  }
  BY_HANDLE_FILE_INFORMATION info;
  if (GetFileInformationByHandle(handle, &info) == 0) return windows::errno_of(GetLastError());
  out.is_directory = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  out.is_file = !out.is_directory;
  out.mode = out.is_directory ? S_IFDIR : S_IFREG;
  out.bytes = joined(info.nFileSizeHigh, info.nFileSizeLow);
  out.device = info.dwVolumeSerialNumber;
  out.inode = static_cast<uint64_t>(joined(info.nFileIndexHigh, info.nFileIndexLow));
  out.names = info.nNumberOfLinks;
  out.changed_ns = unix_ns(info.ftLastWriteTime);
  out.status_ns = unix_ns(info.ftCreationTime);
  return 0;
}

int facts_at(const std::optional<std::wstring>& path, FileFacts& out) {
  if (!path) return errno;
  const HANDLE handle = windows::open_shared(*path, FILE_READ_ATTRIBUTES);
  if (handle == INVALID_HANDLE_VALUE) return errno;
  const int number = facts_of_handle(handle, out);
  CloseHandle(handle);
  return number;
}

}  // namespace

Descriptor Descriptor::open(const std::string& path, int flags) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return Descriptor();
  const DWORD access = flags == kDirectoryFlags ? FILE_LIST_DIRECTORY | SYNCHRONIZE : GENERIC_READ;
  const HANDLE handle = windows::open_shared(*wide, access);
  return handle == INVALID_HANDLE_VALUE ? Descriptor() : windows::descriptor_of(handle);
}

Status write_all(const Descriptor& descriptor, const std::string& path, Bytes bytes) {
  constexpr size_t kMaxWriteBytes = 1 << 30;  // of one call, which counts in 32 bits
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto wanted = static_cast<DWORD>(std::min(bytes.size(), kMaxWriteBytes));
    if (WriteFile(windows::handle_of(descriptor.get()), bytes.data(), wanted, &written, nullptr) == 0)
      return file_error(path, windows::errno_of(GetLastError()));
    bytes = bytes.subspan(written);
  }
  return Status::ok();
}

Status sync_file(const Descriptor& descriptor, const std::string& path) {
  if (FlushFileBuffers(windows::handle_of(descriptor.get())) != 0) return Status::ok();
  return file_error(path, windows::errno_of(GetLastError()));
}

// NTFS writes what changes in directories to its journal.
Status sync_directory(const std::string&) { return Status::ok(); }

Status sync_directory_of(const std::string&) { return Status::ok(); }

int facts_of(int descriptor, FileFacts& out) { return facts_of_handle(windows::handle_of(descriptor), out); }
int facts_of_path(const std::string& path, FileFacts& out) { return facts_at(windows::wide_path(path), out); }
int facts_of_entry(int directory, const char* name, FileFacts& out) {
  return facts_at(windows::path_below(directory, name), out);
}

ReadResult read_at(int descriptor, int64_t offset, int64_t bytes, std::byte* out) {
  ReadResult result;
  const HANDLE handle = windows::handle_of(descriptor);
  while (result.bytes < bytes) {
    const auto at = static_cast<uint64_t>(offset + result.bytes);
    OVERLAPPED place = {};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD got = 0;
    const auto wanted = static_cast<DWORD>(std::min(bytes - result.bytes, kMaxReadBytes));
    if (ReadFile(handle, out + result.bytes, wanted, &got, &place) == 0) {
      const DWORD code = GetLastError();
      if (code != ERROR_HANDLE_EOF) result.number = windows::errno_of(code);
      break;
    }
    if (got == 0) break;
    result.bytes += got;
  }
  return result;
}

bool is_cached(int, int64_t) { return true; }

bool others_may_write(int descriptor) {
  FILE_REMOTE_PROTOCOL_INFO info;
  return GetFileInformationByHandleEx(windows::handle_of(descriptor), FileRemoteProtocolInfo, &info,
                                      sizeof info) != 0;
}

int64_t read_ahead_bytes(uint64_t, const std::string&) { return kDefaultReadAheadBytes; }

}  // namespace dataline
