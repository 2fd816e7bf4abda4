// Files of the operating system: descriptors (on Windows those of the C run-time library), what stat says, reads that retry interrupted calls, errors as a Status (one
// table for everything that opens and reads files), and the storage under a file.
// Threads: plain functions and values; a descriptor is used by any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

// Retries of a call that fails with EINTR or EAGAIN; then it is an error like others, not a hang.
constexpr int kMaxInterruptions = 1000;

// call() until it does not fail with EINTR.
template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  for (int retry = 0; result < 0 && errno == EINTR && retry < kMaxInterruptions; ++retry) result = call();
  return result;
}

// How a file is opened whose kind is not known yet: a FIFO or a device never blocks. On Windows others may write, rename and
// delete it meanwhile, and no child inherits it.
#if defined(_WIN32)
constexpr int kFileFlags = 0, kDirectoryFlags = 1;
#else
constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kDirectoryFlags = O_RDONLY | O_CLOEXEC | O_DIRECTORY;
#endif

// An open descriptor, closed with its owner; none (and false) when the call that made it failed.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    const int kept = errno;  // often that of a call which the owner is about to report
    if (number_ >= 0) ::close(number_);
    errno = kept;
  }
  // kFileFlags or kDirectoryFlags; the path is UTF-8. On failure see errno.
  static Descriptor open(const std::string& path, int flags);

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }  // the caller closes it

 private:
  int number_;
};

// The result of stat for a file or directory.
struct FileFacts {
  bool is_file = false;  // a regular one
  bool is_directory = false;
  uint32_t mode = 0;
  int64_t bytes = 0;
  uint64_t device = 0;  // with inode: the identity of the file
  uint64_t inode = 0;
  uint64_t names = 1;      // that lead to it: more than one are hard links
  int64_t changed_ns = 0;  // mtime, since 1970
  int64_t status_ns = 0;   // ctime, which no program can set; Windows: of creation

  bool same_as(const FileFacts& other) const { return device == other.device && inode == other.inode; }
};
// Of an open descriptor, of a path, and of the entry `name` of an open directory, following links. Return errno, or 0.
int facts_of(int descriptor, FileFacts& out);
int facts_of_path(const std::string& path, FileFacts& out);
int facts_of_entry(int directory, const char* name, FileFacts& out);
Result<FileFacts> facts_of(int descriptor, const std::string& path);  // errors name `path`

// "path: no such file or directory" with the code for errno `number`, which becomes os_error(). The text is our own, the
// same in every locale.
Status file_error(const std::string& path, int32_t number);
// The same for a read at an offset: "path: offset 4096: the device reported an error".
Status file_error_at(const std::string& path, int64_t offset, int32_t number);
// "path: is a FIFO, a file is needed", from its st_mode.
Status not_a_file_error(const std::string& path, uint32_t mode);

// Writes all of it, or says why not; the path is for the message. What is written may not be on the disk before sync_file(). A directory
// is synced when a file in it was made or renamed; file systems and systems that cannot do that need not.
Status write_all(const Descriptor& descriptor, const std::string& path, Bytes bytes);
Status sync_file(const Descriptor& descriptor, const std::string& path);
Status sync_directory(const std::string& path);
Status sync_directory_of(
    const std::string& path);  // that in which the path is, which has no slash at its end

struct ReadResult {
  int64_t bytes = 0;   // fewer than asked for at the end of the file
  int32_t number = 0;  // errno, or 0
};
ReadResult read_at(int descriptor, int64_t offset, int64_t bytes, std::byte* out);
// Whether the page at `offset` is in the page cache; true where that is unknown.
bool is_cached(int descriptor, int64_t offset);

// The contents of a file of /proc or /sys, or the number that it begins with; nullopt when it cannot be read.
std::optional<std::string> read_kernel_file(const std::string& path);
std::optional<int64_t> read_kernel_number(const std::string& path);

// Whether a failure is due to the machine rather than the data: memory, descriptors, threads, leases, and interrupted or
// would-block calls. The same call may succeed the next time.
bool is_machine_failure(const Status& status);

// Linux: whether files on file-system type `magic` (statfs f_type) are read with pread by default, because others may write,
// truncate or remove them without this machine's knowledge, and mappings of them are slow and fail with signals: network
// and user-space file systems, and those without a block device (device_major 0) that are not known to be local, which may
// be network file systems not listed here. Overlays count as local: a container's writes are its own, and overlayfs does
// not allow the lower layers to change.
bool others_may_write(uint64_t magic, uint32_t device_major);
// The same for an open file (Windows: of a remote device); false where it is unknown.
bool others_may_write(int fd);

constexpr int64_t kDefaultReadAheadBytes = 128 << 10;  // Linux's own default

// The read-ahead window of the block device `device` (st_dev of a file on it), from /sys; kDefaultReadAheadBytes where it
// is unknown or 0. The kernel silently truncates advice for more than this in one call. `root` is prepended to /sys, for
// tests.
int64_t read_ahead_bytes(uint64_t device, const std::string& root = "");

}  // namespace dataline
