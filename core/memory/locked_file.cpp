// SPDX-License-Identifier: Apache-2.0
#include "core/memory/locked_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <climits>
#include <cstdlib>

#include "core/memory/directory_listing.h"

namespace dataline {
namespace {

bool has_no_locks(int number) {
  return number == ENOLCK || number == EOPNOTSUPP || number == EINVAL || number == ENOSYS;
}

Status done(int result, const std::string& path) {
  return result == 0 ? Status::ok() : file_error(path, errno);
}

Status link_error(const std::string& path, const char* what) {
  return error(Code::kNotAFile, path, ": ", what);
}

}  // namespace

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

Result<SharedDirectory> SharedDirectory::open(const std::string& path, WhenMissing when) {
  if (when == WhenMissing::kMake) {
    if (::mkdir(path.c_str(), 0777) == 0)
      DL_RETURN_IF_ERROR(sync_directory_of(path));
    else if (errno != EEXIST)
      return file_error(path, errno);
  }
  DL_ASSIGN_OR_RETURN(std::string absolute, absolute_path(path));
  Descriptor descriptor = Descriptor::open(absolute, kDirectoryFlags);
  if (!descriptor) return file_error(path, errno);
  return SharedDirectory(std::move(absolute), std::move(descriptor));
}

Result<SharedDirectory> SharedDirectory::subdirectory(const std::string& name, WhenMissing when) const {
  if (when == WhenMissing::kMake) {
    if (::mkdirat(descriptor_.get(), name.c_str(), 0777) == 0)
      DL_RETURN_IF_ERROR(sync_directory(path_));
    else if (errno != EEXIST)
      return file_error(path_of(name), errno);
  }
  Descriptor found(retry_interrupted(
      [&] { return ::openat(descriptor_.get(), name.c_str(), kDirectoryFlags | O_NOFOLLOW); }));
  if (found) return SharedDirectory(path_of(name), std::move(found));
  // O_NOFOLLOW with O_DIRECTORY: ENOTDIR, ELOOP on some systems.
  struct stat info;
  if (::fstatat(descriptor_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return link_error(path_of(name), "is a symbolic link, expected a directory");
  return file_error(path_of(name), errno);
}

Result<std::optional<LockedFile>> SharedDirectory::open_file(const std::string& name, LockKind kind,
                                                             WhenLocked when, WhenMissing missing) const {
  const std::string path = path_of(name);
  Descriptor file;
  // Made and opened by two calls, so that what was planted between them is not followed; once more where it went meanwhile.
  for (int attempt = 0; !file && attempt < kMaxInterruptions; ++attempt) {
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    file = Descriptor(retry_interrupted([&] { return ::openat(descriptor_.get(), name.c_str(), kFlags); }));
    if (file || errno != ENOENT || missing == WhenMissing::kFail) break;
    file = Descriptor(retry_interrupted(
        [&] { return ::openat(descriptor_.get(), name.c_str(), kFlags | O_CREAT | O_EXCL, 0666); }));
    if (!file && errno != EEXIST) break;
  }
  if (!file)
    return errno == ELOOP ? link_error(path, "is a symbolic link, expected a file") : file_error(path, errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return file_error(path, errno);
  if (!S_ISREG(info.st_mode)) return not_a_file_error(path, static_cast<uint32_t>(info.st_mode));
  if (info.st_nlink > 1) return link_error(path, "has more than one hard link");
  const int operation =
      (kind == LockKind::kAlone ? LOCK_EX : LOCK_SH) | (when == WhenLocked::kGiveUp ? LOCK_NB : 0);
  if (retry_interrupted([&] { return ::flock(file.get(), operation); }) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<LockedFile>();
    if (has_no_locks(errno))
      return error(Code::kUnsupported, path, ": its file system does not support locks");
    return file_error(path, errno);
  }
  return std::optional(LockedFile(path, std::move(file)));
}

Result<LockedFile> SharedDirectory::open_to_read(const std::string& name) const {
  Descriptor file = open_without_lock(name);
  if (!file) return file_error(path_of(name), errno);
  DL_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(file.get(), path_of(name)));
  if (!facts.is_file) return not_a_file_error(path_of(name), facts.mode);
  static_cast<void>(retry_interrupted([&] { return ::flock(file.get(), LOCK_SH); }));
  return LockedFile(path_of(name), std::move(file));
}

Descriptor SharedDirectory::open_without_lock(const std::string& name) const {
  return Descriptor(
      retry_interrupted([&] { return ::openat(descriptor_.get(), name.c_str(), kFileFlags | O_NOFOLLOW); }));
}

Result<FileFacts> SharedDirectory::facts(const std::string& name) const {
  FileFacts facts;
  struct stat info;
  if (::fstatat(descriptor_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return file_error(path_of(name), errno);
  if (S_ISLNK(info.st_mode)) return facts;  // neither a file nor a directory
  const int number = facts_of_entry(descriptor_.get(), name.c_str(), facts);
  return number == 0 ? Result<FileFacts>(facts) : file_error(path_of(name), number);
}

Result<std::vector<std::string>> SharedDirectory::names() const {
  // Not fdopendir(descriptor_): the position would be shared by all who list it.
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(path_));
  std::vector<std::string> names;
  for (DirectoryEntry entry; listing.next(entry);) names.push_back(entry.name);
  if (listing.failure() != 0) return file_error(path_, listing.failure());
  return names;
}

Status SharedDirectory::remove_file(const std::string& name) const {
  return done(::unlinkat(descriptor_.get(), name.c_str(), 0), path_of(name));
}
Status SharedDirectory::remove_directory(const std::string& name) const {
  return done(::unlinkat(descriptor_.get(), name.c_str(), AT_REMOVEDIR), path_of(name));
}

Result<std::string> absolute_path(const std::string& path) {
  // Not memory that realpath allocates: in a host that loads this library with RTLD_DEEPBIND, as Julia does, our `free` is
  // mimalloc's, and the `malloc` in libc is not.
  char found[PATH_MAX];
  if (::realpath(path.c_str(), found) == nullptr) return file_error(path, errno);
  return std::string(found);
}

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs found;
  if (retry_interrupted([&] { return ::statvfs(path.c_str(), &found); }) != 0) return file_error(path, errno);
  const auto unit = static_cast<int64_t>(found.f_frsize);
  return DiskSpace{.bytes = static_cast<int64_t>(found.f_blocks) * unit,
                   .free_bytes = static_cast<int64_t>(found.f_bavail) * unit};
}

}  // namespace dataline
