// SPDX-License-Identifier: Apache-2.0
#include "core/memory/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/memory/file_error.h"

namespace dataline {
namespace {

constexpr int kAttempts = 100;  // temporary names may be left over from killed writers

int sync_descriptor(int descriptor) {
  return retry_interrupted([descriptor] { return ::fsync(descriptor); });
}

// A rename is durable only once its directory is synced. File systems without directory sync answer EINVAL.
Status sync_directory_of(const std::string& path) {
  size_t slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int descriptor = ::open(directory.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor < 0) return file_error(directory, errno);
  int number = sync_descriptor(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return number == 0 || number == EINVAL ? Status::ok() : file_error(directory, number);
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file(path);
  for (int attempt = 0; file.descriptor_ < 0; ++attempt) {
    file.temporary_ = concat(path, ".new", attempt);
    file.descriptor_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor_ >= 0 || (errno == EINTR && attempt < kMaxInterruptions)) continue;
    if (errno != EEXIST || attempt == kAttempts) return file_error(file.temporary_, errno);
  }
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status AtomicFile::write(Bytes bytes) {
  for (int interruptions = 0; !bytes.empty();) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR && ++interruptions < kMaxInterruptions) continue;
    if (written < 0) return file_error(temporary_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status AtomicFile::commit() {
  if (sync_descriptor(descriptor_) != 0) return file_error(temporary_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return file_error(path_, errno);
  ::close(std::exchange(descriptor_, -1));
  return sync_directory_of(path_);
}

}  // namespace dataline
