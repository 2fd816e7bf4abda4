// SPDX-License-Identifier: Apache-2.0
#include "core/memory/open_directory.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "core/base/message_text.h"
#include "core/memory/file_map.h"
#include "core/memory/open_at.h"

namespace dataline {
namespace {

constexpr int kResolveAttempts = 16;  // openat2 fails with EAGAIN when anything is renamed meanwhile

}  // namespace

Result<FileFacts> FileHandle::facts(const std::string& path) const {
  return facts_of(descriptor_.get(), path);
}

int64_t FileHandle::read(std::byte* out, int64_t bytes, int64_t offset) const {
  const ReadResult got = read_at(descriptor_.get(), offset, bytes, out);
  return got.number != 0 ? -got.number : got.bytes;
}

void FileHandle::advise(int64_t read_ahead_bytes) const {
  for (int64_t at = 0; at < bytes(); at += read_ahead_bytes) {
    advise_file(descriptor_.get(), at, std::min(read_ahead_bytes, bytes() - at));
  }
}

bool FileHandle::cached() const {
  return bytes() == 0 || (is_cached(descriptor_.get(), 0) && is_cached(descriptor_.get(), bytes() - 1));
}

int64_t wall_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Result<OpenDirectory> OpenDirectory::open(const std::string& path) {
  OpenDirectory directory(path);
  const int number = facts_of_path(path, directory.facts_);
  if (number != 0) return file_error(path, number);
  if (!directory.facts_.is_directory)
    return error(Code::kNotFound, path, ": is a file, expected a directory");
  directory.descriptor_ = Descriptor::open(path, kDirectoryFlags);
  if (!directory.descriptor_) return file_error(path, errno);
  DL_ASSIGN_OR_RETURN(directory.facts_, facts_of(directory.descriptor_.get(), path));
  directory.resolves_beneath_ =
      static_cast<bool>(open_beneath_at(directory.descriptor_.get(), ".", kDirectoryFlags));
  return directory;
}

std::string OpenDirectory::path_of(std::string_view name) const {
  constexpr size_t kShown = 96;  // bytes of each end: leaves room for the error itself
  std::string whole = concat(path_, path_.ends_with('/') ? "" : "/", name);
  if (name.empty()) whole = path_;
  if (name.size() <= 3 * kShown) return whole;
  return concat(head_of(whole, whole.size() - name.size() + kShown), "[...]", end_of(name, kShown));
}

Descriptor OpenDirectory::open_beneath(const char* name, int flags) const {
  if (!resolves_beneath_) return open_without_links(name, flags);
  for (int attempt = 0;; ++attempt) {
    Descriptor descriptor = open_beneath_at(descriptor_.get(), name, flags);
    if (descriptor || errno != EAGAIN || attempt == kResolveAttempts) return descriptor;
  }
}

// Opens one component at a time; links fail with ELOOP or ENOTDIR.
Descriptor OpenDirectory::open_without_links(const char* name, int flags) const {
  Descriptor at;  // none: the directory itself
  for (std::string_view left = name;;) {
    const size_t slash = left.find('/');
    const std::string component(left.substr(0, slash));
    const bool last = slash == std::string_view::npos;
    Descriptor next;
    if (component == "..") {
      errno = EXDEV;
    } else {
      next = open_unlinked_at(at ? at.get() : descriptor_.get(), component.c_str(),
                              last ? flags : kDirectoryFlags);
    }
    if (!next || last) return next;
    at = std::move(next);
    left.remove_prefix(slash + 1);
  }
}

Result<Descriptor> OpenDirectory::open_any(const char* name, int flags, Links links) const {
  Descriptor descriptor =
      links == Links::kBeneath ? open_beneath(name, flags) : open_at(descriptor_.get(), name, flags);
  if (descriptor) return descriptor;
  const int number = errno;
  if (links == Links::kBeneath && number == EXDEV) {
    return error(Code::kPermission, path_of(name), ": a link in the path leads out of ", path_)
        .with_os_error(number);
  }
  if (links == Links::kBeneath && !resolves_beneath_ && number == ELOOP) {
    return error(Code::kPermission, path_of(name),
                 ": the path has a link, which this system cannot confine to ", path_)
        .with_os_error(number);
  }
  return file_error(path_of(name), number);
}

Result<FileHandle> OpenDirectory::open_file(const char* name, Links links) const {
  DL_ASSIGN_OR_RETURN(Descriptor descriptor, open_any(name, kFileFlags, links));
  FileFacts facts;
  const int number = facts_of(descriptor.get(), facts);
  if (number != 0) return file_error(path_of(name), number);
  if (!facts.is_file) return not_a_file_error(path_of(name), facts.mode);
  return FileHandle(std::move(descriptor), facts);
}

Result<Descriptor> OpenDirectory::open_subdirectory(const char* name) const {
  return open_any(name, kDirectoryFlags, Links::kFollow);
}

Result<FileFacts> OpenDirectory::look_at(const char* name, Links links) const {
  if (links == Links::kFollow) {
    FileFacts facts;
    const int number = facts_of_entry(descriptor_.get(), name, facts);
    if (number != 0) return file_error(path_of(name), number);
    return facts;
  }
  int flags = kFileFlags;
#ifdef O_PATH
  if (resolves_beneath_) flags = O_PATH | O_CLOEXEC;  // needs no read permission, opens no device
#endif
  DL_ASSIGN_OR_RETURN(const Descriptor descriptor, open_any(name, flags, links));
  return facts_of(descriptor.get(), path_of(name));
}

}  // namespace dataline
