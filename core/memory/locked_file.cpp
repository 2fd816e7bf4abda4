// SPDX-License-Identifier: Apache-2.0
#include "core/memory/locked_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <memory>

namespace dataline {
namespace {

bool has_no_locks(int number) {
  return number == ENOLCK || number == EOPNOTSUPP || number == EINVAL || number == ENOSYS;
}

Status done(int result, const std::string& path) {
  return result == 0 ? Status::ok() : file_error(path, errno);
}

}  // namespace

Result<std::optional<LockedFile>> LockedFile::open(const std::string& path, LockKind kind, WhenLocked when) {
  Descriptor descriptor(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666); }));
  if (!descriptor) return file_error(path, errno);
  const int operation =
      (kind == LockKind::kAlone ? LOCK_EX : LOCK_SH) | (when == WhenLocked::kGiveUp ? LOCK_NB : 0);
  if (retry_interrupted([&] { return ::flock(descriptor.get(), operation); }) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<LockedFile>();
    if (has_no_locks(errno)) return error(Code::kUnsupported, path, ": its file system has no locks");
    return file_error(path, errno);
  }
  return std::optional(LockedFile(path, std::move(descriptor)));
}

Result<LockedFile> LockedFile::open_to_read(const std::string& path) {
  Descriptor descriptor = Descriptor::open(path, kFileFlags);
  if (!descriptor) return file_error(path, errno);
  static_cast<void>(retry_interrupted([&] { return ::flock(descriptor.get(), LOCK_SH); }));
  return LockedFile(path, std::move(descriptor));
}

Status LockedFile::write_at(int64_t offset, Bytes bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = retry_interrupted(
        [&] { return ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) return file_error_at(path_, offset, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += written;
  }
  return Status::ok();
}

Status LockedFile::set_bytes(int64_t bytes) const {
  return done(retry_interrupted([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)); }),
              path_);
}

Status LockedFile::touch() const { return done(::futimens(descriptor_.get(), nullptr), path_); }

Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return sync_directory_of(path);
  if (errno != EEXIST) return file_error(path, errno);
  FileFacts facts;
  const int number = facts_of_path(path, facts);
  return number != 0 || facts.is_directory ? Status::ok() : file_error(path, ENOTDIR);
}

Result<std::string> absolute_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  if (found == nullptr) return file_error(path, errno);
  return std::string(found.get());
}

Status remove_file(const std::string& path) { return done(::unlink(path.c_str()), path); }
Status remove_directory(const std::string& path) { return done(::rmdir(path.c_str()), path); }

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs found;
  if (retry_interrupted([&] { return ::statvfs(path.c_str(), &found); }) != 0) return file_error(path, errno);
  const auto unit = static_cast<int64_t>(found.f_frsize);
  return DiskSpace{.bytes = static_cast<int64_t>(found.f_blocks) * unit,
                   .free_bytes = static_cast<int64_t>(found.f_bavail) * unit};
}

}  // namespace dataline
