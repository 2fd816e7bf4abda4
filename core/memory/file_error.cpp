// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file_error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/uio.h>
#endif

#include <utility>

#include "core/base/text.h"

namespace dataline {
namespace {

struct Entry {
  int32_t number;
  Code code;
  std::string_view text;
};

constexpr Entry kErrors[] = {
    Entry{ENOENT, Code::kNotFound, "no such file or directory"},
    Entry{ENOTDIR, Code::kNotFound, "part of the path is not a directory"},
    Entry{ENAMETOOLONG, Code::kNotFound, "the path is too long"},
    Entry{ELOOP, Code::kNotFound, "too many symbolic links, perhaps a loop"},
    Entry{EACCES, Code::kPermission, "permission denied"},
    Entry{EPERM, Code::kPermission, "operation not permitted"},
    Entry{EISDIR, Code::kNotAFile, "is a directory, a file is needed"},
    Entry{ENXIO, Code::kNotAFile, "is a socket or a device without a driver, a file is needed"},
    Entry{ENODEV, Code::kNotAFile, "is a device without a driver, a file is needed"},
    Entry{EMFILE, Code::kTooManyFiles, "this process has too many open files (see ulimit -n)"},
    Entry{ENFILE, Code::kTooManyFiles, "the system has too many open files"},
    Entry{ENOMEM, Code::kNoMemory, "the system is out of memory or address space"},
    Entry{EOVERFLOW, Code::kTooLarge, "the file is too large for this system"},
    Entry{EFBIG, Code::kTooLarge, "the file is too large for this system"},
    Entry{EINTR, Code::kIo, "the call was interrupted"},
    Entry{EAGAIN, Code::kIo, "the system asks to try again"},
    Entry{EIO, Code::kIo, "the device reported an error"},
    Entry{ESTALE, Code::kIo, "the file server no longer knows this file"},
    Entry{ETIMEDOUT, Code::kIo, "the file server did not answer"},
    Entry{ENOTCONN, Code::kIo, "the file server is not connected"},
    Entry{EBADMSG, Code::kIo, "the file system found a wrong checksum"},
    Entry{ENOSPC, Code::kIo, "no space left on the device"},
    Entry{EROFS, Code::kPermission, "the file system is read-only"},
};

const Entry* find(int32_t number) {
  for (const Entry& entry : kErrors) {
    if (entry.number == number) return &entry;
  }
  return nullptr;
}

Code code_of(int32_t number) {
  const Entry* entry = find(number);
  return entry == nullptr ? Code::kIo : entry->code;
}

std::string_view kind_text(uint32_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "not a regular file";
}

}  // namespace

bool is_machine_failure(const Status& status) {
  constexpr auto kFirst = static_cast<int32_t>(Code::kNoMemory), kLast = -39;  // the machine's band of codes
  const auto code = static_cast<int32_t>(status.code());
  if (code <= kFirst && code >= kLast) return true;
  switch (status.os_error()) {
    case EINTR:
    case EAGAIN:
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
    case ENFILE:
      return true;
    default:
      return false;
  }
}

ReadResult read_at(int descriptor, int64_t offset, int64_t bytes, std::byte* out) {
  ReadResult result;
  for (int interruptions = 0; result.bytes < bytes;) {
    const ssize_t got = ::pread(descriptor, out + result.bytes, static_cast<size_t>(bytes - result.bytes),
                                static_cast<off_t>(offset + result.bytes));
    if (got < 0 && errno == EINTR && ++interruptions < kMaxInterruptions) continue;
    if (got < 0) result.number = errno;
    if (got <= 0) break;
    result.bytes += got;
  }
  return result;
}

bool is_cached(int descriptor, int64_t offset) {
#ifdef __linux__
  std::byte one;
  iovec target{&one, 1};
  // RWF_NOWAIT: EAGAIN when the page is not in the page cache.
  return ::preadv2(descriptor, &target, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
#else
  static_cast<void>(descriptor), static_cast<void>(offset);
  return true;
#endif
}

std::optional<std::string> read_kernel_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char piece[4096];
  for (int interruptions = 0;;) {
    ssize_t got = ::read(fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR && ++interruptions < kMaxInterruptions) continue;
    if (got <= 0) {
      ::close(fd);
      return got == 0 ? std::optional(std::move(text)) : std::nullopt;
    }
    text.append(piece, static_cast<size_t>(got));
  }
}

std::optional<int64_t> read_kernel_number(const std::string& path) {
  const std::optional<std::string> text = read_kernel_file(path);
  return text ? parse_i64(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
}

int64_t changed_ns_of(const struct stat& facts) {
#ifdef __APPLE__
  const timespec& changed = facts.st_mtimespec;
#else
  const timespec& changed = facts.st_mtim;
#endif
  return static_cast<int64_t>(changed.tv_sec) * 1'000'000'000 + changed.tv_nsec;
}

Status not_a_file_error(const std::string& path, uint32_t mode) {
  return error(Code::kNotAFile, path, ": is ", kind_text(mode), ", a file is needed");
}

std::string system_error_text(int32_t number) {
  const Entry* entry = find(number);
  return entry == nullptr ? concat("error ", number) : std::string(entry->text);
}

Status file_error(const std::string& path, int32_t number) {
  return error(code_of(number), path, ": ", system_error_text(number)).with_os_error(number);
}

Status file_error_at(const std::string& path, int64_t offset, int32_t number) {
  return error(code_of(number), path, ": offset ", offset, ": ", system_error_text(number))
      .with_os_error(number);
}

}  // namespace dataline
