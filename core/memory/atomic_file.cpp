// SPDX-License-Identifier: Apache-2.0
#include "core/memory/atomic_file.h"

#include <cstdio>

namespace dataline {
namespace {

constexpr int kAttempts = 100;  // temporary names may be left over from killed writers

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file(path);
  for (int attempt = 0; !file.descriptor_; ++attempt) {
    file.temporary_ = concat(path, ".new", attempt);
    file.descriptor_ = Descriptor(retry_interrupted(
        [&] { return ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
    if (!file.descriptor_ && (errno != EEXIST || attempt == kAttempts))
      return file_error(file.temporary_, errno);
  }
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_) ::unlink(temporary_.c_str());
}

Status AtomicFile::write(Bytes bytes) { return write_all(descriptor_, temporary_, bytes); }

Status AtomicFile::rewrite_start(Bytes bytes) {
  if (::lseek(descriptor_.get(), 0, SEEK_SET) != 0) return file_error(temporary_, errno);
  return write_all(descriptor_, temporary_, bytes);
}

// A rename is durable only once its directory is synced.
Status AtomicFile::commit() {
  DL_RETURN_IF_ERROR(sync_file(descriptor_, temporary_));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return file_error(path_, errno);
  descriptor_ = Descriptor();
  return sync_directory_of(path_);
}

}  // namespace dataline
