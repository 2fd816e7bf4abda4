// One dataset file, open for reading: mapped, read on demand, or loaded into memory; or an object of a storage (host_storage.h),
// read on demand or loaded.
//
// Threads: immutable after open; every function may be called from any thread.
// Lifetime: pointers from at() live as long as the object.
// Failure: opens with O_NONBLOCK and refuses what is not a regular file, so a FIFO never blocks. A truncated file is
// detected before a read by check_length() (one lseek) and, for pages not yet in memory, by populate() (EFAULT instead of
// SIGBUS). Truncation between these and the copy is detected by change_since_open() after the copy: the rest of a partly truncated
// page reads as zeros, and it says from where. Access to a page beyond the new end kills the process with SIGBUS,
// unless the file was opened with fault_guard (fault_guard.h); io=pread and io=memory do not have that gap.
// Limits: a mapped file keeps its descriptor only while descriptor numbers are below half of RLIMIT_NOFILE, so that sets
// of thousands of shards open; files opened after that are checked by path and inode.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/open_progress.h"
#include "core/base/status.h"
#include "core/memory/fault_guard.h"
#include "core/memory/file.h"
#include "core/memory/host_memory.h"
#include "core/memory/host_storage.h"

namespace dataline {

class Options;

enum class IoMode : int32_t { kAuto = 0, kMmap = 1, kPread = 2, kMemory = 3 };

// What is done with a file of a set of several that cannot be opened, or is not what its checksum says; kSkip: the others are the set;
// kKeep: its samples are bad ones, where it is known how many they are.
enum class BadFiles : int32_t { kError, kSkip, kKeep };

// Which checksums are compared: those that a format has for what it reads, when it reads it; kFiles: also those of whole files, when
// they are opened.
enum class Checksums : int32_t { kRecords, kFiles };

// The context every reader is opened with.
struct OpenContext {
  std::shared_ptr<HostMemory> memory;  // never null
  IoMode io = IoMode::kAuto;
  bool fault_guard = false;  // guard mappings against SIGBUS
  BadFiles bad_files = BadFiles::kError;
  Checksums checksums = Checksums::kRecords;
  // What follows these first bytes of a file is not looked at, as if it had been appended after the open.
  int64_t max_file_bytes = std::numeric_limits<int64_t>::max();
  CancelTokenRef cancel;  // may be null
  Log log;
  std::vector<HostStorageRef> storages = {};  // for paths with a scheme of their own
  const Options* options =
      nullptr;  // what the host opens with, for its own formats and storages; null in tests
  std::shared_ptr<OpenProgress> progress = std::make_shared<OpenProgress>();  // never null

  // By the thread that opens, between two steps: logs "TASK: 3 of 40 files, 2048 entries" if a line is due.
  template <typename... Parts>
  void report(const Parts&... task) const {
    if (log.write != nullptr && progress->line_due())
      log(LogLevel::kProgress, concat(task..., ": ", progress->text()));
  }
  bool cancelled() const { return cancel != nullptr && cancel->cancelled(); }
};

class MappedFile {
 public:
  // kAuto: pread where others may write (file.h) or mmap fails, else mmap. kMemory reads the whole file into a kData
  // block, as read_all() does.
  static Result<MappedFile> open(const std::string& path, const OpenContext& context);
  // As open(), but kMemory reads on demand until load(), so that a reader can reject a file by its header before
  // gigabytes are loaded.
  static Result<MappedFile> open_unloaded(const std::string& path, const OpenContext& context);
  // With kMemory loads the whole file, else does nothing.
  Status load(const OpenContext& context);
  // What identifies a file, as it was at open.
  struct Origin {
    std::string path;
    FileFacts facts = {};  // an object has only a size
    std::optional<std::string> fingerprint =
        {};  // what the storage of an object states of its bytes, perhaps ""; nullopt: a file
  };
  // A file whose contents are in memory already, decompressed from one of that origin.
  static Result<MappedFile> from_block(Origin origin, Block bytes, int64_t byte_count);
  MappedFile(MappedFile&&) noexcept = default;

