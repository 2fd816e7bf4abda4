// SPDX-License-Identifier: Apache-2.0
#include "core/memory/open_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "core/memory/file_error.h"

namespace dataline {
namespace {

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kDirectoryFlags = O_RDONLY | O_CLOEXEC | O_DIRECTORY;
constexpr int kResolveAttempts = 16;  // openat2 fails with EAGAIN when anything is renamed meanwhile

FileFacts to_facts(const struct stat& info) {
  FileFacts facts;
  facts.is_file = S_ISREG(info.st_mode);
  facts.is_directory = S_ISDIR(info.st_mode);
  facts.mode = static_cast<uint32_t>(info.st_mode);
  facts.bytes = static_cast<int64_t>(info.st_size);
  facts.device = static_cast<uint64_t>(info.st_dev);
  facts.inode = static_cast<uint64_t>(info.st_ino);
  facts.changed_ns = changed_ns_of(info);
  return facts;
}

// openat2 as a bare system call, because C libraries do not wrap it; -1 with ENOSYS where it is missing.
int resolve_beneath(int directory, const char* name, int flags) {
#if defined(__linux__) && defined(SYS_openat2)
  struct {
    uint64_t flags, mode, resolve;
  } how = {static_cast<uint64_t>(static_cast<unsigned>(flags)), 0, 0x08 /* RESOLVE_BENEATH */};
  return static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how));
#else
  static_cast<void>(directory), static_cast<void>(name), static_cast<void>(flags);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<FileFacts> FileHandle::facts(const std::string& path) const { return facts_of(descriptor_, path); }

int64_t FileHandle::read(std::byte* out, int64_t bytes) const {
  const ReadResult got = read_at(descriptor_, 0, bytes, out);
  return got.number != 0 ? -got.number : got.bytes;
}

void FileHandle::advise(int64_t read_ahead_bytes) const {
#ifdef POSIX_FADV_WILLNEED
  for (int64_t at = 0; at < bytes_; at += read_ahead_bytes) {
    ::posix_fadvise(descriptor_, static_cast<off_t>(at),
                    static_cast<off_t>(std::min(read_ahead_bytes, bytes_ - at)), POSIX_FADV_WILLNEED);
  }
#else
  static_cast<void>(read_ahead_bytes);
#endif
}

bool FileHandle::cached() const {
  return bytes_ == 0 || (is_cached(descriptor_, 0) && is_cached(descriptor_, bytes_ - 1));
}

int64_t wall_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Result<FileFacts> facts_of(int descriptor, const std::string& path) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return file_error(path, errno);
  return to_facts(info);
}

int facts_of_entry(int directory, const char* name, FileFacts& out) {
  struct stat info;
  if (::fstatat(directory, name, &info, 0) != 0) return errno;
  out = to_facts(info);
  return 0;
}

Result<OpenDirectory> OpenDirectory::open(const std::string& path) {
  OpenDirectory directory(path);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return file_error(path, errno);
  if (!S_ISDIR(info.st_mode)) return error(Code::kNotFound, path, ": is a file, expected a directory");
  directory.descriptor_ = retry_interrupted([&] { return ::open(path.c_str(), kDirectoryFlags); });
  if (directory.descriptor_ < 0) return file_error(path, errno);
  DL_ASSIGN_OR_RETURN(directory.facts_, facts_of(directory.descriptor_, path));
  int probe = resolve_beneath(directory.descriptor_, ".", kDirectoryFlags);
  directory.resolves_beneath_ = probe >= 0;
  if (probe >= 0) ::close(probe);
  return directory;
}

OpenDirectory::~OpenDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string OpenDirectory::path_of(std::string_view name) const {
  constexpr size_t kShown = 96;  // bytes of each end: leaves room for the error itself
  std::string whole = concat(path_, path_.ends_with('/') ? "" : "/", name);
  if (name.empty()) whole = path_;
  if (name.size() <= 3 * kShown) return whole;
  return concat(whole.substr(0, whole.size() - name.size() + kShown), "[...]",
                name.substr(name.size() - kShown));
}

int OpenDirectory::open_beneath(const char* name, int flags) const {
  if (!resolves_beneath_) return open_without_links(name, flags);
  for (int attempt = 0;; ++attempt) {
    int descriptor = retry_interrupted([&] { return resolve_beneath(descriptor_, name, flags); });
    if (descriptor >= 0 || errno != EAGAIN || attempt == kResolveAttempts) return descriptor;
  }
}

// Opens one component at a time; links fail with ELOOP or ENOTDIR.
int OpenDirectory::open_without_links(const char* name, int flags) const {
  int at = descriptor_;
  for (std::string_view left = name;;) {
    size_t slash = left.find('/');
    std::string component(left.substr(0, slash));
    bool last = slash == std::string_view::npos;
    int next = component == ".." ? -1 : retry_interrupted([&] {
      return ::openat(at, component.c_str(), (last ? flags : kDirectoryFlags) | O_NOFOLLOW);
    });
    int number = component == ".." ? EXDEV : errno;
    if (at != descriptor_) ::close(at);
    errno = number;
    if (next < 0 || last) return next;
    at = next;
    left.remove_prefix(slash + 1);
  }
}

Result<int> OpenDirectory::open_any(const char* name, int flags, Links links) const {
  int descriptor = links == Links::kBeneath
                       ? open_beneath(name, flags)
                       : retry_interrupted([&] { return ::openat(descriptor_, name, flags); });
  if (descriptor >= 0) return descriptor;
  int number = errno;
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
  DL_ASSIGN_OR_RETURN(int descriptor, open_any(name, kFileFlags, links));
  FileHandle file(descriptor);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return file_error(path_of(name), errno);
  if (!S_ISREG(info.st_mode)) return not_a_file_error(path_of(name), info.st_mode);
  const FileFacts facts = to_facts(info);
  file.bytes_ = facts.bytes;
  file.changed_ns_ = facts.changed_ns;
  return file;
}

Result<int> OpenDirectory::open_subdirectory(const char* name) const {
  return open_any(name, kDirectoryFlags, Links::kFollow);
}

Result<FileFacts> OpenDirectory::look_at(const char* name, Links links) const {
  if (links == Links::kFollow) {
    FileFacts facts;
    int number = facts_of_entry(descriptor_, name, facts);
    if (number != 0) return file_error(path_of(name), number);
    return facts;
  }
  int flags = kFileFlags;
#ifdef O_PATH
  if (resolves_beneath_) flags = O_PATH | O_CLOEXEC;  // needs no read permission, opens no device
#endif
  DL_ASSIGN_OR_RETURN(int descriptor, open_any(name, flags, links));
  Result<FileFacts> facts = facts_of(descriptor, path_of(name));
  ::close(descriptor);
  return facts;
}

}  // namespace dataline
