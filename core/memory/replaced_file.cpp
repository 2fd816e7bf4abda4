// SPDX-License-Identifier: Apache-2.0
#include "core/memory/replaced_file.h"

#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include "core/memory/file.h"

namespace dataline {
namespace {

#if defined(_WIN32)
constexpr int kReplacedFlags = O_RDWR | O_CREAT | O_BINARY | O_NOINHERIT;
#else
constexpr int kReplacedFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
#endif

// Their size is 0, and a write may have an effect on a process or a device.
bool is_of_kernel(const std::string& path) {
#if defined(__linux__)
  struct statfs system;
  if (::statfs(path.c_str(), &system) != 0) return false;
  const auto type = static_cast<uint32_t>(system.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC;
#else
  static_cast<void>(path);
  return false;
#endif
}

}  // namespace

Result<std::FILE*> open_replaced(const std::string& path, std::string_view head, std::string_view what) {
  const std::string name = concat(what, " ", path);
  FileFacts facts;
  // Before it is opened: opening a FIFO or a device may have an effect of its own.
  if (facts_of_path(path, facts) == 0 && !facts.is_file) return not_a_file_error(name, facts.mode);
  if (is_of_kernel(path))
    return error(Code::kNotAFile, name, ": is a file of the kernel (/proc, /sys), expected a file on a disk");
  Descriptor file(retry_interrupted([&] { return ::open(path.c_str(), kReplacedFlags, 0666); }));
  if (!file) return file_error(name, errno);
  DL_ASSIGN_OR_RETURN(facts, facts_of(file.get(), name));
  if (!facts.is_file) return not_a_file_error(name, facts.mode);
  std::string found(head.size(), '\0');
  const ReadResult read =
      read_at(file.get(), 0, std::ssize(found), reinterpret_cast<std::byte*>(found.data()));
  if (read.number != 0) return file_error(name, read.number);
  if (facts.bytes > 0 && (read.bytes != std::ssize(found) || found != head)) {
    return error(Code::kWrongState, name, ": exists, and is not a file that ", what,
                 " writes: remove it, or choose another name");
  }
  if (retry_interrupted([&] { return ::ftruncate(file.get(), 0); }) != 0) return file_error(name, errno);
  std::FILE* const stream = ::fdopen(file.get(), "wb");
  if (stream == nullptr) return file_error(name, errno);
  static_cast<void>(file.release());  // the stream's
  return stream;
}

}  // namespace dataline
