// SPDX-License-Identifier: Apache-2.0
#include "core/memory/output_directory.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdio>

#include "core/memory/directory_listing.h"

namespace dataline {
namespace {

Status exists_error(const std::string& path) {
  return error(Code::kWrongState, path,
               ": exists, and existing files are never overwritten: remove it, or choose another name");
}

Status not_ours_error(const std::string& partial) {
  return error(
      Code::kWrongState, partial,
      ": is not a directory, so it was not created by a writer: move it away, or choose another name");
}

Status busy_error(const std::string& partial) {
  return error(Code::kWrongState, partial, ": another process is writing this set");
}

bool exists(const std::string& path) {
  struct ::stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

// rename() would replace an empty directory. Where the system cannot be told not to, the look before has to do.
int rename_to_new(const std::string& from, const std::string& to) {
#if defined(SYS_renameat2) && defined(RENAME_NOREPLACE)
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
#endif
  if (exists(to)) return errno = EEXIST, -1;
  return ::rename(from.c_str(), to.c_str());
}

}  // namespace

Result<AppendFile> AppendFile::open(const std::string& path, int64_t keep) {
  Descriptor descriptor(retry_interrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666); }));
  if (!descriptor || retry_interrupted([&] { return ::ftruncate(descriptor.get(), keep); }) != 0)
    return file_error(path, errno);
  return AppendFile(path, std::move(descriptor));
}

Status AppendFile::append(Bytes bytes) {
  DL_RETURN_IF_ERROR(write_all(descriptor_, path_, bytes));
  return sync_file(descriptor_, path_);
}

Result<OutputDirectory> OutputDirectory::open(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  OutputDirectory out(trimmed, trimmed + ".partial");
  if (exists(out.path_)) return exists_error(out.path_);
  if (::mkdir(out.partial_.c_str(), 0777) == 0) {
    DL_RETURN_IF_ERROR(sync_directory_of(out.partial_));
  } else if (errno != EEXIST) {
    return file_error(out.partial_, errno);
  }
  struct ::stat found;
  if (::lstat(out.partial_.c_str(), &found) == 0 && !S_ISDIR(found.st_mode))
    return not_ours_error(out.partial_);
  out.descriptor_ = Descriptor::open(out.partial_, kDirectoryFlags | O_NOFOLLOW);
  if (!out.descriptor_) return file_error(out.partial_, errno);
  if (retry_interrupted([&] { return ::flock(out.descriptor_.get(), LOCK_EX | LOCK_NB); }) != 0) {
    // File systems without locks answer ENOLCK or EOPNOTSUPP: there the user has to see to it.
    if (errno == EWOULDBLOCK) return busy_error(out.partial_);
    if (errno != ENOLCK && errno != EOPNOTSUPP && errno != EINVAL) return file_error(out.partial_, errno);
  }
  // Whoever held the lock may have published meanwhile: then it is another directory, or none.
  FileFacts locked, named;
  if (facts_of(out.descriptor_.get(), locked) != 0 || facts_of_path(out.partial_, named) != 0 ||
      !locked.same_as(named)) {
    return busy_error(out.partial_);
  }
  return out;
}

Result<std::vector<std::string>> OutputDirectory::names() const {
  std::vector<std::string> out;
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(partial_));
  for (DirectoryEntry entry; listing.next(entry);) out.push_back(entry.name);
  if (listing.failure() != 0) return file_error(partial_, listing.failure());
  return out;
}

Result<OutputDirectory::Kind> OutputDirectory::kind_of(const std::string& name) const {
  struct ::stat found;
  if (::lstat(path_of(name).c_str(), &found) != 0) return file_error(path_of(name), errno);
  if (!S_ISREG(found.st_mode)) return Kind::kOther;
  return found.st_nlink > 1 ? Kind::kShared : Kind::kFile;
}

Status OutputDirectory::remove(const std::string& name) const {
  return ::unlink(path_of(name).c_str()) == 0 ? Status::ok() : file_error(path_of(name), errno);
}

Status OutputDirectory::sync() const { return sync_directory(partial_); }

Status OutputDirectory::publish() {
  DL_RETURN_IF_ERROR(sync());
  if (rename_to_new(partial_, path_) != 0)
    return errno == EEXIST ? exists_error(path_) : file_error(path_, errno);
  return sync_directory_of(path_);
}

}  // namespace dataline
