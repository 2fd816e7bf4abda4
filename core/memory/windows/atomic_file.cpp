// MoveFileEx replaces the old file in one step; the new one is on the disk before.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/atomic_file.h"

#include "core/memory/windows/system.h"

namespace dataline {
namespace {

constexpr int kAttempts = 100;  // temporary names may be left over from killed writers

void remove(const std::string& path) {
  if (const auto wide = windows::wide_path(path); wide) DeleteFileW(wide->c_str());
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file(path);
  for (int attempt = 0; !file.descriptor_; ++attempt) {
    file.temporary_ = concat(path, ".new", attempt);
    const std::optional<std::wstring> wide = windows::wide_path(file.temporary_);
    if (!wide) return file_error(file.temporary_, errno);
    const HANDLE handle = CreateFileW(wide->c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                      nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle != INVALID_HANDLE_VALUE) {
      file.descriptor_ = windows::descriptor_of(handle);
      if (file.descriptor_) break;
      remove(file.temporary_);
      return file_error(file.temporary_, EMFILE);
    }
    windows::set_errno();
    if (errno != EEXIST || attempt == kAttempts) return file_error(file.temporary_, errno);
  }
  return file;
}

AtomicFile::~AtomicFile() {
  if (!descriptor_) return;
  descriptor_ = Descriptor();
  remove(temporary_);
}

Status AtomicFile::write(Bytes bytes) { return write_all(descriptor_, temporary_, bytes); }

Status AtomicFile::rewrite_start(Bytes bytes) {
  if (::lseek(descriptor_.get(), 0, SEEK_SET) != 0) return file_error(temporary_, errno);
  return write_all(descriptor_, temporary_, bytes);
}

Status AtomicFile::commit() {
  DL_RETURN_IF_ERROR(sync_file(descriptor_, temporary_));
  const std::optional<std::wstring> from = windows::wide_path(temporary_), to = windows::wide_path(path_);
  if (!from || !to) return file_error(path_, errno);
  // Open for writing, it could not be renamed.
  descriptor_ = Descriptor();
  if (MoveFileExW(from->c_str(), to->c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0)
    return Status::ok();
  const int number = windows::errno_of(GetLastError());
  remove(temporary_);
  return file_error(path_, number);
}

}  // namespace dataline
