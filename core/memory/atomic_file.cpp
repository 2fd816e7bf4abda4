// SPDX-License-Identifier: Apache-2.0
#include "core/memory/atomic_file.h"

#include <cstdio>

namespace dataline {
namespace {

constexpr int kAttempts = 100;  // temporary names may be left over from killed writers

int sync(const Descriptor& descriptor) {
  return retry_interrupted([&] { return ::fsync(descriptor.get()); });
}

// A rename is durable only once its directory is synced. File systems without directory sync answer EINVAL.
Status sync_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor descriptor = Descriptor::open(directory, kDirectoryFlags);
  if (!descriptor || (sync(descriptor) != 0 && errno != EINVAL)) return file_error(directory, errno);
  return Status::ok();
}

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

Status AtomicFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        retry_interrupted([&] { return ::write(descriptor_.get(), bytes.data(), bytes.size()); });
    if (written < 0) return file_error(temporary_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status AtomicFile::commit() {
  if (sync(descriptor_) != 0) return file_error(temporary_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return file_error(path_, errno);
  descriptor_ = Descriptor();
  return sync_directory_of(path_);
}

}  // namespace dataline