  const std::string& path() const { return path_; }
  Origin origin() const { return {path_, at_open_, fingerprint_}; }
  int64_t bytes() const { return bytes_; }               // readable bytes (inflated size for a .gz)
  int64_t file_bytes() const { return at_open_.bytes; }  // on disk, at open
  const FileFacts& at_open() const { return at_open_; }  // an object has only a size
  const std::optional<std::string>& fingerprint() const { return fingerprint_; }  // Origin::fingerprint
  bool inflated() const { return inflated_; }             // by from_block(): offsets are not those on disk
  IoMode io() const { return io_; }                       // kMmap, kPread or kMemory
  bool calls_host() const { return stored_ != nullptr; }  // each read() may take as long as it likes
  bool addressable() const { return data_ != nullptr || bytes_ == 0; }  // false with kPread: use read()

  // Pointer to a range that the caller has checked with extent_fits(). Requires addressable().
  const std::byte* at(int64_t offset) const { return data_ + offset; }
  // Copies a range; kTruncated names file, offset, expected and got bytes. Works in every mode; never raises a signal
  // while the file has its descriptor. `cancelled` is for storages of the host's; null: the token of the open.
  Status read(int64_t offset, int64_t bytes, std::byte* out, const CancelFlag* cancelled = nullptr) const;
  // Copies the whole file, in pieces: reports progress and checks the cancel token (kCancelled) between them.
  Status read_all(std::byte* out, const OpenContext& context) const;

  // kTruncated when the file is shorter now than at open. Costs one lseek; nothing for kMemory. A file replaced under
  // its name is fine: the open one stays valid.
  Status check_length() const;

  // What became of the file since it was opened, as far as its bytes cannot be trusted any more.
  struct Change {
    Status status;             // ok: none, or it grew
    int64_t intact_bytes = 0;  // unless ok: how much from its start is intact
  };
  // After a read. kTruncated: shorter than at open. kChanged: the same length but modified: it may have been truncated and
  // extended again, and the part in between reads as zeros. Longer is ok: it was appended to. Else the system's error.
  // Costs one fstat; nothing for kMemory.
  Change change_since_open() const;
  // Why the range cannot be trusted after that change; ok for what lies before a truncation.
  Status check_range(const Change& change, int64_t offset, int64_t bytes) const;

  // With fault_guard: whether pages of the mapping were replaced by zeros since `since_ns` (monotonic). check_faults():
  // kTruncated when the file is too short for the range now, else kIo.
  bool faulted(int64_t since_ns) const { return guard_.faulted(since_ns); }
  Status check_faults(int64_t since_ns, int64_t offset, int64_t bytes) const;
  // Maps the file's own pages again where zeros replaced them.
  void heal() const { guard_.heal(fd_.get()); }
  // Starts asynchronous read-ahead of a range, in pieces no larger than the device's read-ahead window (madvise WILLNEED,
  // or posix_fadvise with kPread). Does nothing for kMemory.
  void advise(int64_t offset, int64_t bytes) const;
  // Faults a mapped range in, then checks the size: kTruncated, kIo or kChanged with file and offset instead of SIGBUS.
  // Without MADV_POPULATE_READ (Linux before 5.14) checks the size only. kMemory and kPread: only the range check.
  Status populate(int64_t offset, int64_t bytes) const;
  // Whether the first and last page of the range are in the page cache now; true where that is unknown.
  bool cached(int64_t offset, int64_t bytes) const;

 private:
  struct Unmap {
    int64_t bytes;
    void operator()(const std::byte* data) const noexcept;
  };

  MappedFile() = default;
  Status map(const OpenContext& context);
  Status open_stored(const HostStorage& storage, const OpenContext& context);
  Status read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const;
  Status read_stored(int64_t offset, int64_t bytes, std::byte* out, const CancelFlag* cancelled) const;
  Status explain_fault(int64_t offset, int64_t bytes) const;
  Status truncated(int64_t offset, int64_t expected, int64_t size_now) const;
  int64_t size_now() const;  // bytes_ where it is unknown
  bool find_by_path(FileFacts& facts) const;
  bool is_growing() const;

  std::string path_;
  std::optional<std::string> fingerprint_;
  Descriptor fd_;
  std::unique_ptr<const StoredObject> stored_;  // instead of a descriptor
  IoMode io_ = IoMode::kMmap;
  bool inflated_ = false;
  const std::byte* data_ = nullptr;  // of map_ or block_
  int64_t bytes_ = 0;
  int64_t read_ahead_bytes_ = 0;
  FileFacts at_open_;
  std::unique_ptr<const std::byte, Unmap> map_;  // kMmap
  Block block_;                                  // kMemory
  GuardedRange guard_;  // of map_, with fault_guard; goes before the addresses can be reused
};

}  // namespace dataline
