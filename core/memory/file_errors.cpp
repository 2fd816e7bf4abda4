// What file.h says of failures, on every platform.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/base/digest.h"

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
    Entry{EILSEQ, Code::kNotFound, "the path is not UTF-8"},
    Entry{ELOOP, Code::kNotFound, "too many symbolic links, perhaps a loop"},
    Entry{EACCES, Code::kPermission, "permission denied"},
    Entry{EPERM, Code::kPermission, "operation not permitted"},
    Entry{EISDIR, Code::kNotAFile, "is a directory, expected a file"},
    Entry{ENXIO, Code::kNotAFile, "is a socket or a device without a driver, expected a file"},
    Entry{ESPIPE, Code::kNotAFile, "is a pipe or a socket, expected a file"},
    Entry{ENODEV, Code::kNotAFile, "is a device without a driver, expected a file"},
    Entry{EMFILE, Code::kTooManyFiles, "this process has too many open files (see ulimit -n)"},
    Entry{ENFILE, Code::kTooManyFiles, "the system has too many open files"},
    Entry{ENOMEM, Code::kNoMemory, "the system is out of memory or address space"},
    Entry{EOVERFLOW, Code::kTooLarge, "the file is too large for this system"},
    Entry{EFBIG, Code::kTooLarge,
          "the file is too large for its file system, or for the limit of this process (see ulimit -f)"},
    Entry{EINTR, Code::kIo, "the call was interrupted"},
    Entry{EAGAIN, Code::kIo, "the system is busy; try again"},
    Entry{EBUSY, Code::kIo, "another process has it open for itself"},
    Entry{EIO, Code::kIo, "the device reported an error"},
#ifdef ESTALE
    Entry{ESTALE, Code::kIo, "the file server no longer knows this file"},
#endif
    Entry{ETIMEDOUT, Code::kIo, "the file server did not answer"},
    Entry{ENOTCONN, Code::kIo, "the file server is not connected"},
    Entry{EBADMSG, Code::kIo, "the file system reported a checksum error"},
    Entry{ENOSPC, Code::kIo, "no space left on the device"},
#ifdef EDQUOT
    Entry{EDQUOT, Code::kIo, "the disk quota is used up"},
#endif
    Entry{EROFS, Code::kPermission, "the file system is read-only"},
};

std::string_view kind_text(uint32_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
#ifdef S_ISSOCK
  if (S_ISSOCK(mode)) return "a socket";
#endif
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "not a regular file";
}

}  // namespace

Result<FileFacts> facts_of(int descriptor, const std::string& path) {
  FileFacts facts;
  const int number = facts_of(descriptor, facts);
  if (number != 0) return file_error(path, number);
  return facts;
}

bool is_machine_failure(const Status& status) {
  constexpr auto kFirst = static_cast<int32_t>(Code::kNoMemory), kLast = -39;  // the machine's band of codes
  const auto code = static_cast<int32_t>(status.code());
  if (code <= kFirst && code >= kLast) return true;
  constexpr int32_t kPassing[] = {EINTR, EAGAIN, ENOMEM, ENOBUFS, EMFILE, ENFILE};
  return std::find(std::begin(kPassing), std::end(kPassing), status.os_error()) != std::end(kPassing);
}

Status file_error(const std::string& path, int32_t number) {
  for (const Entry& entry : kErrors) {
    if (entry.number == number) return error(entry.code, path, ": ", entry.text).with_os_error(number);
  }
  return error(Code::kIo, path, ": ", std::generic_category().message(number), " (error ", number, ")")
      .with_os_error(number);
}

Status file_error_at(const std::string& path, int64_t offset, int32_t number) {
  return file_error(concat(path, ": offset ", offset), number);
}

Status not_a_file_error(const std::string& path, uint32_t mode) {
  return error(Code::kNotAFile, path, ": is ", kind_text(mode), ", expected a file");
}

}  // namespace dataline
